package catalog

import "github.com/minipg/minipg/types"

func namespaceFromRow(r Row) (*Namespace, error) {
	acl, err := ParseACLDatum(r[NamespaceNspacl])
	return &Namespace{
		OID: r[NamespaceOid].OID(), Name: r[NamespaceNspname].String(), Owner: r[NamespaceNspowner].OID(), ACL: acl,
	}, err
}

func opclassFromRow(r Row) (*Opclass, error) {
	return &Opclass{
		OID: r[OpclassOid].OID(), Method: r[OpclassOpcmethod].OID(), Name: r[OpclassOpcname].String(),
		Namespace: r[OpclassOpcnamespace].OID(), Owner: r[OpclassOpcowner].OID(), Family: r[OpclassOpcfamily].OID(),
		InType: r[OpclassOpcintype].OID(), Default: r[OpclassOpcdefault].Bool(), KeyType: r[OpclassOpckeytype].OID(),
	}, nil
}

func opfamilyFromRow(r Row) (*Opfamily, error) {
	return &Opfamily{
		OID: r[OpfamilyOid].OID(), Method: r[OpfamilyOpfmethod].OID(), Name: r[OpfamilyOpfname].String(),
		Namespace: r[OpfamilyOpfnamespace].OID(), Owner: r[OpfamilyOpfowner].OID(),
	}, nil
}

func amopFromRow(r Row) (*AmOp, error) {
	return &AmOp{
		OID: r[AmopOid].OID(), Family: r[AmopAmopfamily].OID(), Left: r[AmopAmoplefttype].OID(),
		Right: r[AmopAmoprighttype].OID(), Strategy: int16(r[AmopAmopstrategy].W), Purpose: byte(r[AmopAmoppurpose].W),
		Operator: r[AmopAmopopr].OID(), Method: r[AmopAmopmethod].OID(), SortFamily: r[AmopAmopsortfamily].OID(),
	}, nil
}

func amprocFromRow(r Row) (*AmProc, error) {
	return &AmProc{
		OID: r[AmprocOid].OID(), Family: r[AmprocAmprocfamily].OID(), Left: r[AmprocAmproclefttype].OID(),
		Right: r[AmprocAmprocrighttype].OID(), Num: int16(r[AmprocAmprocnum].W), Proc: r[AmprocAmproc].OID(),
	}, nil
}

func amFromRow(r Row) (*AM, error) {
	return &AM{
		OID: r[AmOid].OID(), Name: r[AmAmname].String(), Handler: r[AmAmhandler].OID(), Type: byte(r[AmAmtype].W),
	}, nil
}

func collationFromRow(r Row) (*Collation, error) {
	return &Collation{
		OID: r[CollationOid].OID(), Name: r[CollationCollname].String(), Namespace: r[CollationCollnamespace].OID(),
		Owner: r[CollationCollowner].OID(), Provider: byte(r[CollationCollprovider].W),
		Deterministic: r[CollationCollisdeterministic].Bool(), Encoding: int32(r[CollationCollencoding].W),
		Collate: r[CollationCollcollate].String(), Ctype: r[CollationCollctype].String(),
		ICULocale: r[CollationColliculocale].String(),
	}, nil
}

func languageFromRow(r Row) (*Language, error) {
	return &Language{
		OID: r[LanguageOid].OID(), Name: r[LanguageLanname].String(), Owner: r[LanguageLanowner].OID(),
		IsPL: r[LanguageLanispl].Bool(), Trusted: r[LanguageLanpltrusted].Bool(), Handler: r[LanguageLanplcallfoid].OID(),
		Inline: r[LanguageLaninline].OID(), Validator: r[LanguageLanvalidator].OID(),
	}, nil
}

func rangeFromRow(r Row) (*Range, error) {
	return &Range{
		Type: r[RangeRngtypid].OID(), Subtype: r[RangeRngsubtype].OID(), Multirange: r[RangeRngmultitypid].OID(),
		Collation: r[RangeRngcollation].OID(), SubOpclass: r[RangeRngsubopc].OID(),
		Canonical: r[RangeRngcanonical].OID(), SubDiff: r[RangeRngsubdiff].OID(),
	}, nil
}

func roleFromRow(r Row) (*Role, error) {
	return &Role{
		OID: r[AuthidOid].OID(), Name: r[AuthidRolname].String(), Super: r[AuthidRolsuper].Bool(),
		Inherit: r[AuthidRolinherit].Bool(), CreateRole: r[AuthidRolcreaterole].Bool(), CreateDB: r[AuthidRolcreatedb].Bool(),
		CanLogin: r[AuthidRolcanlogin].Bool(), Replication: r[AuthidRolreplication].Bool(), BypassRLS: r[AuthidRolbypassrls].Bool(),
		ConnLimit: int32(r[AuthidRolconnlimit].W), Password: r[AuthidRolpassword].String(), ValidUntil: r[AuthidRolvaliduntil],
	}, nil
}

func databaseFromRow(r Row) (*Database, error) {
	acl, err := ParseACLDatum(r[DatabaseDatacl])
	return &Database{
		OID: r[DatabaseOid].OID(), Name: r[DatabaseDatname].String(), Owner: r[DatabaseDatdba].OID(),
		Encoding: int32(r[DatabaseEncoding].W), Provider: byte(r[DatabaseDatlocprovider].W),
		IsTemplate: r[DatabaseDatistemplate].Bool(), AllowConn: r[DatabaseDatallowconn].Bool(),
		ConnLimit: int32(r[DatabaseDatconnlimit].W), Tablespace: r[DatabaseDattablespace].OID(),
		Collate: r[DatabaseDatcollate].String(), Ctype: r[DatabaseDatctype].String(),
		ICULocale: r[DatabaseDaticulocale].String(), ACL: acl,
	}, err
}

