package fn

import (
	"bytes"
	"math"
	"unicode/utf8"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/fn/are"
	"github.com/minipg/minipg/types"
)

// regexCacheMax bounds the expressions a call site keeps; patterns that are columns come again and again.
const regexCacheMax = 32

type regexKey struct {
	pattern string
	flags   are.Flags
}

type regexCache struct {
	last    *are.Regexp
	lastKey regexKey
	all     map[regexKey]*are.Regexp
}

// regex compiles a pattern, or finds it with the call site.
func (c *Context) regex(pattern []byte, flags are.Flags) (*are.Regexp, error) {
	var cache *regexCache
	if c.Call != nil {
		cache, _ = c.Call.State.(*regexCache)
		if cache == nil {
			cache = &regexCache{}
			c.Call.State = cache
		}
		if cache.last != nil && cache.lastKey.flags == flags && cache.lastKey.pattern == string(pattern) {
			return cache.last, nil
		}
		if re := cache.all[regexKey{string(pattern), flags}]; re != nil {
			cache.last, cache.lastKey = re, regexKey{string(pattern), flags}
			return re, nil
		}
	}
	re, err := are.Compile(string(pattern), flags)
	if err != nil || cache == nil {
		return re, err
	}
	key := regexKey{string(pattern), flags}
	if cache.all == nil || len(cache.all) >= regexCacheMax {
		cache.all = make(map[regexKey]*are.Regexp)
	}
	cache.all[key] = re
	cache.last, cache.lastKey = re, key
	return re, nil
}

// regexOptions reads the letters of a flags argument.
func regexOptions(s []byte) (flags are.Flags, global bool, err error) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case 'g':
			global = true
		case 'c':
			flags.IgnoreCase = false
		case 'i':
			flags.IgnoreCase = true
		case 'm', 'n':
			flags.NewlineStops, flags.LineAnchors = true, true
		case 'p':
			flags.NewlineStops, flags.LineAnchors = true, false
		case 'w':
			flags.NewlineStops, flags.LineAnchors = false, true
		case 's':
			flags.NewlineStops, flags.LineAnchors = false, false
		case 'q':
			flags.Literal = true
		case 't':
			flags.Expanded = false
		case 'x':
			flags.Expanded = true
		case 'b', 'e':
			return flags, global, errUnsupported("basic and extended regular expressions are not supported")
		default:
			_, n := utf8.DecodeRune(s[i:])
			return flags, global, errParameter("invalid regular expression option: \"%s\"", s[i:i+n])
		}
	}
	return flags, global, nil
}

func regexTest(negate, fold bool) (Func, VecFunc) {
	flags := are.Flags{IgnoreCase: fold}
	scalar := func(c *Context, a []types.Datum) (types.Datum, error) {
		re, err := c.regex(a[1].B, flags)
		if err != nil {
			return types.Datum{}, err
		}
		return types.BoolDatum(re.Match(a[0].B) != negate), nil
	}
	vector := func(c *Context, args []*types.Vector, rows types.Rows, out *types.Vector) error {
		if constNull(args, rows, out) {
			return nil
		}
		a, b := args[0], args[1]
		for k := range rows.Len() {
			i := rows.At(k)
			ia, ib := i, i
			if a.Const {
				ia = 0
			}
			if b.Const {
				ib = 0
			}
			if out.Null[i] = a.Null[ia] || b.Null[ib]; out.Null[i] {
				continue
			}
			re, err := c.regex(b.B[ib], flags)
			if err != nil {
				return err
			}
			out.W[i] = uint64(b2i(re.Match(a.B[ia]) != negate))
		}
		return nil
	}
	return scalar, vector
}

