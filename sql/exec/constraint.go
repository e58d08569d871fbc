package exec

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/plan"
	"github.com/minipg/minipg/types"
)

// rowShape is what a new row of a table has to satisfy: generated columns, NOT NULL and CHECK.
type rowShape struct {
	rel       *catalog.Relation
	schema    string
	spec      *frameSpec
	cols      []vecSpec // the attributes, then systemColumns
	generated []assignment
	notNull   []int
	checks    []rowConstraint
}

type rowConstraint struct {
	name string
	expr *expr
}

func (c *compiler) rowShape(r *rowShape, rel *catalog.Relation, gen map[int]analyze.Expr, checks []plan.Check) error {
	r.rel = rel
	if c.deps.Catalog != nil {
		ns, err := c.deps.Catalog.NamespaceByOID(rel.Namespace)
		if err != nil {
			return err
		}
		if ns != nil {
			r.schema = ns.Name
		}
	}
	r.cols = c.relationColumns(rel)
	for _, num := range systemColumns {
		r.cols = append(r.cols, systemType(num))
	}
	s := newScope(&tableMap{atts: len(rel.Attrs)})
	r.spec = s.spec
	for i := range rel.Attrs {
		if a := &rel.Attrs[i]; a.NotNull && !a.Dropped {
			r.notNull = append(r.notNull, i)
		}
	}
	atts := make([]int, 0, len(gen))
	for att := range gen {
		atts = append(atts, att)
	}
	slices.Sort(atts)
	return c.in(s, func() error {
		for _, att := range atts {
			x, err := c.expr(gen[att])
			if err != nil {
				return err
			}
			r.generated = append(r.generated, assignment{att - 1, x})
		}
		for _, k := range checks {
			x, err := c.expr(k.Expr)
			if err != nil {
				return err
			}
			r.checks = append(r.checks, rowConstraint{k.Name, x})
		}
		return nil
	})
}

// rowCheck checks rows one after the other.
type rowCheck struct {
	shape *rowShape
	rt    *runtime
	f     *frame
	b     types.Batch
}

func (k *rowCheck) init(rt *runtime, shape *rowShape) {
	k.shape, k.rt = shape, rt
	if len(shape.generated)+len(shape.checks) > 0 {
		k.f = newFrame(rt, shape.spec)
		k.b = *newChunk(shape.cols, 1)
		k.b.N = 1
	}
}

// row computes generated columns into row, then checks its constraints.
func (k *rowCheck) row(row []types.Datum) error {
	n := k.shape
	if k.f != nil {
		k.f.in[0] = &k.b
		k.f.begin()
		for i := range row {
			k.b.Cols[i].Set(0, row[i])
		}
		for _, g := range k.shape.generated {
			v, err := g.expr.eval(k.f, one())
			if err != nil {
				return err
			}
			// A row of a batch outlives the frame's scratch.
			row[g.att] = v.Datum(0).Clone()
			k.b.Cols[g.att].Set(0, row[g.att])
		}
	}
	for _, i := range k.shape.notNull {
		if row[i].Null {
			return k.errNull(i, row)
		}
	}
	for i := range k.shape.checks {
		c := &k.shape.checks[i]
		v, err := c.expr.eval(k.f, one())
		if err != nil {
			return err
		}
		if d := v.Datum(0); !d.Null && d.W == 0 {
			return pgerr.New(pgerr.CheckViolation, "new row for relation \"%s\" violates check constraint \"%s\"", n.rel.Name, c.name).
				WithDetail("Failing row contains %s.", k.describe(n.rel, row)).WithTable(n.schema, n.rel.Name).WithConstraint(c.name)
		}
	}
	return nil
}

func (k *rowCheck) errNull(i int, row []types.Datum) error {
	n := k.shape
	name := n.rel.Attrs[i].Name
	return pgerr.New(pgerr.NotNullViolation,
		"null value in column \"%s\" of relation \"%s\" violates not-null constraint", name, n.rel.Name).
		WithDetail("Failing row contains %s.", k.describe(n.rel, row)).WithTable(n.schema, n.rel.Name).WithColumn(name)
}

// maxFieldLen is from how many bytes on a value in an error's detail is cut short.
const maxFieldLen = 64

// describe prints a row as PostgreSQL's ExecBuildSlotValueDescription.
func (k *rowCheck) describe(rel *catalog.Relation, row []types.Datum) string {
	var b strings.Builder
	b.WriteByte('(')
	first := true
	for i := range rel.Attrs {
		if rel.Attrs[i].Dropped {
			continue
		}
		if !first {
			b.WriteString(", ")
		}
		first = false
		if row[i].Null {
			b.WriteString("null")
			continue
		}
		v := types.Out(rel.Attrs[i].Type, row[i], nil, k.rt.fc.Env)
		if len(v) <= maxFieldLen {
			b.Write(v)
			continue
		}
		cut := maxFieldLen
		for cut > 0 && !utf8.RuneStart(v[cut]) {
			cut--
		}
		b.Write(v[:cut])
		b.WriteString("...")
	}
	b.WriteByte(')')
	return b.String()
}
