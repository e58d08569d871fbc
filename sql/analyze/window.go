package analyze

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// The bits of WindowDef.frame_options, as in PostgreSQL's parsenodes.h.
const (
	frameNonDefault              = 0x00001
	frameRange                   = 0x00002
	frameRows                    = 0x00004
	frameGroups                  = 0x00008
	frameBetween                 = 0x00010
	frameStartUnboundedPreceding = 0x00020
	frameEndUnboundedPreceding   = 0x00040
	frameStartUnboundedFollowing = 0x00080
	frameEndUnboundedFollowing   = 0x00100
	frameStartCurrentRow         = 0x00200
	frameEndCurrentRow           = 0x00400
	frameStartOffsetPreceding    = 0x00800
	frameEndOffsetPreceding      = 0x01000
	frameStartOffsetFollowing    = 0x02000
	frameEndOffsetFollowing      = 0x04000
	frameExcludeCurrentRow       = 0x08000
	frameExcludeGroup            = 0x10000
	frameExcludeTies             = 0x20000

	frameDefaults = frameRange | frameStartUnboundedPreceding | frameEndCurrentRow
	frameOffsets  = frameStartOffsetPreceding | frameEndOffsetPreceding | frameStartOffsetFollowing | frameEndOffsetFollowing
)

// buildWindowFunc makes a call with OVER.
func (s *state) buildWindowFunc(c *call, f *pg_query.FuncCall, filter Expr, d *callDetail, ret types.OID, args []Expr) Expr {
	isAgg := d.how == foundAggregate
	name := joinNames(c.names)
	if f.AggDistinct {
		raise(s.err(c.loc, pgerr.FeatureNotSupported, "DISTINCT is not implemented for window functions"))
	}
	if isAgg && len(args) == 0 && !f.AggStar {
		raise(s.err(c.loc, pgerr.WrongObjectType, "%s(*) must be used to call a parameterless aggregate function", name))
	}
	if len(f.AggOrder) > 0 {
		raise(s.err(c.loc, pgerr.FeatureNotSupported, "aggregate ORDER BY is not implemented for window functions"))
	}
	if !isAgg && filter != nil {
		raise(s.err(c.loc, pgerr.FeatureNotSupported, "FILTER is not implemented for non-aggregate window functions"))
	}
	if s.lastSRF != c.lastSRF {
		raise(s.err(location(s.lastSRF), pgerr.FeatureNotSupported, "window function calls cannot contain set-returning function calls").
			WithHint("You might be able to move the set-returning function into a LATERAL FROM item."))
	}
	if d.proc.RetSet {
		raise(s.err(c.loc, pgerr.InvalidFunctionDefinition, "window functions cannot return sets"))
	}
	w := &WindowFunc{Typed: NewTyped(ret, -1, 0, c.loc), Func: d.proc.OID, Args: args, Filter: filter, Star: f.AggStar, IsAgg: isAgg}
	s.placeWindowFunc(w, f.Over)
	return w
}

// placeWindowFunc follows transformWindowFuncCall.
func (s *state) placeWindowFunc(w *WindowFunc, def *pg_query.WindowDef) {
	if s.hasWindows {
		for _, a := range w.Args {
			if loc, ok := locateWindowFunc(a); ok {
				raise(s.err(loc, pgerr.WindowingError, "window function calls cannot be nested"))
			}
		}
	}
	switch s.kind {
	case kindOther, kindSelectTarget, kindOrderBy, kindDistinctOn:
	default:
		raise(s.err(w.Loc, pgerr.WindowingError, "window functions are not allowed in %s", s.kind.place()))
	}
	w.Window = s.findWindow(def)
	s.hasWindows = true
}

func (s *state) findWindow(def *pg_query.WindowDef) int {
	if def.Name != "" {
		for i, d := range s.windows {
			if d.Name == def.Name {
				return i
			}
		}
		raise(s.err(int(def.Location), pgerr.UndefinedObject, "window \"%s\" does not exist", def.Name))
	}
	for i, d := range s.windows {
		if d.Refname == def.Refname && d.FrameOptions == def.FrameOptions &&
			s.rawEqualList(d.PartitionClause, def.PartitionClause) && s.rawEqualList(d.OrderClause, def.OrderClause) &&
			s.rawEqual(d.StartOffset, def.StartOffset) && s.rawEqual(d.EndOffset, def.EndOffset) {
			return i
		}
	}
	s.windows = append(s.windows, def)
	return len(s.windows) - 1
}

func (s *state) rawEqualList(a, b []*pg_query.Node) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !s.rawEqual(a[i], b[i]) {
			return false
		}
	}
	return true
}