// regexSubstring is substring(text from pattern): the first group, or the match.
func regexSubstring(c *Context, a []types.Datum) (types.Datum, error) {
	re, err := c.regex(a[1].B, are.Flags{})
	if err != nil {
		return types.Datum{}, err
	}
	loc := re.NewSearch(a[0].B, true).Find(0)
	if loc == nil {
		return types.NullDatum, nil
	}
	if re.NumGroups() > 0 {
		loc = loc[2:]
	}
	if loc[0] < 0 {
		return types.NullDatum, nil
	}
	return bytesResult(a[0].B[loc[0]:loc[1]])
}

// nextStart is where to look after a match: one character on if it was empty; ok is false beyond the end.
func nextStart(text []byte, loc []int) (int, bool) {
	if loc[1] > loc[0] {
		return loc[1], true
	}
	if loc[1] >= len(text) {
		return 0, false
	}
	return loc[1] + stepRune(text[loc[1]:]), true
}

// eachMatch calls f for every match from start until it returns false.
func eachMatch(s *are.Search, text []byte, start int, f func(loc []int) bool) {
	for {
		loc := s.Find(start)
		if loc == nil || !f(loc) {
			return
		}
		var ok bool
		if start, ok = nextStart(text, loc); !ok {
			return
		}
	}
}

// regexReplace replaces the n-th match from start, or all of them if n is 0.
func regexReplace(c *Context, text, pattern, with []byte, start, n int, flags are.Flags) (types.Datum, error) {
	re, err := c.regex(pattern, flags)
	if err != nil {
		return types.Datum{}, err
	}
	escapes := bytes.IndexByte(with, '\\') >= 0
	var out []byte
	done, count := 0, 0
	eachMatch(re.NewSearch(text, escapes), text, start, func(loc []int) bool {
		count++
		if n > 0 && count < n {
			return true
		}
		if err = checkGrow(len(out), loc[0]-done); err != nil {
			return false
		}
		out = append(out, text[done:loc[0]]...)
		if escapes {
			out, err = expandReplacement(out, text, with, loc)
		} else if err = checkGrow(len(out), len(with)); err == nil {
			out = append(out, with...)
		}
		done = loc[1]
		return err == nil && n == 0
	})
	if err == nil {
		err = checkGrow(len(out), len(text)-done)
	}
	if err != nil {
		return types.Datum{}, err
	}
	if out == nil && done == 0 {
		return types.Datum{B: text}, nil
	}
	return bytesResult(append(out, text[done:]...))
}

// expandReplacement appends with, in which \& is the match, \1 to \9 are groups and \\ is a backslash.
func expandReplacement(out, text, with []byte, loc []int) ([]byte, error) {
	for i := 0; i < len(with); i++ {
		if with[i] != '\\' || i+1 >= len(with) {
			out = append(out, with[i])
			continue
		}
		i++
		group := -1
		switch ch := with[i]; {
		case ch >= '1' && ch <= '9':
			group = int(ch - '0')
		case ch == '&':
			group = 0
		case ch == '\\':
			out = append(out, '\\')
			continue
		default:
			// Not an escape: the backslash stands for itself and the next character is looked at again.
			out = append(out, '\\')
			i--
			continue
		}
		if 2*group+1 < len(loc) && loc[2*group] >= 0 {
			part := text[loc[2*group]:loc[2*group+1]]
			if err := checkGrow(len(out), len(part)); err != nil {
				return nil, err
			}
			out = append(out, part...)
		}
	}
	return out, checkGrow(len(out), 0)
}

func errNotGlobal(name string) *pgerr.Error {
	return pgerr.New(pgerr.InvalidParameterValue, "%s does not support the \"global\" option", name)
}

// groupsOf are the groups of a match as an array's elements, or the match itself if there are none.
func groupsOf(re *are.Regexp, text []byte, loc []int) types.Datum {
	if re.NumGroups() > 0 {
		loc = loc[2:]
	} else {
		loc = loc[:2]
	}
	elems := make([]types.Datum, len(loc)/2)
	for i := range elems {
		if loc[2*i] < 0 {
			elems[i] = types.NullDatum
		} else {
			elems[i] = types.Datum{B: text[loc[2*i]:loc[2*i+1]]}
		}
	}
	return types.MakeArray(types.Text, elems)
}

