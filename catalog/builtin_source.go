package catalog

import (
	"cmp"
	"slices"
	"sync"

	"github.com/minipg/minipg/types"
)

// builtinCount is the number of generated rows of a catalog.
func builtinCount(rel OID) int {
	switch rel {
	case PgType:
		return len(builtinTypes)
	case PgProc:
		return len(builtinProcs)
	case PgOperator:
		return len(builtinOperators)
	case PgCast:
		return len(builtinCasts)
	case PgAggregate:
		return len(builtinAggregates)
	case PgClass:
		return len(builtinClasses)
	case PgAttribute:
		return 8 * len(builtinClasses)
	}
	if i := restIndex(rel); i >= 0 {
		return builtinRest[i].rows
	}
	return 0
}

// builtinScan calls fn for generated rows, of which those not chosen by eq may be left out.
// row is a buffer that fn is called with.
func (c *Catalog) builtinScan(def *relDef, eq []Eq, row Row, fn func(Row) error) error {
	switch def.oid {
	case PgType:
		return scanNamed(eq, TypeOid, TypeTypname, builtinTypes[:], builtinTypeByName[:], typeKey, typeRow, row, fn)
	case PgProc:
		return scanNamed(eq, ProcOid, ProcProname, builtinProcs[:], builtinProcByName[:], procKey, procRow, row, fn)
	case PgOperator:
		return scanNamed(eq, OperatorOid, OperatorOprname, builtinOperators[:], builtinOperatorByName[:], operatorKey, operatorRow, row, fn)
	case PgClass:
		return scanNamed(eq, ClassOid, ClassRelname, builtinClasses[:], builtinClassByName[:], classKey, classRow, row, fn)
	case PgAttribute:
		return scanAttributes(eq, row, fn)
	case PgCast:
		return scanCasts(eq, row, fn)
	case PgAggregate:
		return scanAggregates(eq, row, fn)
	}
	if i := restIndex(def.oid); i >= 0 {
		for _, r := range c.restRows(def, i) {
			if !matches(def, r, eq) {
				continue
			}
			copy(row, r)
			if err := fn(row); err != nil {
				return err
			}
		}
	}
	return nil
}

func typeKey(t *Type) (OID, string)         { return t.OID, t.Name }
func procKey(p *Proc) (OID, string)         { return p.OID, p.Name }
func operatorKey(o *Operator) (OID, string) { return o.OID, o.Name }

func classKey(c *builtinClass) (OID, string) { return c.OID, c.Name }

