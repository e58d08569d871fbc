package fn

import (
	"context"
	"time"

	"github.com/minipg/minipg/types"
)

// The interfaces of this file are satisfied by the session and what lies above this package.

// Identity says who is connected to what.
type Identity interface {
	CurrentUser() string
	SessionUser() string
	CurrentDatabase() string
	CurrentDatabaseOID() types.OID
	// CurrentSchemas is the effective search path, with the implicit pg_temp and pg_catalog if asked.
	CurrentSchemas(implicit bool) []string
	BackendPID() int32
	// CurrentQuery is the text the client sent.
	CurrentQuery() string
	// ServerVersion is version()'s text.
	ServerVersion() string
	// ClientAddr and ServerAddr are "host", port; ok is false on a Unix socket.
	ClientAddr() (host string, port int, ok bool)
	ServerAddr() (host string, port int, ok bool)
	PostmasterStart() time.Time
	ConfLoad() time.Time
}

// Settings is current_setting and set_config.
type Settings interface {
	// Setting returns the value as SHOW prints it.
	Setting(name string) (value string, ok bool)
	// SetSetting sets it for the session, or the transaction if local, with SET's errors, and returns the new value.
	SetSetting(name, value string, local bool) (string, error)
}

// Sequences is nextval and its kin. Errors carry the sequence's name.
type Sequences interface {
	Nextval(ctx context.Context, seq types.OID) (int64, error)
	Currval(seq types.OID) (int64, error)
	Lastval() (int64, error)
	Setval(ctx context.Context, seq types.OID, value int64, called bool) error
	// SequenceParameters: pg_sequence_parameters.
	SequenceParameters(seq types.OID) (start, min, max, increment int64, cycle bool, cache int64, typ types.OID, err error)
	// LastValue: pg_sequence_last_value; ok is false before the first nextval.
	LastValue(seq types.OID) (v int64, ok bool, err error)
}

// AdvisoryKey is the key of an advisory lock: one bigint, or two ints.
type AdvisoryKey struct {
	Key1, Key2 uint32 // the halves of a bigint, or the two ints
	Pair       bool
}

// Advisory is pg_advisory_lock and its kin.
type Advisory interface {
	// AdvisoryLock takes the lock; with try it does not wait and reports whether it was taken.
	AdvisoryLock(ctx context.Context, key AdvisoryKey, shared, xact, try bool) (bool, error)
	// AdvisoryUnlock reports false, after a warning, if the lock was not held.
	AdvisoryUnlock(key AdvisoryKey, shared bool) bool
	AdvisoryUnlockAll()
}

// ObjectKind names a catalog for lookups by OID.
type ObjectKind uint8

// The kinds of object whose visibility, name or privileges are asked for.
const (
	ObjTable ObjectKind = iota
	ObjType
	ObjFunction
	ObjOperator
	ObjOpclass
	ObjOpfamily
	ObjCollation
	ObjConversion
	ObjStatistics
	ObjTSParser
	ObjTSDict
	ObjTSTemplate
	ObjTSConfig
	ObjSchema
	ObjDatabase
	ObjTablespace
	ObjSequence
	ObjLanguage
	ObjForeignDataWrapper
	ObjForeignServer
	ObjParameter
	ObjRole
	ObjColumn
)

// Catalog answers small questions about objects.
type Catalog interface {
	// FormatType is format_type for types that types.FormatType does not know; "" if there is none.
	FormatType(typ types.OID, typmod int32) string
	// Visible: pg_table_is_visible and its kin; exists is false if there is no such object.
	Visible(kind ObjectKind, oid types.OID) (visible, exists bool)
	// RoleName: pg_get_userbyid.
	RoleName(oid types.OID) (string, bool)
	RoleOID(name string) (types.OID, bool)
	// HasPrivilege: has_table_privilege and its kin. object is an OID or, with byName, a name; column is a
	// name or number of a column or "". exists false makes the result null.
	HasPrivilege(kind ObjectKind, role types.OID, object types.OID, column string, privileges string) (has, exists bool, err error)
	// HasRole: pg_has_role.
	HasRole(user, role types.OID, privilege string) (bool, error)
	// Resolve turns a name into an OID as the functions that take names do, with their errors.
	Resolve(kind ObjectKind, name string) (types.OID, error)
	// Description: obj_description, col_description, shobj_description.
	Description(oid types.OID, catalog string, column int32) (string, bool)
	// DescribeObject: pg_describe_object; ok is false if there is no such object.
	DescribeObject(class, oid types.OID, sub int32) (string, bool, error)
	// IndexPosition is where in an index's columns, from 1, a column of its table stands.
	IndexPosition(index types.OID, column int16) (int, bool, error)
	// SerialSequence: pg_get_serial_sequence; the qualified and quoted name.
	SerialSequence(table, column string) (string, bool, error)
	// EncodingOf etc. are constants and live here no more than they must.
	IsOtherTempSchema(oid types.OID) bool
	MyTempSchema() types.OID
	// RelationIsUpdatable: the bits of pg_relation_is_updatable.
	RelationIsUpdatable(rel types.OID) int32
	// ToReg resolves to_regclass and its kin: no error but ok false when there is none.
	ToReg(typ types.OID, name string) (types.OID, bool, error)
}