func optionalFlags(a []types.Datum, i int) (are.Flags, bool, error) {
	if i >= len(a) {
		return are.Flags{}, false, nil
	}
	return regexOptions(a[i].B)
}

func regexpMatch(c *Context, a []types.Datum) (types.Datum, error) {
	flags, global, err := optionalFlags(a, 2)
	if err == nil && global {
		err = errNotGlobal("regexp_match()").WithHint("Use the regexp_matches function instead.")
	}
	if err != nil {
		return types.Datum{}, err
	}
	re, err := c.regex(a[1].B, flags)
	if err != nil {
		return types.Datum{}, err
	}
	loc := re.NewSearch(a[0].B, true).Find(0)
	if loc == nil {
		return types.NullDatum, nil
	}
	return groupsOf(re, a[0].B, loc), nil
}

// datumSet is a set of single values that are all there.
type datumSet struct {
	values []types.Datum
	at     int
}

func (s *datumSet) Next(_ *Context, row []types.Datum) (bool, error) {
	if s.at >= len(s.values) {
		return false, nil
	}
	row[0] = s.values[s.at]
	s.at++
	return true, nil
}

func regexpMatches(c *Context, a []types.Datum) (Set, error) {
	flags, global, err := optionalFlags(a, 2)
	if err != nil {
		return nil, err
	}
	re, err := c.regex(a[1].B, flags)
	if err != nil {
		return nil, err
	}
	text := bytes.Clone(a[0].B)
	set := &datumSet{}
	eachMatch(re.NewSearch(text, true), text, 0, func(loc []int) bool {
		set.values = append(set.values, groupsOf(re, text, loc))
		return global
	})
	return set, nil
}

// regexSplit gives the pieces between matches; empty matches at the ends and after a match do not split.
func regexSplit(c *Context, a []types.Datum, name string) ([][]byte, error) {
	flags, global, err := optionalFlags(a, 2)
	if err == nil && global {
		err = errNotGlobal(name)
	}
	if err != nil {
		return nil, err
	}
	re, err := c.regex(a[1].B, flags)
	if err != nil {
		return nil, err
	}
	text := a[0].B
	var out [][]byte
	done := 0
	eachMatch(re.NewSearch(text, false), text, 0, func(loc []int) bool {
		if loc[0] < len(text) && loc[1] > done {
			out = append(out, text[done:loc[0]])
			done = loc[1]
		}
		return true
	})
	return append(out, text[done:]), nil
}

// startOffset is the byte offset of a start argument that counts characters from 1.
func startOffset(text []byte, a []types.Datum, i int) (int, error) {
	if i >= len(a) {
		return 0, nil
	}
	n := a[i].Int64()
	if n <= 0 {
		return 0, errParameter("invalid value for parameter \"%s\": %d", "start", n)
	}
	if n-1 > int64(utf8.RuneCount(text)) {
		return -1, nil
	}
	return charOffset(text, int(n-1)), nil
}

// positive reads an argument that must be at least least.
func positive(a []types.Datum, i int, name string, least, missing int64) (int64, error) {
	if i >= len(a) {
		return missing, nil
	}
	if n := a[i].Int64(); n >= least {
		return n, nil
	}
	return 0, errParameter("invalid value for parameter \"%s\": %d", name, a[i].Int64())
}

func plainFlags(a []types.Datum, i int, name string) (are.Flags, error) {
	flags, global, err := optionalFlags(a, i)
	if err == nil && global {
		err = errNotGlobal(name)
	}
	return flags, err
}