func tablespaceFromRow(r Row) (*Tablespace, error) {
	var d arrayDecoder
	s := &Tablespace{
		OID: r[TablespaceOid].OID(), Name: r[TablespaceSpcname].String(), Owner: r[TablespaceSpcowner].OID(),
		ACL: d.acl(r[TablespaceSpcacl]), Options: d.texts(r[TablespaceSpcoptions]), Location: r[TablespaceLocation].String(),
	}
	return s, d.err
}

func constraintFromRow(r Row) (*Constraint, error) {
	var d arrayDecoder
	c := &Constraint{
		OID: r[ConstraintOid].OID(), Name: r[ConstraintConname].String(), Namespace: r[ConstraintConnamespace].OID(),
		Kind: ConstraintKind(r[ConstraintContype].W), Deferrable: r[ConstraintCondeferrable].Bool(),
		Deferred: r[ConstraintCondeferred].Bool(), Validated: r[ConstraintConvalidated].Bool(),
		Relation: r[ConstraintConrelid].OID(), Domain: r[ConstraintContypid].OID(), Index: r[ConstraintConindid].OID(),
		Parent: r[ConstraintConparentid].OID(), RefRel: r[ConstraintConfrelid].OID(),
		OnUpdate: byte(r[ConstraintConfupdtype].W), OnDelete: byte(r[ConstraintConfdeltype].W),
		Match: byte(r[ConstraintConfmatchtype].W), IsLocal: r[ConstraintConislocal].Bool(),
		InhCount: int32(r[ConstraintConinhcount].W), NoInherit: r[ConstraintConnoinherit].Bool(),
		Key: d.int2s(r[ConstraintConkey]), RefKey: d.int2s(r[ConstraintConfkey]),
		PFEqOp: d.oids(r[ConstraintConpfeqop]), PPEqOp: d.oids(r[ConstraintConppeqop]), FFEqOp: d.oids(r[ConstraintConffeqop]),
		DelSet: d.int2s(r[ConstraintConfdelsetcols]), ExclOp: d.oids(r[ConstraintConexclop]),
		Expr: r[ConstraintConbin].String(),
	}
	return c, d.err
}

func sequenceFromRow(r Row) (*Sequence, error) {
	return &Sequence{
		OID: r[SequenceSeqrelid].OID(), Type: r[SequenceSeqtypid].OID(), Start: r[SequenceSeqstart].Int64(),
		Increment: r[SequenceSeqincrement].Int64(), Max: r[SequenceSeqmax].Int64(), Min: r[SequenceSeqmin].Int64(),
		Cache: r[SequenceSeqcache].Int64(), Cycle: r[SequenceSeqcycle].Bool(),
	}, nil
}

func triggerFromRow(r Row) (*Trigger, error) {
	var d arrayDecoder
	g := &Trigger{
		OID: r[TriggerOid].OID(), Relation: r[TriggerTgrelid].OID(), Parent: r[TriggerTgparentid].OID(),
		Name: r[TriggerTgname].String(), Func: r[TriggerTgfoid].OID(), Type: int16(r[TriggerTgtype].W),
		Enabled: byte(r[TriggerTgenabled].W), Internal: r[TriggerTgisinternal].Bool(),
		ConstrRel: r[TriggerTgconstrrelid].OID(), ConstrIndex: r[TriggerTgconstrindid].OID(),
		Constraint: r[TriggerTgconstraint].OID(), Deferrable: r[TriggerTgdeferrable].Bool(),
		InitDeferred: r[TriggerTginitdeferred].Bool(), Attrs: d.int2s(r[TriggerTgattr]),
		Args: splitNUL(r[TriggerTgargs].B), Qual: r[TriggerTgqual].String(),
		OldTable: r[TriggerTgoldtable].String(), NewTable: r[TriggerTgnewtable].String(),
	}
	return g, d.err
}

// splitNUL reads pg_trigger.tgargs: strings that each end in a zero byte.
func splitNUL(b []byte) []string {
	var out []string
	start := 0
	for i, c := range b {
		if c == 0 {
			out = append(out, string(b[start:i]))
			start = i + 1
		}
	}
	return out
}

func partitionKeyFromRow(r Row) (*PartitionKey, error) {
	var d arrayDecoder
	p := &PartitionKey{
		Strategy: byte(r[PartitionedTablePartstrat].W), NAtts: int(r[PartitionedTablePartnatts].W),
		Default: r[PartitionedTablePartdefid].OID(), Attrs: d.int2s(r[PartitionedTablePartattrs]),
		Opclass: d.oids(r[PartitionedTablePartclass]), Collation: d.oids(r[PartitionedTablePartcollation]),
		Exprs: r[PartitionedTablePartexprs].String(),
	}
	return p, d.err
}

func statisticsFromRow(r Row) (*Statistics, error) {
	s := &Statistics{
		NullFrac: float32(r[StatisticStanullfrac].Float64()),
		Width:    int32(r[StatisticStawidth].W),
		Distinct: float32(r[StatisticStadistinct].Float64()),
	}
	var d arrayDecoder
	for i := range 5 {
		kind := int16(r[StatisticStakind1+i].W)
		if kind == 0 {
			continue
		}
		s.Slots = append(s.Slots, StatSlot{
			Kind: kind, Op: r[StatisticStaop1+i].OID(), Coll: r[StatisticStacoll1+i].OID(),
			Numbers: d.float4s(r[StatisticStanumbers1+i]), Values: d.elems(r[StatisticStavalues1+i]),
		})
	}
	return s, d.err
}

var _ = types.NullDatum
