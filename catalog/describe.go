package catalog

import (
	"fmt"
	"strings"

	"github.com/minipg/minipg/types"
)

// QuoteIdent quotes an identifier where SQL needs it, as quote_ident does.
func QuoteIdent(s string) string {
	safe := s != "" && (s[0] == '_' || s[0] >= 'a' && s[0] <= 'z')
	for i := 0; safe && i < len(s); i++ {
		c := s[i]
		safe = c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
	}
	if safe && !isReservedWord(s) {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// visible tells whether name, which object of schema ns has, is found through the search path
// without a schema: exists(schema) says whether an earlier schema has the name too.
func visible(ns OID, path []OID, exists func(OID) (bool, error)) (bool, error) {
	for _, p := range path {
		if p == ns {
			return true, nil
		}
		if ok, err := exists(p); err != nil || ok {
			return false, err
		}
	}
	return false, nil
}

// withPgCatalog is the effective path: pg_catalog first, unless the path names it.
func withPgCatalog(path []OID) []OID {
	for _, p := range path {
		if p == NamespacePgCatalog {
			return path
		}
	}
	return append([]OID{NamespacePgCatalog}, path...)
}

// RelationVisible is pg_table_is_visible.
func (t *Txn) RelationVisible(name string, ns OID, path []OID) (bool, error) {
	return visible(ns, withPgCatalog(path), func(p OID) (bool, error) {
		oid, err := t.RelationOID(p, name)
		return oid != 0, err
	})
}

// TypeVisible is pg_type_is_visible.
func (t *Txn) TypeVisible(typ *Type, path []OID) (bool, error) {
	return visible(typ.Namespace, withPgCatalog(path), func(p OID) (bool, error) {
		other, err := t.TypeByName(p, typ.Name)
		return other != nil, err
	})
}

// qualified writes name with its schema unless it is visible.
func (t *Txn) qualified(name string, ns OID, vis bool) (string, error) {
	if vis {
		return QuoteIdent(name), nil
	}
	n, err := t.NamespaceByOID(ns)
	if err != nil || n == nil {
		return QuoteIdent(name), err
	}
	return QuoteIdent(n.Name) + "." + QuoteIdent(name), nil
}

// FormatType is format_type for any type. A name is qualified where path does not find it.
func (t *Txn) FormatType(oid OID, typmod int32, path []OID) (string, error) {
	if s, ok := types.FormatType(oid, typmod); ok {
		return s, nil
	}
	typ, err := t.TypeByOID(oid)
	if err != nil {
		return "", err
	}
	if typ == nil {
		return "???", nil
	}
	suffix := ""
	if typ.IsArray() {
		elem, err := t.TypeByOID(typ.Elem)
		if err != nil {
			return "", err
		}
		if elem != nil {
			typ, suffix = elem, "[]"
			if s, ok := types.FormatType(elem.OID, typmod); ok {
				return s + suffix, nil
			}
		}
	}
	vis, err := t.TypeVisible(typ, path)
	if err != nil {
		return "", err
	}
	s, err := t.qualified(typ.Name, typ.Namespace, vis)
	return s + suffix, err
}

// FormatProcedure writes a function with its argument types, as regprocedure does.
func (t *Txn) FormatProcedure(p *Proc, path []OID) (string, error) {
	vis, err := visible(p.Namespace, withPgCatalog(path), func(ns OID) (bool, error) {
		others, err := t.ProcsByName(p.Name)
		for _, o := range others {
			if o.Namespace == ns && fmt.Sprint(o.Args) == fmt.Sprint(p.Args) {
				return true, nil
			}
		}
		return false, err
	})
	if err != nil {
		return "", err
	}
	s, err := t.qualified(p.Name, p.Namespace, vis)
	if err != nil {
		return "", err
	}
	args, err := t.formatTypes(p.Args, path)
	return s + "(" + args + ")", err
}

func (t *Txn) formatTypes(oids []OID, path []OID) (string, error) {
	out := make([]string, len(oids))
	for i, o := range oids {
		s, err := t.FormatType(o, -1, path)
		if err != nil {
			return "", err
		}
		out[i] = s
	}
	return strings.Join(out, ","), nil
}

// FormatOperator writes an operator with its argument types, as regoperator does.
func (t *Txn) FormatOperator(o *Operator, path []OID) (string, error) {
	vis, err := visible(o.Namespace, withPgCatalog(path), func(ns OID) (bool, error) {
		others, err := t.OperatorsByName(o.Name)
		for _, x := range others {
			if x.Namespace == ns && x.Left == o.Left && x.Right == o.Right {
				return true, nil
			}
		}
		return false, err
	})
	if err != nil {
		return "", err
	}
	s := o.Name
	if !vis {
		if n, err := t.NamespaceByOID(o.Namespace); err != nil {
			return "", err
		} else if n != nil {
			s = QuoteIdent(n.Name) + "." + s
		}
	}
	left, right := "NONE", "NONE"
	if o.Left != 0 {
		if left, err = t.FormatType(o.Left, -1, path); err != nil {
			return "", err
		}
	}
	if o.Right != 0 {
		if right, err = t.FormatType(o.Right, -1, path); err != nil {
			return "", err
		}
	}
	return s + "(" + left + "," + right + ")", nil
}

// relationWord is how messages call a kind of relation.
func relationWord(k RelKind) string {
	switch k {
	case KindTable, KindPartitionedTable:
		return "table"
	case KindIndex, KindPartitionedIndex:
		return "index"
	case KindSequence:
		return "sequence"
	case KindToast:
		return "toast table"
	case KindView:
		return "view"
	case KindMatView:
		return "materialized view"
	case KindComposite:
		return "composite type"
	case KindForeignTable:
		return "foreign table"
	}
	return "relation"
}

// describeRelation names a relation with its kind.
func (t *Txn) describeRelation(oid OID, path []OID) (string, error) {
	row, err := t.Get(PgClass, oidDatum(oid))
	if err != nil || row == nil {
		return fmt.Sprintf("relation %d", oid), err
	}
	name, ns := row[ClassRelname].String(), row[ClassRelnamespace].OID()
	vis, err := t.RelationVisible(name, ns, path)
	if err != nil {
		return "", err
	}
	s, err := t.qualified(name, ns, vis)
	return relationWord(RelKind(row[ClassRelkind].W)) + " " + s, err
}

// namedClasses are catalogs whose objects a word and a name describe.
var namedClasses = map[OID]struct {
	word    string
	nameCol int
}{
	PgNamespace:          {"schema", NamespaceNspname},
	PgAuthid:             {"role", AuthidRolname},
	PgDatabase:           {"database", DatabaseDatname},
	PgTablespace:         {"tablespace", TablespaceSpcname},
	PgLanguage:           {"language", LanguageLanname},
	PgAm:                 {"access method", AmAmname},
	PgExtension:          {"extension", ExtensionExtname},
	PgForeignDataWrapper: {"foreign-data wrapper", ForeignDataWrapperFdwname},
	PgForeignServer:      {"server", ForeignServerSrvname},
	PgEventTrigger:       {"event trigger", EventTriggerEvtname},
	PgPublication:        {"publication", PublicationPubname},
	PgSubscription:       {"subscription", SubscriptionSubname},
	PgParameterAcl:       {"parameter", ParameterAclParname},
}

// schemaClasses are those whose objects also have a schema.
var schemaClasses = map[OID]struct {
	word           string
	nameCol, nsCol int
}{
	PgCollation:    {"collation", CollationCollname, CollationCollnamespace},
	PgConversion:   {"conversion", ConversionConname, ConversionConnamespace},
	PgStatisticExt: {"statistics object", StatisticExtStxname, StatisticExtStxnamespace},
	PgTsConfig:     {"text search configuration", TsConfigCfgname, TsConfigCfgnamespace},
	PgTsDict:       {"text search dictionary", TsDictDictname, TsDictDictnamespace},
	PgTsParser:     {"text search parser", TsParserPrsname, TsParserPrsnamespace},
	PgTsTemplate:   {"text search template", TsTemplateTmplname, TsTemplateTmplnamespace},
	PgOpfamily:     {"operator family", OpfamilyOpfname, OpfamilyOpfnamespace},
	PgOpclass:      {"operator class", OpclassOpcname, OpclassOpcnamespace},
}

// Describe names an object as pg_describe_object does: "table t", "column a of table t". path is the
// search path. An object that does not exist gives its catalog and number.
func (t *Txn) Describe(obj Object, path []OID) (string, error) {
	row, err := t.objectRow(obj)
	if err != nil {
		return "", err
	}
	if row == nil {
		return fmt.Sprintf("object %d of catalog %d", obj.OID, obj.Class), nil
	}
	if n, ok := namedClasses[obj.Class]; ok {
		return n.word + " " + row[n.nameCol].String(), nil
	}
	if n, ok := schemaClasses[obj.Class]; ok {
		return t.describeInSchema(n.word, row[n.nameCol].String(), row[n.nsCol].OID(), obj, row, path)
	}
	switch obj.Class {
	case PgClass:
		s, err := t.describeRelation(obj.OID, path)
		if err != nil || obj.Sub == 0 {
			return s, err
		}
		att, err := t.Get(PgAttribute, oidDatum(obj.OID), intDatum(obj.Sub))
		if err != nil || att == nil {
			return s, err
		}
		return "column " + att[AttributeAttname].String() + " of " + s, nil
	case PgType:
		s, err := t.FormatType(obj.OID, -1, path)
		return "type " + s, err
	case PgProc:
		p, err := t.ProcByOID(obj.OID)
		if err != nil || p == nil {
			return "", err
		}
		s, err := t.FormatProcedure(p, path)
		return "function " + s, err
	case PgOperator:
		o, err := t.OperatorByOID(obj.OID)
		if err != nil || o == nil {
			return "", err
		}
		s, err := t.FormatOperator(o, path)
		return "operator " + s, err
	case PgCast:
		src, err := t.FormatType(row[CastCastsource].OID(), -1, path)
		if err != nil {
			return "", err
		}
		dst, err := t.FormatType(row[CastCasttarget].OID(), -1, path)
		return "cast from " + src + " to " + dst, err
	case PgConstraint:
		return t.describeOn("constraint "+row[ConstraintConname].String(), row[ConstraintConrelid].OID(), path)
	case PgAttrdef:
		s, err := t.Describe(Object{PgClass, row[AttrdefAdrelid].OID(), int32(row[AttrdefAdnum].W)}, path)
		return "default value for " + s, err
	case PgRewrite:
		return t.describeOn("rule "+row[RewriteRulename].String(), row[RewriteEvClass].OID(), path)
	case PgTrigger:
		return t.describeOn("trigger "+row[TriggerTgname].String(), row[TriggerTgrelid].OID(), path)
	case PgPolicy:
		return t.describeOn("policy "+row[PolicyPolname].String(), row[PolicyPolrelid].OID(), path)
	case PgLargeobjectMetadata:
		return fmt.Sprintf("large object %d", obj.OID), nil
	}
	return fmt.Sprintf("%s %d", mustDef(obj.Class).name, obj.OID), nil
}

// Exists tells whether a catalog has the object, and the column if Sub names one.
func (t *Txn) Exists(obj Object) (bool, error) {
	row, err := t.objectRow(obj)
	if err != nil || row == nil || obj.Sub == 0 {
		return row != nil, err
	}
	row, err = t.Get(PgAttribute, oidDatum(obj.OID), intDatum(obj.Sub))
	return row != nil, err
}

// objectRow reads an object's row; for catalogs without an oid it is empty.
func (t *Txn) objectRow(obj Object) (Row, error) {
	def := defOf(obj.Class)
	if def == nil || def.wholeRow() || len(def.indexes[0].cols) != 1 {
		return nil, nil
	}
	return t.Get(obj.Class, oidDatum(obj.OID))
}

func (t *Txn) describeOn(what string, rel OID, path []OID) (string, error) {
	if rel == 0 {
		return what, nil
	}
	on, err := t.describeRelation(rel, path)
	return what + " on " + on, err
}

func (t *Txn) describeInSchema(word, name string, ns OID, obj Object, row Row, path []OID) (string, error) {
	def := mustDef(obj.Class)
	n := schemaClasses[obj.Class]
	vis, err := visible(ns, withPgCatalog(path), func(p OID) (bool, error) {
		rows, err := t.Rows(def.oid, Eq{n.nameCol, types.TextDatum(name)}, Eq{n.nsCol, oidDatum(p)})
		return len(rows) > 0, err
	})
	if err != nil {
		return "", err
	}
	s, err := t.qualified(name, ns, vis)
	if err != nil {
		return "", err
	}
	s = word + " " + s
	var am OID
	switch obj.Class {
	case PgOpclass:
		am = row[OpclassOpcmethod].OID()
	case PgOpfamily:
		am = row[OpfamilyOpfmethod].OID()
	default:
		return s, nil
	}
	m, err := t.AMByOID(am)
	if err != nil || m == nil {
		return s, err
	}
	return s + " for access method " + m.Name, nil
}
