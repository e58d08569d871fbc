package ddl

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/types"
)

// stored is an expression's text as the catalog keeps it: names qualified, objects that
// constants name by OID, so that it means the same whatever search_path is and whatever is renamed.
func (e *Env) stored(x analyze.Expr, rel *catalog.Relation) (string, error) {
	c := e.storedContext()
	return analyze.DeparseExpr(c, x, rel, false)
}

// storedContext is an analysis that sees pg_catalog alone and prints reg* constants as numbers.
func (e *Env) storedContext() *analyze.Context {
	c := e.analysis()
	c.SearchPath = []OID{catalog.NamespacePgCatalog}
	env := types.DefaultEnv()
	env.Types = e.Cat.Types()
	c.Env = env
	return c
}

// storeDefault analyses and stores a column's default, and returns the expression.
func (e *Env) storeDefault(rel OID, c *column, n *pg_query.Node) (analyze.Expr, error) {
	r, err := e.Cat.RelationByOID(rel)
	if err != nil {
		return nil, err
	}
	x, err := analyze.AnalyzeDefault(e.analysis(), n, e.Text, r, c.name, c.typ, c.typmod, false)
	if err != nil {
		return nil, err
	}
	if isNullConst(x) {
		return nil, e.updateAttribute(rel, c.num, func(row catalog.Row) { row[catalog.AttributeAtthasdef] = boolD(false) })
	}
	text, err := e.stored(x, r)
	if err != nil {
		return nil, err
	}
	return x, e.insertDefault(rel, c.num, text, false, e.uses(x, 0))
}

func isNullConst(x analyze.Expr) bool {
	switch v := x.(type) {
	case *analyze.Const:
		return v.Value.Null
	case *analyze.RelabelType:
		return isNullConst(v.Arg)
	case *analyze.FuncExpr:
		return len(v.Args) > 0 && v.Format == analyze.ImplicitCast && isNullConst(v.Args[0])
	}
	return false
}

// storeGenerated analyses and stores the expression of a generated column.
func (e *Env) storeGenerated(rel OID, c *column, n *pg_query.Node) error {
	r, err := e.Cat.RelationByOID(rel)
	if err != nil {
		return err
	}
	x, err := analyze.AnalyzeDefault(e.analysis(), n, e.Text, r, c.name, c.typ, c.typmod, true)
	if err != nil {
		return err
	}
	text, err := e.stored(x, r)
	if err != nil {
		return err
	}
	return e.insertDefault(rel, c.num, text, true, e.uses(x, rel))
}

// uses lists the objects an expression depends on; Vars are columns of rel.
func (e *Env) uses(x analyze.Expr, rel OID) []catalog.Object {
	var out []catalog.Object
	add := func(class, oid OID) {
		if oid >= catalog.FirstNormalOID {
			out = append(out, catalog.Object{Class: class, OID: oid})
		}
	}
	analyze.WalkExpr(x, 0, func(x analyze.Expr, _ int) bool {
		switch v := x.(type) {
		case *analyze.Var:
			if rel != 0 && v.Attno > 0 {
				out = append(out, catalog.Object{Class: catalog.PgClass, OID: rel, Sub: int32(v.Attno)})
			}
		case *analyze.FuncExpr:
			add(catalog.PgProc, v.Func)
		case *analyze.OpExpr:
			add(catalog.PgOperator, v.Op)
		case *analyze.Const:
			if v.Typ == types.Regclass && !v.Value.Null {
				add(catalog.PgClass, v.Value.OID())
			}
			add(catalog.PgType, v.Typ)
		}
		return true
	})
	return out
}

// addChecks stores CHECK constraints of a table that has no rows yet.
func (e *Env) addChecks(rel OID, list []*pg_query.Constraint) error {
	for _, k := range list {
		if _, err := e.addCheck(rel, k, k.SkipValidation && !k.InitiallyValid); err != nil {
			return err
		}
	}
	return nil
}

// addCheck stores one CHECK constraint and returns its expression.
func (e *Env) addCheck(rel OID, k *pg_query.Constraint, invalid bool) (analyze.Expr, error) {
	r, err := e.Cat.RelationByOID(rel)
	if err != nil {
		return nil, err
	}
	x, err := analyze.AnalyzeExpr(e.analysis(), k.RawExpr, e.Text, r, analyze.ForCheck)
	if err != nil {
		return nil, err
	}
	name := k.Conname
	if name == "" {
		if name, err = e.checkName(r, x); err != nil {
			return nil, err
		}
	} else if err := e.constraintFree(r, name); err != nil {
		return nil, err
	}
	text, err := e.stored(x, r)
	if err != nil {
		return nil, err
	}
	c := &constraint{
		name: name, schema: r.Namespace, kind: catalog.ConstraintCheck, rel: rel, key: checkKey(x), expr: text,
		invalid: invalid, noInherit: k.IsNoInherit,
	}
	oid, err := e.insertConstraint(c)
	if err != nil {
		return nil, err
	}
	if err := e.addUses(catalog.Object{Class: catalog.PgConstraint, OID: oid}, e.uses(x, 0), catalog.DepNormal); err != nil {
		return nil, err
	}
	return x, e.updateClass(rel, func(row catalog.Row) {
		row[catalog.ClassRelchecks] = intD(int(row[catalog.ClassRelchecks].Int64()) + 1)
	})
}

// checkKey lists the columns a condition refers to, each once, in order.
func checkKey(x analyze.Expr) []int16 {
	var key []int16
	seen := make(map[int]bool)
	analyze.WalkExpr(x, 0, func(x analyze.Expr, _ int) bool {
		if v, ok := x.(*analyze.Var); ok && v.Attno > 0 && !seen[v.Attno] {
			seen[v.Attno] = true
			key = append(key, int16(v.Attno))
		}
		return true
	})
	return key
}

// checkName is table_column_check, or table_check where not just one column is concerned.
func (e *Env) checkName(r *catalog.Relation, x analyze.Expr) (string, error) {
	col := ""
	if key := checkKey(x); len(key) == 1 {
		col = r.Attr(key[0]).Name
	}
	return e.freeConstraintName(r, col, "check")
}

func (e *Env) freeConstraintName(r *catalog.Relation, col, label string) (string, error) {
	for i := 0; ; i++ {
		l := label
		if i > 0 {
			l += itoa(i)
		}
		name := objectName(r.Name, col, l)
		used, err := e.constraintInSchema(r.Namespace, name)
		if err != nil {
			return "", err
		}
		if !used {
			return name, nil
		}
	}
}

func (e *Env) constraintFree(r *catalog.Relation, name string) error {
	for _, c := range r.Constraints {
		if c.Name == name {
			return pgerr.New(pgerr.DuplicateObject, "constraint \"%s\" for relation \"%s\" already exists", name, r.Name)
		}
	}
	return nil
}
