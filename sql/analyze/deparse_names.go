package analyze

import (
	"slices"
	"unicode/utf8"

	"github.com/minipg/minipg/catalog"
)

// deparseSpace is what one query level can refer to, by the names it is printed with. Follows deparse_namespace.
type deparseSpace struct {
	rtable []*RangeTableEntry
	ctes   []*CTE
	names  []string // of the entries; "" for a join without an alias
	// reserved are names of entries that are not there.
	reserved []string
	cols     []*deparseColumns
	// usingNames are names of merged columns that must be unique in the whole query, where uniqueUsing says so.
	uniqueUsing bool
	usingNames  []string
}

// deparseColumns are the names of an entry's columns: unique in it, unless it is a join without an alias.
type deparseColumns struct {
	names []string // by attribute number less one; "" for a dropped column, and before a name is chosen
	// list prints the column aliases.
	list bool
	// parentUsing are the merged names of the joins above.
	parentUsing []string
	// Of a join: the merged columns' names, and the entries of its sides.
	using       []string
	left, right int
}

// maxIdentifier is PostgreSQL's NAMEDATALEN - 1.
const maxIdentifier = 63

// relationSpace is the space of an expression over one relation.
func relationSpace(rel *catalog.Relation) *deparseSpace {
	rte := &RangeTableEntry{Kind: RTERelation, Alias: rel.Name, Relation: rel, Columns: relationColumns(rel)}
	sp := &deparseSpace{rtable: []*RangeTableEntry{rte}, names: []string{rel.Name}, cols: []*deparseColumns{{}}}
	sp.relationNames(rte, sp.cols[0])
	return sp
}

// querySpace chooses names for everything in q; outer are the spaces around it. With view set the names old and
// new are taken. Follows set_deparse_for_query.
func querySpace(q *Query, outer []*deparseSpace, view bool) *deparseSpace {
	sp := &deparseSpace{rtable: q.RTable, ctes: q.CTEs}
	sp.chooseNames(outer, view)
	sp.cols = make([]*deparseColumns, len(sp.rtable))
	for i := range sp.cols {
		sp.cols[i] = &deparseColumns{}
	}
	for _, f := range q.From {
		sp.uniqueUsing = sp.uniqueUsing || sp.dangerousUsing(f)
	}
	for _, f := range q.From {
		sp.chooseUsing(f, nil)
	}
	for i, rte := range sp.rtable {
		if rte.Kind == RTEJoin {
			sp.joinNames(rte, sp.cols[i])
		} else {
			sp.relationNames(rte, sp.cols[i])
		}
	}
	return sp
}

// entryRelation is the table or view of an entry, or nil.
func entryRelation(rte *RangeTableEntry) *catalog.Relation {
	if rte.View != nil {
		return rte.View
	}
	if rte.Kind == RTERelation {
		return rte.Relation
	}
	return nil
}

// chooseNames gives every entry a name no other entry of this query or those around it has. Follows set_rtable_names.
func (sp *deparseSpace) chooseNames(outer []*deparseSpace, view bool) {
	if view {
		sp.reserved = []string{"old", "new"}
	}
	counter := map[string]int{}
	for _, o := range append(outer[:len(outer):len(outer)], sp) {
		for _, n := range append(o.reserved[:len(o.reserved):len(o.reserved)], o.names...) {
			if n != "" {
				counter[n] = 0
			}
		}
	}
	for _, rte := range sp.rtable {
		name := rte.Alias
		switch rel := entryRelation(rte); {
		case rte.HasAlias:
		case rel != nil:
			name = rel.Name
		case rte.Kind == RTEJoin:
			name = ""
		}
		if name != "" {
			if _, taken := counter[name]; taken {
				base := name
				for taken {
					counter[base]++
					name = numbered(base, counter[base])
					_, taken = counter[name]
				}
			}
			counter[name] = 0
		}
		sp.names = append(sp.names, name)
	}
}

