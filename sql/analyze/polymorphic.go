package analyze

import (
	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// isPolymorphic tells the any* pseudo-types whose real type depends on the call.
func isPolymorphic(t types.OID) bool { return isPolymorphic1(t) || isPolymorphic2(t) }

// isPolymorphic1 tells the anyelement family.
func isPolymorphic1(t types.OID) bool {
	switch t {
	case types.AnyElement, types.AnyArray, types.AnyNonArray, types.AnyEnum, types.AnyRange, types.AnyMultirange:
		return true
	}
	return false
}

// isPolymorphic2 tells the anycompatible family.
func isPolymorphic2(t types.OID) bool {
	switch t {
	case types.AnyCompatible, types.AnyCompatibleArray, types.AnyCompatibleNonArray,
		types.AnyCompatibleRange, types.AnyCompatibleMultirange:
		return true
	}
	return false
}

// poly is what the arguments of one call say about its polymorphic types.
type poly struct {
	elem, array, rng, multi types.OID // the anyelement family
	nonArray, enum          bool
	count                   int
	unknowns                bool

	compatible                   []types.OID // element types seen for the anycompatible family
	compatSeen, compatNonArray   bool
	compatRange, compatMulti     types.OID
	compatRangeSub, compatMultiR types.OID
	wantsRange, wantsMulti       bool
}

// genericTypesAgree follows check_generic_type_consistency: a quiet test before a candidate is chosen.
func (a *analysis) genericTypesAgree(actual, declared []types.OID) bool {
	var p poly
	for i, decl := range declared[:len(actual)] {
		act := actual[i]
		switch decl {
		case types.AnyElement, types.AnyNonArray, types.AnyEnum:
			p.nonArray = p.nonArray || decl == types.AnyNonArray
			p.enum = p.enum || decl == types.AnyEnum
			if act != types.Unknown && !same(&p.elem, act) {
				return false
			}
		case types.AnyArray:
			if act != types.Unknown && !same(&p.array, a.baseType(act)) {
				return false
			}
		case types.AnyRange:
			if act != types.Unknown && !same(&p.rng, a.baseType(act)) {
				return false
			}
		case types.AnyMultirange:
			if act != types.Unknown && !same(&p.multi, a.baseType(act)) {
				return false
			}
		case types.AnyCompatible, types.AnyCompatibleNonArray:
			p.compatNonArray = p.compatNonArray || decl == types.AnyCompatibleNonArray
			if act != types.Unknown {
				p.compatible = append(p.compatible, act)
			}
		case types.AnyCompatibleArray:
			if act == types.Unknown {
				continue
			}
			elem := a.baseElemType(act)
			if elem == 0 {
				return false
			}
			p.compatible = append(p.compatible, elem)
		case types.AnyCompatibleRange:
			if act == types.Unknown {
				continue
			}
			act = a.baseType(act)
			sub := a.rangeSubtype(act)
			if !same(&p.compatRange, act) || sub == 0 {
				return false
			}
			p.compatible = append(p.compatible, sub)
			p.compatRangeSub = sub
		case types.AnyCompatibleMultirange:
			if act == types.Unknown {
				continue
			}
			act = a.baseType(act)
			r := a.multirangeRange(act)
			if !same(&p.compatMulti, act) || r == 0 {
				return false
			}
			sub := a.rangeSubtype(r)
			p.compatible = append(p.compatible, sub)
			p.compatMultiR = r
		}
	}
	return a.family1Agrees(&p) && a.family2Agrees(&p)
}

// same remembers v the first time and later tells whether it is the same.
func same(slot *types.OID, v types.OID) bool {
	if *slot != 0 && *slot != v {
		return false
	}
	*slot = v
	return true
}

func (a *analysis) family1Agrees(p *poly) bool {
	if p.array != 0 && p.array != types.AnyArray {
		elem := a.elemType(p.array)
		if elem == 0 || !same(&p.elem, elem) {
			return false
		}
	}
	if p.multi != 0 {
		r := a.multirangeRange(p.multi)
		if r == 0 || !same(&p.rng, r) {
			return false
		}
	}
	if p.rng != 0 {
		sub := a.rangeSubtype(p.rng)
		if sub == 0 || !same(&p.elem, sub) {
			return false
		}
	}
	if p.nonArray && p.elem != 0 && a.baseElemType(p.elem) != 0 {
		return false
	}
	return !p.enum || p.elem == 0 || a.typ(p.elem).Kind == 'e'
}

func (a *analysis) family2Agrees(p *poly) bool {
	if len(p.compatible) == 0 {
		return true
	}
	common := a.commonTypeOf(p.compatible, true)
	if common == 0 || !a.allCoerce(p.compatible, common) {
		return false
	}
	if p.compatNonArray && a.baseElemType(common) != 0 {
		return false
	}
	if p.compatRange != 0 && p.compatRangeSub != common {
		return false
	}
	if p.compatMulti != 0 && (a.rangeSubtype(p.compatMultiR) != common || p.compatRange != 0 && p.compatRange != p.compatMultiR) {
		return false
	}
	return true
}

func (a *analysis) allCoerce(from []types.OID, to types.OID) bool {
	for _, f := range from {
		if !a.canCoerce(f, to, coerceImplicit) {
			return false
		}
	}
	return true
}

func (a *analysis) rangeSubtype(t types.OID) types.OID {
	if t == 0 || a.typ(t).Kind != 'r' {
		return 0
	}
	if r := must(a.Catalog.RangeByType(t)); r != nil {
		return r.Subtype
	}
	return 0
}

func (a *analysis) rangeMultirange(t types.OID) types.OID {
	if t == 0 || a.typ(t).Kind != 'r' {
		return 0
	}
	if r := must(a.Catalog.RangeByType(t)); r != nil {
		return r.Multirange
	}
	return 0
}

func (a *analysis) multirangeRange(t types.OID) types.OID {
	if t == 0 || a.typ(t).Kind != 'm' {
		return 0
	}
	if r := must(a.Catalog.RangeByType(t)); r != nil {
		return r.Type
	}
	return 0
}

func mismatch(format string, args ...any) *pgerr.Error {
	return pgerr.New(pgerr.DatatypeMismatch, format, args...)
}

func (a *analysis) sameOrRaise(slot *types.OID, v types.OID, name string) {
	if old := *slot; !same(slot, v) {
		raise(mismatch("arguments declared \"%s\" are not all alike", name).
			WithDetail("%s versus %s", a.formatType(old), a.formatType(v)))
	}
}

// enforceGeneric checks the polymorphic arguments of a chosen function against each other, puts into
// declared what they stand for where the argument is an unknown literal or of
// the anycompatible family, and returns the result's real type. allowPoly is for the definition of aggregates.
// Follows enforce_generic_type_consistency.
func (a *analysis) enforceGeneric(actual, declared []types.OID, ret types.OID, allowPoly bool) types.OID {
	var p poly
	for i, decl := range declared[:len(actual)] {
		if isPolymorphic(decl) {
			a.notePoly(&p, decl, actual[i], allowPoly)
		}
	}
	if p.count == 0 && !p.compatSeen {
		return ret
	}
	if p.count > 0 {
		a.settleFamily1(&p, ret, allowPoly)
	}
	var common, commonArray types.OID
	if p.compatSeen {
		common, commonArray = a.settleFamily2(&p, actual, declared, ret, allowPoly)
	}
	if p.unknowns {
		a.replaceUnknowns(&p, actual, declared)
	}
	return a.genericResult(&p, ret, common, commonArray)
}

func (a *analysis) notePoly(p *poly, decl, act types.OID, allowPoly bool) {
	if isPolymorphic2(decl) {
		p.compatSeen = true
	} else {
		p.count++
	}
	switch decl {
	case types.AnyNonArray:
		p.nonArray = true
	case types.AnyEnum:
		p.enum = true
	case types.AnyCompatibleNonArray:
		p.compatNonArray = true
	case types.AnyCompatibleRange:
		p.wantsRange = true
	case types.AnyCompatibleMultirange:
		p.wantsMulti = true
	}
	if allowPoly && decl == act {
		return
	}
	if act == types.Unknown {
		p.unknowns = p.unknowns || isPolymorphic1(decl)
		return
	}
	switch decl {
	case types.AnyElement, types.AnyNonArray, types.AnyEnum:
		a.sameOrRaise(&p.elem, act, "anyelement")
	case types.AnyArray:
		a.sameOrRaise(&p.array, a.baseType(act), "anyarray")
	case types.AnyRange:
		a.sameOrRaise(&p.rng, a.baseType(act), "anyrange")
	case types.AnyMultirange:
		a.sameOrRaise(&p.multi, a.baseType(act), "anymultirange")
	case types.AnyCompatible, types.AnyCompatibleNonArray:
		p.compatible = append(p.compatible, act)
	case types.AnyCompatibleArray:
		act = a.baseType(act)
		elem := a.elemType(act)
		if elem == 0 {
			raise(mismatch("argument declared %s is not an array but type %s", "anycompatiblearray", a.formatType(act)))
		}
		p.compatible = append(p.compatible, elem)
	case types.AnyCompatibleRange:
		act = a.baseType(act)
		a.sameOrRaise(&p.compatRange, act, "anycompatiblerange")
		p.compatRangeSub = a.rangeSubtype(act)
		if p.compatRangeSub == 0 {
			raise(mismatch("argument declared %s is not a range type but type %s", "anycompatiblerange", a.formatType(act)))
		}
		p.compatible = append(p.compatible, p.compatRangeSub)
	case types.AnyCompatibleMultirange:
		act = a.baseType(act)
		a.sameOrRaise(&p.compatMulti, act, "anycompatiblemultirange")
		p.compatMultiR = a.multirangeRange(act)
		if p.compatMultiR == 0 {
			raise(mismatch("argument declared %s is not a multirange type but type %s", "anycompatiblemultirange", a.formatType(act)))
		}
		p.compatible = append(p.compatible, a.rangeSubtype(p.compatMultiR))
	}
}

func (a *analysis) settleFamily1(p *poly, ret types.OID, allowPoly bool) {
	inconsistent := func(x, y string, xt, yt types.OID) {
		raise(mismatch("argument declared %s is not consistent with argument declared %s", x, y).
			WithDetail("%s versus %s", a.formatType(xt), a.formatType(yt)))
	}
	if p.array != 0 {
		elem := types.AnyElement
		if p.array == types.AnyArray {
			// A column of pg_statistic: what its elements are only its values know.
			if p.count != 1 || ret != types.AnyArray && isPolymorphic1(ret) {
				raise(mismatch("cannot determine element type of \"anyarray\" argument"))
			}
		} else if elem = a.elemType(p.array); elem == 0 {
			raise(mismatch("argument declared %s is not an array but type %s", "anyarray", a.formatType(p.array)))
		}
		if !same(&p.elem, elem) {
			inconsistent("anyarray", "anyelement", p.array, p.elem)
		}
	}
	if p.multi != 0 {
		r := a.multirangeRange(p.multi)
		if r == 0 {
			raise(mismatch("argument declared %s is not a multirange type but type %s", "anymultirange", a.formatType(p.multi)))
		}
		if !same(&p.rng, r) {
			inconsistent("anymultirange", "anyrange", p.multi, p.rng)
		}
	} else if p.rng != 0 {
		p.multi = a.rangeMultirange(p.rng)
	}
	if p.rng != 0 {
		sub := a.rangeSubtype(p.rng)
		if sub == 0 {
			raise(mismatch("argument declared %s is not a range type but type %s", "anyrange", a.formatType(p.rng)))
		}
		if !same(&p.elem, sub) {
			inconsistent("anyrange", "anyelement", p.rng, p.elem)
		}
	}
	if p.elem == 0 {
		if !allowPoly {
			raise(mismatch("could not determine polymorphic type because input has type %s", "unknown"))
		}
		p.elem, p.array, p.rng, p.multi = types.AnyElement, types.AnyArray, types.AnyRange, types.AnyMultirange
	}
	if p.nonArray && p.elem != types.AnyElement && a.baseElemType(p.elem) != 0 {
		raise(mismatch("type matched to anynonarray is an array type: %s", a.formatType(p.elem)))
	}
	if p.enum && p.elem != types.AnyElement && a.typ(p.elem).Kind != 'e' {
		raise(mismatch("type matched to anyenum is not an enum type: %s", a.formatType(p.elem)))
	}
}

func (a *analysis) settleFamily2(p *poly, actual, declared []types.OID, ret types.OID, allowPoly bool) (common, array types.OID) {
	switch {
	case len(p.compatible) > 0:
		common = a.commonTypeOf(p.compatible, false)
		if !a.allCoerce(p.compatible, common) {
			raise(mismatch("arguments of anycompatible family cannot be cast to a common type"))
		}
		array = a.arrayType(common)
		if p.compatNonArray && a.baseElemType(common) != 0 {
			raise(mismatch("type matched to anycompatiblenonarray is an array type: %s", a.formatType(common)))
		}
		if p.compatRange == 0 && p.compatMultiR != 0 {
			p.compatRange, p.compatRangeSub = p.compatMultiR, a.rangeSubtype(p.compatMultiR)
		}
		if p.compatRange != 0 && p.compatRangeSub != common {
			raise(mismatch("anycompatiblerange type %s does not match anycompatible type %s", a.formatType(p.compatRange), a.formatType(common)))
		}
		if p.compatMulti == 0 && p.compatRange != 0 {
			p.compatMulti = a.rangeMultirange(p.compatRange)
		}
	case allowPoly:
		common, array = types.AnyCompatible, types.AnyCompatibleArray
		p.compatRange, p.compatMulti = types.AnyCompatibleRange, types.AnyCompatibleMultirange
	default:
		// All were unknown literals: text, as in a UNION. There is no range over text.
		common, array = types.Text, types.TextArray
		if p.wantsRange || ret == types.AnyCompatibleRange {
			raise(mismatch("could not determine polymorphic type %s because input has type %s", "anycompatiblerange", "unknown"))
		}
		if p.wantsMulti || ret == types.AnyCompatibleMultirange {
			raise(mismatch("could not determine polymorphic type %s because input has type %s", "anycompatiblemultirange", "unknown"))
		}
	}
	for i, decl := range declared[:len(actual)] {
		switch decl {
		case types.AnyCompatible, types.AnyCompatibleNonArray:
			declared[i] = common
		case types.AnyCompatibleArray:
			declared[i] = a.needArray(common, array)
		case types.AnyCompatibleRange:
			declared[i] = p.compatRange
		case types.AnyCompatibleMultirange:
			declared[i] = p.compatMulti
		}
	}
	return common, array
}

func (a *analysis) needArray(elem, array types.OID) types.OID {
	if array == 0 {
		raise(pgerr.New(pgerr.UndefinedObject, "could not find array type for data type %s", a.formatType(elem)))
	}
	return array
}

func (a *analysis) replaceUnknowns(p *poly, actual, declared []types.OID) {
	for i, decl := range declared[:len(actual)] {
		if actual[i] != types.Unknown {
			continue
		}
		switch decl {
		case types.AnyElement, types.AnyNonArray, types.AnyEnum:
			declared[i] = p.elem
		case types.AnyArray:
			if p.array == 0 {
				p.array = a.needArray(p.elem, a.arrayType(p.elem))
			}
			declared[i] = p.array
		case types.AnyRange:
			if p.rng == 0 {
				raise(mismatch("could not determine polymorphic type %s because input has type %s", "anyrange", "unknown"))
			}
			declared[i] = p.rng
		case types.AnyMultirange:
			if p.multi == 0 {
				raise(mismatch("could not determine polymorphic type %s because input has type %s", "anymultirange", "unknown"))
			}
			declared[i] = p.multi
		}
	}
}

func (a *analysis) genericResult(p *poly, ret, common, commonArray types.OID) types.OID {
	switch ret {
	case types.AnyElement, types.AnyNonArray, types.AnyEnum:
		return p.elem
	case types.AnyArray:
		if p.array == 0 {
			p.array = a.needArray(p.elem, a.arrayType(p.elem))
		}
		return p.array
	case types.AnyRange:
		if p.rng == 0 {
			raise(mismatch("could not determine polymorphic type %s because input has type %s", "anyrange", "unknown"))
		}
		return p.rng
	case types.AnyMultirange:
		if p.multi == 0 {
			raise(mismatch("could not determine polymorphic type %s because input has type %s", "anymultirange", "unknown"))
		}
		return p.multi
	case types.AnyCompatible, types.AnyCompatibleNonArray:
		if common == 0 {
			raise(pgerr.New(pgerr.InternalError, "could not identify anycompatible type"))
		}
		return common
	case types.AnyCompatibleArray:
		return a.needArray(common, commonArray)
	case types.AnyCompatibleRange:
		return p.compatRange
	case types.AnyCompatibleMultirange:
		return p.compatMulti
	}
	return ret
}
