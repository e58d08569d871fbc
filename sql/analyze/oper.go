package analyze

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// found tells how a search for a function or operator ended.
type found uint8

const (
	foundNone found = iota
	foundOne
	foundMany
	foundAggregate
	foundWindow
	foundProcedure
	foundCoercion
)

// candidate is a function or operator that may be meant. Follows FuncCandidateList.
type candidate struct {
	oid  types.OID
	path int // rank of its schema
	args []types.OID
	// Functions only: how many of args come from a VARIADIC parameter and from defaults, and
	// with named notation which parameter each argument goes to.
	nvariadic, ndefaults int
	argNumbers           []int
	proc                 *catalog.Proc
}

// operatorOID finds the operator with exactly these argument types, 0 if there is none. left is 0 for a prefix operator.
func (a *analysis) operatorOID(names []string, left, right types.OID) types.OID {
	schema, name := a.splitName(names)
	best, bestPath := types.OID(0), len(a.SearchPath)
	ns := types.OID(0)
	if schema != "" {
		if ns = a.explicitNamespace(schema, true); ns == 0 {
			return 0
		}
	}
	for _, o := range must(a.Catalog.OperatorsByName(name)) {
		if o.Left != left || o.Right != right {
			continue
		}
		if ns != 0 {
			if o.Namespace == ns {
				return o.OID
			}
			continue
		}
		if p := a.pathPosition(o.Namespace); p >= 0 && p < bestPath {
			best, bestPath = o.OID, p
		}
	}
	return best
}

// operatorCandidates are the visible operators of a name: 'b' infix, 'l' prefix.
func (a *analysis) operatorCandidates(names []string, kind byte, loc int) []candidate {
	defer a.locate(loc)
	schema, name := a.splitName(names)
	ns := types.OID(0)
	if schema != "" {
		ns = a.explicitNamespace(schema, false)
	}
	var out []candidate
next:
	for _, o := range must(a.Catalog.OperatorsByName(name)) {
		if o.Kind != kind {
			continue
		}
		path := 0
		if ns != 0 {
			if o.Namespace != ns {
				continue
			}
		} else if path = a.pathPosition(o.Namespace); path < 0 {
			continue
		}
		c := candidate{oid: o.OID, path: path, args: []types.OID{o.Left, o.Right}}
		if kind == 'l' {
			c.args = c.args[1:]
		}
		for i := range out {
			if sameTypes(out[i].args, c.args) {
				if path < out[i].path {
					out[i] = c
				}
				continue next
			}
		}
		out = append(out, c)
	}
	return out
}

func sameTypes(a, b []types.OID) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// findOperator resolves an infix operator. Follows oper().
func (a *analysis) findOperator(names []string, left, right types.OID, noError bool, loc int) *catalog.Operator {
	oid, how := a.exactOperator(names, left, right), foundOne
	if oid == 0 {
		oid, how = a.selectOperator([]types.OID{left, right}, a.operatorCandidates(names, 'b', loc))
	}
	if oid != 0 {
		return a.operator(oid)
	}
	if !noError {
		a.operatorError(names, 'b', left, right, how, loc)
	}
	return nil
}

// exactOperator tries the given types, an unknown one taken to be as the other. Follows binary_oper_exact.
func (a *analysis) exactOperator(names []string, left, right types.OID) types.OID {
	unknown := false
	switch {
	case left == types.Unknown && right != 0:
		left, unknown = right, true
	case right == types.Unknown && left != 0:
		right, unknown = left, true
	}
	if oid := a.operatorOID(names, left, right); oid != 0 {
		return oid
	}
	if unknown {
		if base := a.baseType(left); base != left {
			return a.operatorOID(names, base, base)
		}
	}
	return 0
}

// selectOperator follows oper_select_candidate.
func (a *analysis) selectOperator(args []types.OID, cands []candidate) (types.OID, found) {
	cands = a.matchCandidates(args, cands)
	if len(cands) == 0 {
		return 0, foundNone
	}
	if len(cands) > 1 {
		cands = a.selectCandidate(args, cands)
		if len(cands) != 1 {
			return 0, foundMany
		}
	}
	return cands[0].oid, foundOne
}

// findPrefixOperator resolves a prefix operator. Follows left_oper().
func (a *analysis) findPrefixOperator(names []string, arg types.OID, noError bool, loc int) *catalog.Operator {
	oid, how := a.operatorOID(names, 0, arg), foundOne
	if oid == 0 {
		cands := a.operatorCandidates(names, 'l', loc)
		oid, how = a.selectOperator([]types.OID{arg}, cands)
	}
	if oid != 0 {
		return a.operator(oid)
	}
	if !noError {
		a.operatorError(names, 'l', 0, arg, how, loc)
	}
	return nil
}