// numbered appends _n, cutting the name so that it stays an identifier.
func numbered(name string, n int) string {
	suffix := "_" + itoa(n)
	for len(name)+len(suffix) > maxIdentifier {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name + suffix
}

// dangerousUsing tells whether a join without an alias has a merged column that is not simply one side's, so that it
// can only be named without a qualifier. Follows has_dangerous_join_using.
func (sp *deparseSpace) dangerousUsing(f FromItem) bool {
	j, ok := f.(*Join)
	if !ok {
		return false
	}
	rte := sp.rtable[j.RT]
	if !rte.HasAlias {
		for i := range j.Using {
			if _, ok := rte.JoinVars[i].(*Var); !ok {
				return true
			}
		}
	}
	return sp.dangerousUsing(j.Left) || sp.dangerousUsing(j.Right)
}

func fromRT(f FromItem) int {
	switch n := f.(type) {
	case *RangeRef:
		return n.RT
	case *Join:
		return n.RT
	}
	return -1
}

func (c *deparseColumns) at(attno int) string {
	if attno <= len(c.names) {
		return c.names[attno-1]
	}
	return ""
}

func (c *deparseColumns) set(attno int, name string) {
	c.grow(attno)
	c.names[attno-1] = name
}

func (c *deparseColumns) grow(n int) {
	for len(c.names) < n {
		c.names = append(c.names, "")
	}
}

// chooseUsing names the merged columns of joins, from the top down. Follows set_using_names.
func (sp *deparseSpace) chooseUsing(f FromItem, parentUsing []string) {
	j, ok := f.(*Join)
	if !ok {
		return
	}
	rte, c := sp.rtable[j.RT], sp.cols[j.RT]
	c.left, c.right = fromRT(j.Left), fromRT(j.Right)
	left, right := sp.cols[c.left], sp.cols[c.right]
	push := func(i int, name string) {
		if l := rte.JoinLeft[i]; l > 0 {
			left.set(l, name)
		}
		if r := rte.JoinRight[i]; r > 0 {
			right.set(r, name)
		}
	}
	if !rte.HasAlias {
		for i, name := range c.names {
			if name != "" {
				push(i, name)
			}
		}
	}
	if len(j.Using) > 0 {
		parentUsing = slices.Clone(parentUsing)
		c.grow(len(j.Using))
		for i, name := range j.Using {
			if c.names[i] != "" {
				name = c.names[i]
			} else {
				if rte.HasAlias && i < len(rte.AliasColumns) {
					name = rte.AliasColumns[i]
				}
				name = sp.uniqueColumn(name, c)
				if sp.uniqueUsing {
					sp.usingNames = append(sp.usingNames, name)
				}
				c.names[i] = name
			}
			c.using = append(c.using, name)
			parentUsing = append(parentUsing, name)
			push(i, name)
		}
	}
	left.parentUsing, right.parentUsing = parentUsing, parentUsing
	sp.chooseUsing(j.Left, parentUsing)
	sp.chooseUsing(j.Right, parentUsing)
}

// relationNames names the columns of an entry that is no join. Follows set_relation_column_names.
func (sp *deparseSpace) relationNames(rte *RangeTableEntry, c *deparseColumns) {
	rel := entryRelation(rte)
	c.grow(len(rte.Columns))
	changed, live := false, 0
	for i := range rte.Columns {
		col := &rte.Columns[i]
		if col.Dropped {
			continue
		}
		own := col.Name
		if rel != nil {
			own = rel.Attrs[i].Name
		}
		name := c.names[i]
		if name == "" {
			name = own
			if rte.HasAlias && live < len(rte.AliasColumns) {
				name = rte.AliasColumns[live]
			}
			name = sp.uniqueColumn(name, c)
			c.names[i] = name
		}
		live++
		changed = changed || name != own
	}
	switch {
	case rel != nil:
		c.list = changed
	case rte.Kind == RTEFunction:
		c.list = true
	default:
		c.list = changed || rte.HasAlias && len(rte.AliasColumns) > 0
	}
}

// joinNames names the columns of a join, whose sides come before it in the range table. Follows set_join_column_names.
func (sp *deparseSpace) joinNames(rte *RangeTableEntry, c *deparseColumns) {
	c.grow(len(rte.JoinVars))
	changed := false
	for i := len(c.using); i < len(rte.JoinVars); i++ {
		own := ""
		switch {
		case rte.JoinLeft[i] > 0:
			own = sp.cols[c.left].at(rte.JoinLeft[i])
		case rte.JoinRight[i] > 0:
			own = sp.cols[c.right].at(rte.JoinRight[i])
		}
		if own == "" || !rte.HasAlias {
			c.names[i] = own
			continue
		}
		name := c.names[i]
		if name == "" {
			name = own
			if i < len(rte.AliasColumns) {
				name = rte.AliasColumns[i]
			}
			name = sp.uniqueColumn(name, c)
			c.names[i] = name
		}
		changed = changed || name != own
	}
	c.list = rte.HasAlias && changed
}

// uniqueColumn makes a name unlike those that are chosen. Follows make_colname_unique.
func (sp *deparseSpace) uniqueColumn(name string, c *deparseColumns) string {
	taken := func(n string) bool {
		return slices.Contains(c.names, n) || slices.Contains(c.parentUsing, n) || slices.Contains(sp.usingNames, n)
	}
	unique := name
	for i := 1; taken(unique); i++ {
		unique = numbered(name, i)
	}
	return unique
}

// variable prints a column and returns its name, "" for a whole row. Follows get_variable.
func (d *deparser) variable(v *Var, top bool) string { return d.variableAt(v, 0, top) }

func (d *deparser) variableAt(v *Var, levelsUp int, top bool) string {
	up := v.LevelsUp + levelsUp
	if v.RT < 0 {
		// A column of the set operation at hand.
		name := d.targets[v.Attno-1].Name
		d.ident(name)
		return name
	}
	sp := d.spaces[up]
	rt, attno := v.SynRT, v.SynAttno
	if d.plan != nil || rt < 0 || rt >= len(sp.rtable) {
		rt, attno = v.RT, v.Attno
	}
	rte := sp.rtable[rt]
	if rte.Kind == RTEJoin && !rte.HasAlias && attno > 0 {
		if in, ok := rte.JoinVars[attno-1].(*Var); ok {
			return d.variableAt(in, up, top)
		}
	}
	name := ""
	switch {
	case attno < 0:
		name = SystemColumnName(attno)
	case attno > 0:
		if name = sp.cols[rt].at(attno); name == "" {
			name = "?dropped?column?"
		}
	}
	if sp.names[rt] != "" && (d.prefix || name == "" || d.ambiguousInSort(v, name)) {
		d.ident(sp.names[rt])
		d.chr('.')
	}
	if name != "" {
		d.ident(name)
		return name
	}
	d.chr('*')
	if top {
		d.str("::" + d.typeModName(v.Typ, v.Mod))
	}
	return ""
}

// ambiguousInSort tells whether ORDER BY would take the name of a column for that of another output column.
func (d *deparser) ambiguousInSort(v *Var, name string) bool {
	if !d.inSort || d.inGroupBy {
		return false
	}
	n := 0
	for i := range d.targets {
		t := &d.targets[i]
		if t.Junk {
			continue
		}
		n++
		if d.outputName(n, t) == name && !d.equalExpr(v, t.Expr) {
			return true
		}
	}
	return false
}
