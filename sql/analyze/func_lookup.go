package analyze

import (
	"slices"
	"strings"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// functionCandidates are the functions of a name that a call with so many arguments, the last len(argNames) of them
// named, could mean. A candidate with OID 0 stands for several that cannot be told apart. Follows FuncnameGetCandidates.
func (a *analysis) functionCandidates(names []string, nargs int, argNames []string, variadicOK, outArgs bool) []candidate {
	schema, name := a.splitName(names)
	ns := types.OID(0)
	if schema != "" {
		ns = a.explicitNamespace(schema, false)
	}
	var out []candidate
	for _, p := range must(a.Catalog.ProcsByName(name)) {
		path := 0
		if ns != 0 {
			if p.Namespace != ns {
				continue
			}
		} else if path = a.pathPosition(p.Namespace); path < 0 {
			continue
		}
		if c, ok := matchProc(p, nargs, argNames, variadicOK, outArgs); ok {
			c.path = path
			out = addCandidate(out, c)
		}
	}
	return out
}

// matchProc looks at the number and the names of the arguments only.
func matchProc(p *catalog.Proc, nargs int, argNames []string, variadicOK, outArgs bool) (candidate, bool) {
	c := candidate{oid: p.OID, proc: p}
	params := p.Args
	if outArgs && p.Kind == 'p' && p.AllArgs != nil {
		params = p.AllArgs
	}
	n := len(params)
	if n > nargs {
		if nargs+len(p.Defaults) < n {
			return c, false
		}
		c.ndefaults = n - nargs
	}
	if argNames != nil {
		if p.Variadic != 0 && variadicOK || n < nargs {
			return c, false
		}
		numbers, ok := matchNamedCall(p, nargs, argNames, n)
		if !ok {
			return c, false
		}
		c.argNumbers = numbers
		c.args = make([]types.OID, n)
		for i, num := range numbers {
			c.args[i] = params[num]
		}
		return c, true
	}
	variadic := n <= nargs && variadicOK && p.Variadic != 0
	if n != nargs && !variadic && c.ndefaults == 0 {
		return c, false
	}
	c.args = slices.Clone(params)
	if variadic {
		c.nvariadic = nargs - n + 1
		c.args = c.args[:n-1]
		for range c.nvariadic {
			c.args = append(c.args, p.Variadic)
		}
	}
	return c, true
}

// matchNamedCall maps the call's arguments, then the parameters left to their defaults, to parameter numbers.
func matchNamedCall(p *catalog.Proc, nargs int, argNames []string, nparams int) ([]int, bool) {
	if p.ArgNames == nil {
		return nil, false
	}
	positional := nargs - len(argNames)
	given := make([]bool, nparams)
	numbers := make([]int, 0, nparams)
	for i := range positional {
		if i >= nparams {
			return nil, false
		}
		numbers = append(numbers, i)
		given[i] = true
	}
	for _, name := range argNames {
		found := -1
		in := 0
		for i, param := range p.ArgNames {
			if p.ArgModes != "" && i < len(p.ArgModes) && p.ArgModes[i] != 'i' && p.ArgModes[i] != 'b' && p.ArgModes[i] != 'v' {
				continue
			}
			if param == name && param != "" {
				found = in
				break
			}
			in++
		}
		if found < 0 || found >= nparams || given[found] {
			return nil, false
		}
		given[found] = true
		numbers = append(numbers, found)
	}
	for i := range given {
		if given[i] {
			continue
		}
		if i < nparams-len(p.Defaults) {
			return nil, false
		}
		numbers = append(numbers, i)
	}
	return numbers, true
}

// addCandidate keeps one of several functions with the same arguments: that of the earlier schema, then the one
// that is not variadic.
func addCandidate(out []candidate, c candidate) []candidate {
	n := len(c.args) - c.ndefaults
	for i := range out {
		old := &out[i]
		if len(old.args)-old.ndefaults != n || !sameTypes(old.args[:n], c.args[:n]) {
			continue
		}
		switch {
		case c.path != old.path:
			if c.path < old.path {
				*old = c
			}
		case c.nvariadic > 0 && old.nvariadic == 0:
		case c.nvariadic == 0 && old.nvariadic > 0:
			*old = c
		default:
			old.oid = 0
		}
		return out
	}
	return append(out, c)
}

// callDetail is what a call resolved to.
type callDetail struct {
	how       found
	proc      *catalog.Proc
	ret       types.OID
	declared  []types.OID // in the call's order, with those of defaults after it
	nvariadic int
	variadic  types.OID // element type of the VARIADIC parameter
	numbers   []int     // named notation: parameter of each of declared
	ndefaults int
}

// resolveCall follows func_get_detail.
func (a *analysis) resolveCall(names []string, args []types.OID, argNames []string, variadicOK, outArgs bool) callDetail {
	raw := a.functionCandidates(names, len(args), argNames, variadicOK, outArgs)
	var best *candidate
	for i := range raw {
		if sameTypes(raw[i].args[:len(args)], args) {
			best = &raw[i]
			break
		}
	}
	if best == nil {
		if len(args) == 1 && argNames == nil {
			if t := a.callAsCast(names, args[0]); t != 0 {
				return callDetail{how: foundCoercion, ret: t, declared: args}
			}
		}
		cands := a.matchCandidates(args, raw)
		if len(cands) > 1 {
			if cands = a.selectCandidate(args, cands); len(cands) != 1 {
				return callDetail{how: foundMany}
			}
		}
		if len(cands) == 0 {
			return callDetail{how: foundNone}
		}
		best = &cands[0]
	}
	if best.oid == 0 {
		return callDetail{how: foundMany}
	}
	if argNames != nil && !variadicOK && len(args) > 0 && best.argNumbers[len(args)-1] != len(args)-1 {
		return callDetail{how: foundNone}
	}
	p := best.proc
	d := callDetail{
		how: foundOne, proc: p, ret: p.RetType, declared: slices.Clone(best.args),
		nvariadic: best.nvariadic, variadic: p.Variadic, numbers: best.argNumbers, ndefaults: best.ndefaults,
	}
	switch p.Kind {
	case 'a':
		d.how = foundAggregate
	case 'w':
		d.how = foundWindow
	case 'p':
		d.how = foundProcedure
	}
	return d
}

// callAsCast tells whether name(arg) is a cast written as a call, and to what.
func (a *analysis) callAsCast(names []string, from types.OID) types.OID {
	schema, name := a.splitName(names)
	var t *catalog.Type
	if schema != "" {
		t = must(a.Catalog.TypeByName(a.explicitNamespace(schema, false), name))
	} else {
		for _, ns := range a.SearchPath {
			if ns == a.TempNamespace && ns != 0 {
				continue
			}
			if t = must(a.Catalog.TypeByName(ns, name)); t != nil {
				break
			}
		}
	}
	if t == nil || !t.Defined || t.RelID != 0 {
		return 0
	}
	if from == types.Unknown {
		return t.OID
	}
	switch path, _ := a.findPathway(t.OID, from, coerceExplicit); path {
	case pathRelabel:
		return t.OID
	case pathViaIO:
		if a.isRowType(from) && t.Category == 'S' {
			return 0
		}
		return t.OID
	}
	return 0
}

// signature is a call as messages show it.
func (a *analysis) signature(names []string, argNames []string, args []types.OID) string {
	var b strings.Builder
	b.WriteString(joinNames(names))
	b.WriteByte('(')
	positional := len(args) - len(argNames)
	for i, t := range args {
		if i > 0 {
			b.WriteString(", ")
		}
		if i >= positional {
			b.WriteString(argNames[i-positional])
			b.WriteString(" => ")
		}
		b.WriteString(a.formatType(t))
	}
	b.WriteByte(')')
	return b.String()
}

// LookupFunction finds the function with exactly these input argument types, for DDL; nil if there is none.
func LookupFunction(c *Context, names []string, args []types.OID) (p *catalog.Proc, err error) {
	defer caught(&err)
	a := newAnalysis(c, "")
	for _, cand := range a.functionCandidates(names, len(args), nil, false, false) {
		if cand.oid != 0 && cand.ndefaults == 0 && sameTypes(cand.args, args) {
			return cand.proc, nil
		}
	}
	return nil, nil
}

// LookupFunctionByName finds the one function of a name, for DDL that names no arguments.
func LookupFunctionByName(c *Context, names []string) (p *catalog.Proc, err error) {
	defer caught(&err)
	a := newAnalysis(c, "")
	schema, name := a.splitName(names)
	ns := types.OID(0)
	if schema != "" {
		ns = a.explicitNamespace(schema, false)
	}
	for _, cand := range must(c.Catalog.ProcsByName(name)) {
		if ns != 0 && cand.Namespace != ns || ns == 0 && a.pathPosition(cand.Namespace) < 0 {
			continue
		}
		if p != nil {
			return nil, pgerr.New(pgerr.AmbiguousFunction, "function name \"%s\" is not unique", joinNames(names)).
				WithHint("Specify the argument list to select the function unambiguously.")
		}
		p = cand
	}
	return p, nil
}

// LookupOperator finds the operator with exactly these argument types, 0 for the left of a prefix operator; nil if there is none.
func LookupOperator(c *Context, names []string, left, right types.OID) (o *catalog.Operator, err error) {
	defer caught(&err)
	a := newAnalysis(c, "")
	if oid := a.operatorOID(names, left, right); oid != 0 {
		return a.operator(oid), nil
	}
	return nil, nil
}