func (a *analysis) operatorError(names []string, kind byte, left, right types.OID, how found, loc int) {
	sig := joinNames(names) + " " + a.formatType(right)
	if kind == 'b' {
		sig = a.formatType(left) + " " + sig
	}
	if how == foundMany {
		raise(a.err(loc, pgerr.AmbiguousFunction, "operator is not unique: %s", sig).
			WithHint("Could not choose a best candidate operator. You might need to add explicit type casts."))
	}
	e := a.err(loc, pgerr.UndefinedFunction, "operator does not exist: %s", sig)
	if left == 0 || right == 0 {
		raise(e.WithHint("No operator matches the given name and argument type. You might need to add an explicit type cast."))
	}
	raise(e.WithHint("No operator matches the given name and argument types. You might need to add explicit type casts."))
}

// matchCandidates leaves those the arguments can be converted to implicitly. Follows func_match_argtypes.
func (a *analysis) matchCandidates(args []types.OID, cands []candidate) []candidate {
	var out []candidate
	for _, c := range cands {
		if a.canCoerceAll(args, c.args[:len(args)], coerceImplicit) {
			out = append(out, c)
		}
	}
	return out
}

// selectCandidate narrows candidates down by exact matches, preferred types and guesses about unknown literals.
// One left means success. Follows func_select_candidate.
func (a *analysis) selectCandidate(args []types.OID, cands []candidate) []candidate {
	base := make([]types.OID, len(args))
	unknowns := 0
	for i, t := range args {
		if t == types.Unknown {
			base[i] = t
			unknowns++
		} else {
			base[i] = a.baseType(t)
		}
	}
	score := func(c candidate, matches func(i int, t types.OID) bool) int {
		n := 0
		for i := range base {
			if base[i] != types.Unknown && matches(i, c.args[i]) {
				n++
			}
		}
		return n
	}
	cands = keepBest(cands, 0, func(c candidate) int {
		return score(c, func(i int, t types.OID) bool { return t == base[i] })
	})
	if len(cands) == 1 {
		return cands
	}
	category := make([]byte, len(base))
	for i, t := range base {
		category[i] = a.typ(t).Category
	}
	cands = keepBest(cands, 0, func(c candidate) int {
		return score(c, func(i int, t types.OID) bool {
			return t == base[i] || a.isPreferred(category[i], t)
		})
	})
	if len(cands) == 1 {
		return cands
	}
	if unknowns == 0 {
		return cands
	}
	if narrowed, ok := a.guessCategories(base, category, cands); ok {
		cands = narrowed
		if len(cands) == 1 {
			return cands
		}
	}
	return a.guessSameType(args, base, unknowns, cands)
}

// keepBest keeps the candidates of the highest score, all if it is not above floor.
func keepBest(cands []candidate, floor int, score func(candidate) int) []candidate {
	var out []candidate
	best := floor
	for _, c := range cands {
		n := score(c)
		if n > best || len(out) == 0 && n >= best {
			best, out = n, nil
		}
		if n == best {
			out = append(out, c)
		}
	}
	return out
}

func (a *analysis) isPreferred(category byte, t types.OID) bool {
	ty := a.typ(t)
	return ty.Category == category && ty.Preferred
}

