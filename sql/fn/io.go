package fn

import (
	"strings"

	"github.com/minipg/minipg/types"
)

// ioFunctions are the input and output functions of types by their prosrc, for calls from SQL.
var ioFunctions = map[types.OID][2]string{
	types.Bool: {"boolin", "boolout"}, types.Bytea: {"byteain", "byteaout"}, types.Char: {"charin", "charout"}, types.Name: {"namein", "nameout"},
	types.Int2: {"int2in", "int2out"}, types.Int4: {"int4in", "int4out"}, types.Int8: {"int8in", "int8out"}, types.Text: {"textin", "textout"},
	types.Oid: {"oidin", "oidout"}, types.Tid: {"tidin", "tidout"}, types.Xid: {"xidin", "xidout"}, types.Cid: {"cidin", "cidout"}, types.Xid8: {"xid8in", "xid8out"},
	types.Json: {"json_in", "json_out"}, types.Jsonb: {"jsonb_in", "jsonb_out"}, types.Float4: {"float4in", "float4out"}, types.Float8: {"float8in", "float8out"},
	types.Bpchar: {"bpcharin", "bpcharout"}, types.Varchar: {"varcharin", "varcharout"}, types.Date: {"date_in", "date_out"}, types.Time: {"time_in", "time_out"},
	types.Timetz: {"timetz_in", "timetz_out"}, types.Timestamp: {"timestamp_in", "timestamp_out"}, types.Timestamptz: {"timestamptz_in", "timestamptz_out"},
	types.Interval: {"interval_in", "interval_out"}, types.Numeric: {"numeric_in", "numeric_out"}, types.Uuid: {"uuid_in", "uuid_out"}, types.PgLsn: {"pg_lsn_in", "pg_lsn_out"},
	types.Bit: {"bit_in", "bit_out"}, types.Varbit: {"varbit_in", "varbit_out"}, types.Money: {"cash_in", "cash_out"}, types.Regclass: {"regclassin", "regclassout"},
	types.Regtype: {"regtypein", "regtypeout"}, types.Regproc: {"regprocin", "regprocout"}, types.Regprocedure: {"regprocedurein", "regprocedureout"}, types.Regoper: {"regoperin", "regoperout"},
	types.Regoperator: {"regoperatorin", "regoperatorout"}, types.Regnamespace: {"regnamespacein", "regnamespaceout"}, types.Regrole: {"regrolein", "regroleout"},
	types.Regcollation: {"regcollationin", "regcollationout"}, types.Oidvector: {"oidvectorin", "oidvectorout"}, types.Int2vector: {"int2vectorin", "int2vectorout"},
	types.Aclitem: {"aclitemin", "aclitemout"}, types.PgNodeTree: {"pg_node_tree_in", "pg_node_tree_out"},
	types.Cstring: {"cstring_in", "cstring_out"}, types.Unknown: {"unknownin", "unknownout"}, types.Void: {"void_in", "void_out"},
}

func registerIO(r *registry) {
	for typ, names := range ioFunctions {
		r.fn(names[0], func(c *Context, a []types.Datum) (types.Datum, error) {
			typmod := int32(-1)
			if len(a) > 2 && !a[2].Null {
				typmod = int32(a[2].W)
			}
			return types.In(typ, typmod, a[0].B, c.Env)
		})
		r.fn(names[1], func(c *Context, a []types.Datum) (types.Datum, error) {
			return bytesResult(types.Out(typ, a[0], nil, c.Env))
		})
	}
	r.fn("array_in", func(c *Context, a []types.Datum) (types.Datum, error) {
		array := types.ArrayOf(a[1].OID())
		if t := types.Lookup(a[1].OID(), c.Env.Types); array == 0 && t != nil {
			array = t.Array
		}
		return types.In(array, int32(a[2].W), a[0].B, c.Env)
	})
	for _, name := range []string{"array_out", "record_out", "enum_out"} {
		r.fn(name, func(c *Context, a []types.Datum) (types.Datum, error) { return bytesResult(c.textOf(0, a[0], nil)) })
	}
	in := func(c *Context, a []types.Datum) (types.Datum, error) {
		return types.In(a[1].OID(), int32(a[2].W), a[0].B, c.Env)
	}
	r.fn("record_in", in)
	r.fn("domain_in", in)
	r.fn("enum_in", func(c *Context, a []types.Datum) (types.Datum, error) { return types.In(a[1].OID(), -1, a[0].B, c.Env) })
}

// registerWire registers the functions of types that clients seldom call: of the binary form and of modifiers.
func registerWire(r *registry) {
	for typ, names := range ioFunctions {
		name := strings.TrimSuffix(names[1], "out") + "send"
		r.fn(name, func(c *Context, a []types.Datum) (types.Datum, error) {
			return bytesResult(types.Send(typ, a[0], nil, c.Env))
		})
	}
	for _, name := range []string{"array_send", "record_send", "enum_send", "anyarray_send"} {
		r.fn(name, func(c *Context, a []types.Datum) (types.Datum, error) {
			return bytesResult(types.Send(c.ArgType(0), a[0], nil, c.Env))
		})
	}
	for _, typ := range []types.OID{types.Bpchar, types.Varchar, types.Time, types.Timestamp, types.Timestamptz, types.Interval, types.Timetz, types.Bit, types.Varbit, types.Numeric} {
		name := types.Lookup(typ, nil).Name
		r.fn(name+"typmodin", func(_ *Context, a []types.Datum) (types.Datum, error) {
			arr := a[0].Array()
			var args []string
			for _, d := range arr.Elems(nil) {
				args = append(args, string(d.B))
			}
			mod, err := types.TypmodIn(typ, args)
			return types.Int64Datum(int64(mod)), err
		})
		r.fn(name+"typmodout", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return types.Datum{B: []byte(types.TypmodOut(typ, int32(a[0].Int64())))}, nil
		})
	}
}