// Deparser is the pg_get_*def functions. ok is false if there is no such object, which makes the result null.
type Deparser interface {
	Expr(nodeTree string, rel types.OID, pretty bool) (string, bool, error)
	ViewDef(view types.OID, pretty bool, wrap int) (string, bool, error)
	IndexDef(index types.OID, column int, pretty bool) (string, bool, error)
	ConstraintDef(constraint types.OID, pretty bool) (string, bool, error)
	RuleDef(rule types.OID, pretty bool) (string, bool, error)
	TriggerDef(trigger types.OID, pretty bool) (string, bool, error)
	PartKeyDef(rel types.OID) (string, bool, error)
	StatisticsDef(stat types.OID, columnsOnly bool) (string, bool, error)
	FunctionDef(fn types.OID) (string, bool, error)
	// FunctionArguments: pg_get_function_arguments, _identity_arguments, _result, _sqlbody: what names which.
	FunctionPart(fn types.OID, what string) (string, bool, error)
}

// Backends is the administration of sessions and the server.
type Backends interface {
	CancelBackend(pid int32) (bool, error)
	TerminateBackend(pid int32, timeout time.Duration) (bool, error)
	ReloadConf() error
	// BlockingPIDs: pg_blocking_pids.
	BlockingPIDs(pid int32) []int32
	// StatReset: pg_stat_reset, pg_stat_reset_shared(target), ...: which names the function.
	StatReset(which, target string) error
	// Stat is a statistics counter by prosrc (pg_stat_get_numscans, ...) for an object; ok false is null.
	Stat(prosrc string, args []types.Datum) (d types.Datum, ok bool, err error)
}

// Storage is the sizes and places of relations.
type Storage interface {
	// RelationSize in bytes of a fork ("main", "fsm", "vm", "init"); ok false if there is no such relation.
	RelationSize(rel types.OID, fork string) (int64, bool, error)
	// TableSize without indexes, with TOAST, fsm and vm; IndexesSize of all indexes.
	TableSize(rel types.OID) (int64, bool, error)
	IndexesSize(rel types.OID) (int64, bool, error)
	DatabaseSize(db types.OID) (int64, bool, error)
	TablespaceSize(ts types.OID) (int64, bool, error)
	// Filenode: pg_relation_filenode; FilePath: pg_relation_filepath.
	Filenode(rel types.OID) (types.OID, bool)
	FilePath(rel types.OID) (string, bool)
	TablespaceLocation(ts types.OID) (string, bool)
	// WAL positions: pg_current_wal_insert_lsn (insert), pg_current_wal_lsn (write), pg_current_wal_flush_lsn (flush).
	WALInsert() uint64
	WALWrite() uint64
	WALFlush() uint64
	SwitchWAL(ctx context.Context) (uint64, error)
	InRecovery() bool
}

// Xacts is transaction numbers and snapshots.
type Xacts interface {
	// CurrentXID assigns one if need be; with ifAssigned it does not and may report 0.
	CurrentXID(ifAssigned bool) (uint64, error)
	// Snapshot is the present one: xmin, xmax and the running ones in between.
	Snapshot() (xmin, xmax uint64, xip []uint64)
	// XIDStatus is "in progress", "committed", "aborted", or "" if too old.
	XIDStatus(xid uint64) (string, error)
	// Age is age(xid): how many transactions ago.
	Age(xid uint32) int32
}

// Waits shows other sessions what this one waits for.
type Waits interface {
	SetWait(eventType, name string)
	ClearWait()
}

// System gives the rows of functions that show the server's state (pg_lock_status, pg_stat_get_activity,
// pg_show_all_settings, ...), named by prosrc.
type System interface {
	Rows(c *Context, prosrc string, args []types.Datum) (Set, error)
}