// guessCategories decides for each unknown argument on a category: string if any candidate
// takes one, else the one all agree on. ok is false if some argument leaves no choice.
func (a *analysis) guessCategories(base []types.OID, category []byte, cands []candidate) ([]candidate, bool) {
	slotPreferred := make([]bool, len(base))
	resolved := false
	for i := range base {
		if base[i] != types.Unknown {
			continue
		}
		resolved = true
		category[i] = 0
		conflict := false
		for _, c := range cands {
			t := a.typ(c.args[i])
			switch {
			case category[i] == 0:
				category[i], slotPreferred[i] = t.Category, t.Preferred
			case t.Category == category[i]:
				slotPreferred[i] = slotPreferred[i] || t.Preferred
			case t.Category == 'S':
				category[i], slotPreferred[i] = 'S', t.Preferred
			default:
				conflict = true
			}
		}
		if conflict && category[i] != 'S' {
			return nil, false
		}
	}
	if !resolved {
		return nil, false
	}
	var out []candidate
	for _, c := range cands {
		keep := true
		for i := range base {
			if base[i] != types.Unknown {
				continue
			}
			t := a.typ(c.args[i])
			if t.Category != category[i] || slotPreferred[i] && !t.Preferred {
				keep = false
				break
			}
		}
		if keep {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		// As PostgreSQL: the attempt failed, keep what there was.
		return cands, true
	}
	return out, true
}

// guessSameType takes all unknown arguments to be of the one type the known ones have.
func (a *analysis) guessSameType(args, base []types.OID, unknowns int, cands []candidate) []candidate {
	if unknowns >= len(base) {
		return cands
	}
	known := types.Unknown
	for _, t := range base {
		if t == types.Unknown {
			continue
		}
		if known != types.Unknown && known != t {
			return cands
		}
		known = t
	}
	if known == types.Unknown {
		return cands
	}
	want := make([]types.OID, len(base))
	for i := range want {
		want[i] = known
	}
	var only *candidate
	for i := range cands {
		if a.canCoerceAll(want, cands[i].args[:len(want)], coerceImplicit) {
			if only != nil {
				return cands
			}
			only = &cands[i]
		}
	}
	if only == nil {
		return cands
	}
	return []candidate{*only}
}

// makeOp applies an operator by name; left is nil for a prefix operator. Follows make_op.
func (s *state) makeOp(names []string, left, right Expr, loc int) Expr {
	var op *catalog.Operator
	if left == nil {
		op = s.findPrefixOperator(names, right.Type(), false, loc)
	} else {
		op = s.findOperator(names, left.Type(), right.Type(), false, loc)
	}
	if op.Code == 0 {
		s.shellOperator(names, op, loc)
	}
	return s.applyOperator(op, left, right, loc)
}

func (s *state) shellOperator(names []string, op *catalog.Operator, loc int) {
	sig := joinNames(names) + " " + s.formatType(op.Right)
	if op.Left != 0 {
		sig = s.formatType(op.Left) + " " + sig
	}
	raise(s.err(loc, pgerr.UndefinedFunction, "operator is only a shell: %s", sig))
}

func (s *state) applyOperator(op *catalog.Operator, left, right Expr, loc int) Expr {
	args := []Expr{right}
	declared := []types.OID{op.Right}
	if left != nil {
		args = []Expr{left, right}
		declared = []types.OID{op.Left, op.Right}
	}
	actual := exprTypes(args)
	ret := s.enforceGeneric(actual, declared, op.Result, false)
	s.coerceArgs(args, actual, declared)
	n := &OpExpr{Typed: NewTyped(ret, -1, 0, loc), Op: op.OID, Func: op.Code, Args: args, RetSet: s.proc(op.Code).RetSet}
	if n.RetSet {
		s.checkSRF(n, loc)
	}
	return n
}

func exprTypes(args []Expr) []types.OID {
	out := make([]types.OID, len(args))
	for i, e := range args {
		out[i] = e.Type()
	}
	return out
}

// coerceArgs converts arguments to the declared types in place. Follows make_fn_arguments.
func (s *state) coerceArgs(args []Expr, actual, declared []types.OID) {
	for i := range args {
		if actual[i] != declared[i] {
			args[i] = s.coerceType(args[i], declared[i], -1, coerceImplicit, ImplicitCast, -1)
		}
	}
}

// makeScalarArrayOp is scalar op ANY|ALL (array). Follows make_scalar_array_op.
func (s *state) makeScalarArrayOp(names []string, useOr bool, left, right Expr, loc int) Expr {
	elem := types.Unknown
	if right.Type() != types.Unknown {
		elem = s.baseElemType(right.Type())
		if elem == 0 {
			raise(s.err(loc, pgerr.WrongObjectType, "op ANY/ALL (array) requires array on right side"))
		}
	}
	op := s.findOperator(names, left.Type(), elem, false, loc)
	if op.Code == 0 {
		s.shellOperator(names, op, loc)
	}
	args := []Expr{left, right}
	declared := []types.OID{op.Left, op.Right}
	ret := s.enforceGeneric([]types.OID{left.Type(), elem}, declared, op.Result, false)
	if ret != types.Bool {
		raise(s.err(loc, pgerr.WrongObjectType, "op ANY/ALL (array) requires operator to yield boolean"))
	}
	if s.proc(op.Code).RetSet {
		raise(s.err(loc, pgerr.WrongObjectType, "op ANY/ALL (array) requires operator not to return a set"))
	}
	var array types.OID
	if isPolymorphic(declared[1]) {
		array = right.Type()
	} else if array = s.arrayType(declared[1]); array == 0 {
		raise(s.err(loc, pgerr.UndefinedObject, "could not find array type for data type %s", s.formatType(declared[1])))
	}
	declared[1] = array
	s.coerceArgs(args, exprTypes(args), declared)
	return &ScalarArrayOpExpr{Typed: NewTyped(types.Bool, -1, 0, loc), Op: op.OID, Func: op.Code, UseOr: useOr, Scalar: args[0], Array: args[1]}
}

// compatibleOperator resolves an operator that takes the types as they are, by binary coercion at most.
func (a *analysis) compatibleOperator(names []string, left, right types.OID, noError bool, loc int) *catalog.Operator {
	op := a.findOperator(names, left, right, noError, loc)
	if op == nil {
		return nil
	}
	if a.binaryCoercible(left, op.Left) && a.binaryCoercible(right, op.Right) {
		return op
	}
	if !noError {
		raise(a.err(loc, pgerr.UndefinedFunction, "operator requires run-time type coercion: %s",
			a.formatType(left)+" "+joinNames(names)+" "+a.formatType(right)))
	}
	return nil
}

// operatorNames are the parts of an operator's name.
func operatorNames(nodes []*pg_query.Node) []string { return nameStrings(nodes) }