// rawEqual compares parse trees but for their locations. Literals that make them equal are pinned: invariant 4.
func (s *state) rawEqual(a, b *pg_query.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if !equalMessages(a.ProtoReflect(), b.ProtoReflect()) {
		return false
	}
	if s.PinLiteral != nil {
		walkRaw(a.ProtoReflect(), s.pinRaw)
		walkRaw(b.ProtoReflect(), s.pinRaw)
	}
	return true
}

func (s *state) pinRaw(m protoreflect.Message) bool {
	if c, ok := m.Interface().(*pg_query.A_Const); ok {
		s.pinConst(c)
	}
	return true
}

func equalMessages(a, b protoreflect.Message) bool {
	if a.Descriptor() != b.Descriptor() {
		return false
	}
	fields := a.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if f.Name() == "location" {
			continue
		}
		if a.Has(f) != b.Has(f) {
			return false
		}
		if !a.Has(f) {
			continue
		}
		va, vb := a.Get(f), b.Get(f)
		switch {
		case f.IsList():
			la, lb := va.List(), vb.List()
			if la.Len() != lb.Len() {
				return false
			}
			for k := range la.Len() {
				if f.Message() != nil {
					if !equalMessages(la.Get(k).Message(), lb.Get(k).Message()) {
						return false
					}
				} else if !la.Get(k).Equal(lb.Get(k)) {
					return false
				}
			}
		case f.Message() != nil:
			if !equalMessages(va.Message(), vb.Message()) {
				return false
			}
		default:
			if !va.Equal(vb) {
				return false
			}
		}
	}
	return true
}

// walkRaw calls fn for a parse node and all below it, where fn says to go on.
func walkRaw(m protoreflect.Message, fn func(protoreflect.Message) bool) {
	if !m.IsValid() || !fn(m) {
		return
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				walkRaw(v.List().Get(i).Message(), fn)
			}
		default:
			walkRaw(v.Message(), fn)
		}
		return true
	})
}

// transformWindows follows transformWindowDefinitions.
func (s *state) transformWindows(t *targets) []*Window {
	var out []*Window
	// A window's own clauses may call for no window function, so the list does not grow.
	for _, def := range s.windows {
		out = append(out, s.transformWindow(def, out, t))
	}
	return out
}

func (s *state) transformWindow(def *pg_query.WindowDef, before []*Window, t *targets) *Window {
	loc := int(def.Location)
	find := func(name string) *Window {
		for _, w := range before {
			if w.Name == name {
				return w
			}
		}
		return nil
	}
	wrong := func(format string, args ...any) *pgerr.Error {
		return s.err(loc, pgerr.WindowingError, format, args...)
	}
	if def.Name != "" && find(def.Name) != nil {
		raise(wrong("window \"%s\" is already defined", def.Name))
	}
	var ref *Window
	if def.Refname != "" {
		if ref = find(def.Refname); ref == nil {
			raise(s.err(loc, pgerr.UndefinedObject, "window \"%s\" does not exist", def.Refname))
		}
	}
	order := s.transformSort(def.OrderClause, t, kindWindowOrder, true)
	partition, _ := s.transformGroup(def.PartitionClause, t, order, kindWindowPartition, true)
	w := &Window{Name: def.Name, RefName: def.Refname, Partition: partition, OrderBy: order}
	if ref != nil {
		if len(partition) > 0 {
			raise(wrong("cannot override PARTITION BY clause of window \"%s\"", def.Refname))
		}
		w.Partition = ref.Partition
		if len(order) > 0 && len(ref.OrderBy) > 0 {
			raise(wrong("cannot override ORDER BY clause of window \"%s\"", def.Refname))
		}
		if len(order) == 0 {
			w.OrderBy, w.CopiedOrder = ref.OrderBy, true
		}
		if !isDefaultFrame(&ref.Frame) {
			e := wrong("cannot copy window \"%s\" because it has a frame clause", def.Refname)
			if def.Name == "" && len(order) == 0 && def.FrameOptions == frameDefaults {
				e = e.WithHint("Omit the parentheses in this OVER clause.")
			}
			raise(e)
		}
	}
	s.transformFrame(w, def, t)
	return w
}

func isDefaultFrame(f *Frame) bool {
	return f.Mode == FrameRange && f.Start == UnboundedPreceding && f.End == CurrentRow && f.Exclude == ExcludeNone && !f.Explicit
}

// bound reads one end of a frame: the bits for unbounded preceding, offset preceding, current row,
// offset following and unbounded following.
func bound(opts int32, bits [5]int32) FrameBound {
	for i, b := range bits {
		if opts&b != 0 {
			return FrameBound(i)
		}
	}
	return CurrentRow
}