func regexpCount(c *Context, a []types.Datum) (types.Datum, error) {
	start, err := startOffset(a[0].B, a, 2)
	if err != nil {
		return types.Datum{}, err
	}
	flags, err := plainFlags(a, 3, "regexp_count()")
	if err != nil {
		return types.Datum{}, err
	}
	re, err := c.regex(a[1].B, flags)
	if err != nil || start < 0 {
		return types.Datum{}, err
	}
	n := 0
	eachMatch(re.NewSearch(a[0].B, false), a[0].B, start, func([]int) bool { n++; return true })
	return intResult(n)
}

// nthMatch finds the n-th match from start and gives its group, or nil.
func nthMatch(re *are.Regexp, text []byte, start int, n, group int64) []int {
	if group == 1 && re.NumGroups() == 0 {
		group = 0 // the match counts as the only group
	}
	if start < 0 || group > int64(re.NumGroups()) {
		return nil
	}
	var found []int
	count := int64(0)
	eachMatch(re.NewSearch(text, group > 0), text, start, func(loc []int) bool {
		if count++; count == n {
			found = loc[2*group : 2*group+2]
			return false
		}
		return true
	})
	if found == nil || found[0] < 0 {
		return nil
	}
	return found
}

func regexpInstr(c *Context, a []types.Datum) (types.Datum, error) {
	start, err := startOffset(a[0].B, a, 2)
	if err != nil {
		return types.Datum{}, err
	}
	n, err := positive(a, 3, "n", 1, 1)
	if err != nil {
		return types.Datum{}, err
	}
	end := int64(0)
	if len(a) > 4 {
		if end = a[4].Int64(); end != 0 && end != 1 {
			return types.Datum{}, errParameter("invalid value for parameter \"%s\": %d", "endoption", end)
		}
	}
	group, err := positive(a, 6, "subexpr", 0, 0)
	if err != nil {
		return types.Datum{}, err
	}
	flags, err := plainFlags(a, 5, "regexp_instr()")
	if err != nil {
		return types.Datum{}, err
	}
	re, err := c.regex(a[1].B, flags)
	if err != nil {
		return types.Datum{}, err
	}
	loc := nthMatch(re, a[0].B, start, n, group)
	if loc == nil {
		return types.Datum{}, nil
	}
	return intResult(utf8.RuneCount(a[0].B[:loc[end]]) + 1)
}

func regexpSubstr(c *Context, a []types.Datum) (types.Datum, error) {
	start, err := startOffset(a[0].B, a, 2)
	if err != nil {
		return types.Datum{}, err
	}
	n, err := positive(a, 3, "n", 1, 1)
	if err != nil {
		return types.Datum{}, err
	}
	group, err := positive(a, 5, "subexpr", 0, 0)
	if err != nil {
		return types.Datum{}, err
	}
	flags, err := plainFlags(a, 4, "regexp_substr()")
	if err != nil {
		return types.Datum{}, err
	}
	re, err := c.regex(a[1].B, flags)
	if err != nil {
		return types.Datum{}, err
	}
	loc := nthMatch(re, a[0].B, start, n, group)
	if loc == nil {
		return types.NullDatum, nil
	}
	return bytesResult(a[0].B[loc[0]:loc[1]])
}

func regexpReplaceExtended(c *Context, a []types.Datum) (types.Datum, error) {
	start, err := startOffset(a[0].B, a, 3)
	if err != nil {
		return types.Datum{}, err
	}
	n, err := positive(a, 4, "n", 0, 1)
	if err != nil {
		return types.Datum{}, err
	}
	flags, global, err := optionalFlags(a, 5)
	if err != nil {
		return types.Datum{}, err
	}
	// With n given the g option is ignored.
	if len(a) < 5 && global {
		n = 0
	}
	if start < 0 {
		_, err := c.regex(a[1].B, flags)
		return a[0], err
	}
	return regexReplace(c, a[0].B, a[1].B, a[2].B, start, int(min(n, math.MaxInt32)), flags)
}