// byOID searches a generated table that is sorted by OID.
func byOID[T any](table []T, key func(*T) (OID, string), oid OID) *T {
	lo, hi := 0, len(table)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if o, _ := key(&table[mid]); o < oid {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(table) {
		if o, _ := key(&table[lo]); o == oid {
			return &table[lo]
		}
	}
	return nil
}

// byName returns the part of perm whose rows have the name.
func byName[T any](table []T, perm []uint16, key func(*T) (OID, string), name string) []uint16 {
	at := func(p uint16) string {
		_, n := key(&table[p])
		return n
	}
	lo, _ := slices.BinarySearchFunc(perm, name, func(p uint16, n string) int { return cmp.Compare(at(p), n) })
	hi := lo
	for hi < len(perm) && at(perm[hi]) == name {
		hi++
	}
	return perm[lo:hi]
}

func scanNamed[T any](eq []Eq, colOID, colName int, table []T, perm []uint16,
	key func(*T) (OID, string), fill func(*T, Row), row Row, fn func(Row) error,
) error {
	if hasEq(eq, colOID) {
		t := byOID(table, key, eqValue(eq, colOID).OID())
		if t == nil {
			return nil
		}
		fill(t, row)
		return fn(row)
	}
	if hasEq(eq, colName) {
		for _, p := range byName(table, perm, key, eqValue(eq, colName).Str()) {
			fill(&table[p], row)
			if err := fn(row); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range table {
		fill(&table[i], row)
		if err := fn(row); err != nil {
			return err
		}
	}
	return nil
}

func scanCasts(eq []Eq, row Row, fn func(Row) error) error {
	table := builtinCasts[:]
	if hasEq(eq, CastCastsource) {
		src := eqValue(eq, CastCastsource).OID()
		lo, _ := slices.BinarySearchFunc(table, src, func(c Cast, o OID) int { return cmp.Compare(c.Source, o) })
		hi := lo
		for hi < len(table) && table[hi].Source == src {
			hi++
		}
		table = table[lo:hi]
	}
	for i := range table {
		castRow(&table[i], row)
		if err := fn(row); err != nil {
			return err
		}
	}
	return nil
}

func builtinCast(source, target OID) *Cast {
	i, ok := slices.BinarySearchFunc(builtinCasts[:], [2]OID{source, target}, func(c Cast, k [2]OID) int {
		return cmp.Or(cmp.Compare(c.Source, k[0]), cmp.Compare(c.Target, k[1]))
	})
	if !ok {
		return nil
	}
	return &builtinCasts[i]
}

func aggregateKey(a *Aggregate) (OID, string) { return a.OID, "" }

func scanAggregates(eq []Eq, row Row, fn func(Row) error) error {
	if hasEq(eq, AggregateAggfnoid) {
		a := byOID(builtinAggregates[:], aggregateKey, eqValue(eq, AggregateAggfnoid).OID())
		if a == nil {
			return nil
		}
		aggregateRow(a, row)
		return fn(row)
	}
	for i := range builtinAggregates {
		aggregateRow(&builtinAggregates[i], row)
		if err := fn(row); err != nil {
			return err
		}
	}
	return nil
}

func scanAttributes(eq []Eq, row Row, fn func(Row) error) error {
	table := builtinClasses[:]
	if hasEq(eq, AttributeAttrelid) {
		c := byOID(table, classKey, eqValue(eq, AttributeAttrelid).OID())
		if c == nil {
			return nil
		}
		return scanClassAttributes(c, row, fn)
	}
	for i := range table {
		if err := scanClassAttributes(&table[i], row, fn); err != nil {
			return err
		}
	}
	return nil
}

func scanClassAttributes(c *builtinClass, row Row, fn func(Row) error) error {
	for i := range c.Attrs {
		attributeRow(c.OID, int16(i+1), &c.Attrs[i], row)
		if err := fn(row); err != nil {
			return err
		}
	}
	if RelKind(c.Kind) != KindTable && RelKind(c.Kind) != KindToast {
		return nil
	}
	for i := range systemAttrs {
		systemAttributeRow(c.OID, &systemAttrs[i], row)
		if err := fn(row); err != nil {
			return err
		}
	}
	return nil
}

// restRows are the decoded rows of a small catalog.
type restRows struct {
	once sync.Once
	rows []Row
}

func restIndex(rel OID) int {
	for i := range builtinRest {
		if builtinRest[i].rel == rel {
			return i
		}
	}
	return -1
}

func (c *Catalog) restRows(def *relDef, i int) []Row {
	r := &c.rest[i]
	r.once.Do(func() { r.rows = decodeRest(def, builtinRest[i].text, builtinRest[i].rows) })
	return r.rows
}

// decodeRest reads the text form of COPY. The datums alias the constant's memory.
func decodeRest(def *relDef, text string, n int) []Row {
	rows := make([]Row, 0, n)
	cols := make([]types.Datum, 0, n*len(def.cols))
	field, start := 0, 0
	for i := 0; i < len(text); i++ {
		if text[i] != '\t' && text[i] != '\n' {
			continue
		}
		cols = append(cols, restDatum(def.cols[field], text[start:i]))
		field, start = field+1, i+1
		if text[i] == '\n' {
			rows = append(rows, cols[len(cols)-field:len(cols):len(cols)])
			field = 0
		}
	}
	return rows
}