func (s *state) transformFrame(w *Window, def *pg_query.WindowDef, t *targets) {
	opts, loc := def.FrameOptions, int(def.Location)
	f := &w.Frame
	f.Explicit = opts&frameNonDefault != 0
	switch {
	case opts&frameRows != 0:
		f.Mode = FrameRows
	case opts&frameGroups != 0:
		f.Mode = FrameGroups
	}
	f.Between = opts&frameBetween != 0
	f.Start = bound(opts, [5]int32{
		frameStartUnboundedPreceding, frameStartOffsetPreceding, frameStartCurrentRow, frameStartOffsetFollowing, frameStartUnboundedFollowing,
	})
	f.End = bound(opts, [5]int32{
		frameEndUnboundedPreceding, frameEndOffsetPreceding, frameEndCurrentRow, frameEndOffsetFollowing, frameEndUnboundedFollowing,
	})
	switch {
	case opts&frameExcludeCurrentRow != 0:
		f.Exclude = ExcludeCurrentRow
	case opts&frameExcludeGroup != 0:
		f.Exclude = ExcludeGroup
	case opts&frameExcludeTies != 0:
		f.Exclude = ExcludeTies
	}
	var family, input types.OID
	if f.Mode == FrameRange && opts&frameOffsets != 0 {
		if len(w.OrderBy) != 1 {
			raise(s.err(loc, pgerr.WindowingError, "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column"))
		}
		c := w.OrderBy[0]
		var desc, ok bool
		if family, input, desc, ok = s.orderingOperator(c.SortOp); !ok {
			raise(pgerr.New(pgerr.InternalError, "operator %d is not a valid ordering operator", c.SortOp))
		}
		f.InRangeColl = t.byRef(c.Ref).Expr.Collation()
		f.InRangeAscending, f.InRangeNullsFirst = !desc, c.NullsFirst
	}
	if f.Mode == FrameGroups && len(w.OrderBy) == 0 {
		raise(s.err(loc, pgerr.WindowingError, "GROUPS mode requires an ORDER BY clause"))
	}
	f.StartOffset, f.StartFunc = s.transformOffset(def.StartOffset, f.Mode, family, input)
	f.EndOffset, f.EndFunc = s.transformOffset(def.EndOffset, f.Mode, family, input)
}

// inRangeTypes are the offset types that btree families have in_range functions for.
var inRangeTypes = [...]types.OID{types.Int2, types.Int4, types.Int8, types.Float8, types.Numeric, types.Interval}

// inRangeProc is the number of btree's in_range support function.
const inRangeProc = 3

// transformOffset follows transformFrameOffset.
func (s *state) transformOffset(n *pg_query.Node, mode FrameMode, family, input types.OID) (Expr, types.OID) {
	if n == nil {
		return nil, 0
	}
	switch mode {
	case FrameRows:
		e := s.coerceToSpecific(s.transformExpr(n, kindWindowFrameRows), types.Int8, -1, "ROWS")
		s.checkVarFree(e, "ROWS")
		return e, 0
	case FrameGroups:
		e := s.coerceToSpecific(s.transformExpr(n, kindWindowFrameGroups), types.Int8, -1, "GROUPS")
		s.checkVarFree(e, "GROUPS")
		return e, 0
	}
	e := s.transformExpr(n, kindWindowFrameRange)
	typ := e.Type()
	preferred := typ
	if typ == types.Unknown {
		preferred = input
	}
	var selected, fn types.OID
	funcs, matches := 0, 0
	for _, t := range inRangeTypes {
		p := must(s.Catalog.OpfamilyProc(family, input, t, inRangeProc))
		if p == 0 {
			continue
		}
		funcs++
		if !s.canCoerce(typ, t, coerceImplicit) {
			continue
		}
		matches++
		if selected != preferred {
			selected, fn = t, p
		}
	}
	loc := location(e)
	switch {
	case funcs == 0:
		raise(s.err(loc, pgerr.FeatureNotSupported, "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s", s.formatType(input)))
	case matches == 0:
		raise(s.err(loc, pgerr.FeatureNotSupported, "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s and offset type %s",
			s.formatType(input), s.formatType(typ)).WithHint("Cast the offset value to an appropriate type."))
	case matches != 1 && selected != preferred:
		raise(s.err(loc, pgerr.FeatureNotSupported, "RANGE with offset PRECEDING/FOLLOWING has multiple interpretations for column type %s and offset type %s",
			s.formatType(input), s.formatType(typ)).WithHint("Cast the offset value to the exact intended type."))
	}
	e = s.coerceToSpecific(e, selected, -1, "RANGE")
	s.checkVarFree(e, "RANGE")
	return e, fn
}