func registerRegex(r *registry) {
	for _, name := range []string{"text", "name", "bpchar"} {
		f, v := regexTest(false, false)
		r.vec(name+"regexeq", f, v)
		f, v = regexTest(true, false)
		r.vec(name+"regexne", f, v)
		f, v = regexTest(false, true)
		r.vec(name+"icregexeq", f, v)
		f, v = regexTest(true, true)
		r.vec(name+"icregexne", f, v)
	}
	r.fn("textregexsubstr", regexSubstring)
	r.fn("textregexreplace_noopt", func(c *Context, a []types.Datum) (types.Datum, error) {
		return regexReplace(c, a[0].B, a[1].B, a[2].B, 0, 1, are.Flags{})
	})
	r.fn("textregexreplace", func(c *Context, a []types.Datum) (types.Datum, error) {
		if len(a[3].B) > 0 && isDigit(a[3].B[0]) {
			_, n := utf8.DecodeRune(a[3].B)
			return types.Datum{}, pgerr.New(pgerr.InvalidParameterValue, "invalid regular expression option: \"%s\"", a[3].B[:n]).
				WithHint("If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly.")
		}
		flags, global, err := regexOptions(a[3].B)
		if err != nil {
			return types.Datum{}, err
		}
		n := 1
		if global {
			n = 0
		}
		return regexReplace(c, a[0].B, a[1].B, a[2].B, 0, n, flags)
	})
	for _, name := range []string{"textregexreplace_extended", "textregexreplace_extended_no_flags", "textregexreplace_extended_no_n"} {
		r.fn(name, regexpReplaceExtended)
	}
	for _, name := range []string{"regexp_match", "regexp_match_no_flags"} {
		r.fn(name, regexpMatch)
	}
	for _, name := range []string{"regexp_matches", "regexp_matches_no_flags"} {
		r.set(name, regexpMatches)
	}
	for _, name := range []string{"regexp_split_to_array", "regexp_split_to_array_no_flags"} {
		r.fn(name, func(c *Context, a []types.Datum) (types.Datum, error) {
			parts, err := regexSplit(c, a, "regexp_split_to_array()")
			if err != nil {
				return types.Datum{}, err
			}
			return types.MakeArray(types.Text, textElems(parts)), nil
		})
	}
	for _, name := range []string{"regexp_split_to_table", "regexp_split_to_table_no_flags"} {
		r.set(name, func(c *Context, a []types.Datum) (Set, error) {
			parts, err := regexSplit(c, a, "regexp_split_to_table()")
			if err != nil {
				return nil, err
			}
			return &datumSet{values: cloneAll(textElems(parts))}, nil
		})
	}
	for _, name := range []string{"regexp_count", "regexp_count_no_flags", "regexp_count_no_start"} {
		r.fn(name, regexpCount)
	}
	for _, name := range []string{"regexp_instr", "regexp_instr_no_endoption", "regexp_instr_no_flags", "regexp_instr_no_n", "regexp_instr_no_start", "regexp_instr_no_subexpr"} {
		r.fn(name, regexpInstr)
	}
	for _, name := range []string{"regexp_substr", "regexp_substr_no_flags", "regexp_substr_no_n", "regexp_substr_no_start", "regexp_substr_no_subexpr"} {
		r.fn(name, regexpSubstr)
	}
	for _, name := range []string{"regexp_like", "regexp_like_no_flags"} {
		r.fn(name, func(c *Context, a []types.Datum) (types.Datum, error) {
			flags, err := plainFlags(a, 2, "regexp_like()")
			if err != nil {
				return types.Datum{}, err
			}
			re, err := c.regex(a[1].B, flags)
			if err != nil {
				return types.Datum{}, err
			}
			return types.BoolDatum(re.Match(a[0].B)), nil
		})
	}
}

func textElems(parts [][]byte) []types.Datum {
	out := make([]types.Datum, len(parts))
	for i, p := range parts {
		out[i] = types.Datum{B: p}
	}
	return out
}

func cloneAll(d []types.Datum) []types.Datum {
	for i := range d {
		d[i] = d[i].Clone()
	}
	return d
}
