package are

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func find(t *testing.T, re *Regexp, text string) []int {
	t.Helper()
	return re.NewSearch([]byte(text), true).Find(0)
}

// TestMatches has the answers of PostgreSQL 15.
func TestMatches(t *testing.T) {
	for _, tc := range []struct {
		pattern, text, want string // want is the match and the groups, "-" for no match, "~" for a group without
	}{
		{`a|ab`, "ab", "ab"},
		{`(a|ab)(c|bcd)(d*)`, "abcd", "abcd,ab,c,d"},
		{`a+?`, "aaa", "a"},
		{`(a+?)(b*)`, "aabb", "a,a,"},
		{`(a*)(ab)*(b*)`, "abb", "abb,a,~,bb"},
		{`\d+(?=x)`, "12 34x", "34"},
		{`(?!a)\w`, "ab", "b"},
		{`(\w)\1`, "abccd", "cc,c"},
		{`\mfoo\M`, "a foo b", "foo"},
		{`x{2,3}`, "xxxx", "xxx"},
		{`[[:digit:]]+`, "a12", "12"},
		{`^$`, "", ""},
		{`b`, "a", "-"},
	} {
		re, err := Compile(tc.pattern, Flags{})
		if err != nil {
			t.Errorf("%s: %v", tc.pattern, err)
			continue
		}
		got := "-"
		if m := find(t, re, tc.text); m != nil {
			var parts []string
			for i := 0; i < len(m); i += 2 {
				if m[i] < 0 {
					parts = append(parts, "~")
				} else {
					parts = append(parts, tc.text[m[i]:m[i+1]])
				}
			}
			got = strings.Join(parts, ",")
		}
		if got != tc.want {
			t.Errorf("%s on %q: %s, want %s", tc.pattern, tc.text, got, tc.want)
		}
	}
}

// randomPattern writes an expression over a few letters.
func randomPattern(r *rand.Rand, depth int) string {
	if depth == 0 {
		return []string{"a", "b", "é", ".", "[ab]", "[^a]", `\w`, "^", "$", ""}[r.IntN(10)]
	}
	sub := func() string { return randomPattern(r, depth-1) }
	switch r.IntN(6) {
	case 0, 1:
		return sub() + sub()
	case 2:
		return "(?:" + sub() + "|" + sub() + ")"
	case 3:
		return "(" + sub() + ")"
	case 4:
		return "(?:" + sub() + ")" + []string{"*", "+", "?", "{2}", "{1,2}", "*?"}[r.IntN(6)]
	}
	return sub()
}

// TestWaysAgree compares the matching by package regexp with that by the tree.
func TestWaysAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	checked := 0
	for range 4000 {
		pattern := randomPattern(r, 1+r.IntN(4))
		re, err := Compile(pattern, Flags{})
		if err != nil || re.goRE == nil {
			continue
		}
		tree := *re
		tree.goRE, tree.placesOK, tree.isLit = nil, false, false
		for range 5 {
			var b strings.Builder
			for range r.IntN(7) {
				b.WriteString([]string{"a", "b", "é", "\n", "c"}[r.IntN(5)])
			}
			text := b.String()
			checked++
			if x, y := re.Match([]byte(text)), tree.Match([]byte(text)); x != y {
				t.Fatalf("%q on %q: %v by regexp, %v by the tree", pattern, text, x, y)
			}
			if x, y := find(t, re, text), find(t, &tree, text); !slices.Equal(x, y) {
				t.Fatalf("%q on %q: %v by regexp, %v by the tree", pattern, text, x, y)
			}
		}
	}
	if checked < 1000 {
		t.Errorf("only %d comparisons", checked)
	}
}
