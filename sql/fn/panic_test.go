package fn

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/minipg/minipg/types"
)

// signature is a function as some golden calls it.
type signature struct {
	src  string
	args []types.OID
}

// goldenCalls gathers the signatures in the goldens, and the arguments they were called with by type.
func goldenCalls(t *testing.T) (sigs []signature, pool map[types.OID][]types.Datum) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.golden"))
	if err != nil {
		t.Fatal(err)
	}
	c := testContext()
	pool = map[types.OID][]types.Datum{}
	seen, pooled := map[string]bool{}, map[string]bool{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for sc := bufio.NewScanner(bytes.NewReader(b)); sc.Scan(); {
			p := strings.SplitN(sc.Text(), "\t", 4)
			if len(p) < 4 {
				continue
			}
			spec, err := strconv.Unquote(p[2])
			if err != nil {
				continue
			}
			src, args := splitCase(spec)
			if _, ok := Lookup(src); !ok {
				continue
			}
			sig := signature{src: src}
			for _, a := range args {
				typ := typeByName(t, a.typ)
				sig.args = append(sig.args, typ)
				if a.null || pooled[a.typ+a.text] {
					continue
				}
				pooled[a.typ+a.text] = true
				if d, err := types.In(typ, -1, []byte(a.text), c.Env); err == nil {
					pool[typ] = append(pool[typ], d)
				}
			}
			key := src
			for _, typ := range sig.args {
				key += "," + strconv.Itoa(int(typ))
			}
			if !seen[key] {
				seen[key] = true
				sigs = append(sigs, sig)
			}
		}
	}
	return sigs, pool
}

// slowFunctions take long, or much memory, for some arguments, and rightly so.
var slowFunctions = []string{"repeat", "lpad", "rpad", "pg_sleep", "numeric_fac"}

// TestNoPanics calls every function of the goldens with arguments that others were called with.
func TestNoPanics(t *testing.T) {
	sigs, pool := goldenCalls(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	c := testContext()
	rounds := 60
	if testing.Short() {
		rounds = 5
	}
	for _, sig := range sigs {
		if slices.Contains(slowFunctions, sig.src) {
			continue
		}
		b, _ := Lookup(sig.src)
		c.Call = &Call{Args: sig.args}
		args := make([]types.Datum, len(sig.args))
		for range rounds {
			for i, typ := range sig.args {
				args[i] = pool[typ][rnd.IntN(len(pool[typ]))]
			}
			callOnce(t, c, b, sig, args)
		}
	}
}

func callOnce(t *testing.T, c *Context, b *Builtin, sig signature, args []types.Datum) {
	defer func() {
		if e := recover(); e != nil {
			var texts []string
			for i, d := range args {
				texts = append(texts, string(types.Out(sig.args[i], d, nil, c.Env)))
			}
			t.Errorf("%s%q panics: %v", sig.src, texts, e)
		}
	}()
	if b.Func != nil {
		_, _ = b.Func(c, slices.Clone(args))
	}
	if b.Set == nil {
		return
	}
	set, err := b.Set(c, slices.Clone(args))
	if err != nil {
		return
	}
	row := make([]types.Datum, 8)
	for range 100 {
		if ok, err := set.Next(c, row); !ok || err != nil {
			return
		}
	}
}

// FuzzTexts gives functions of texts any two texts.
func FuzzTexts(f *testing.F) {
	for _, s := range [][2]string{
		{"2000-01-02 10:11:12", "YYYY-MM-DD HH24:MI:SS"},
		{"-12.5", "S99D9"},
		{"a%b_", `\%`},
		{"YWJj", "base64"},
		{"\"a\".b", "x"},
		{"ab12", `(\w)(?=\d)\1*|[[:alpha:]]{1,2}?`},
		{"%1$*2$s %L", "é"},
		{`{"a":[1,"\u0041"]}`, "a"},
		{"5 MB", "kB"},
		{"~", "YYYY\"x\"TH"},
	} {
		f.Add(s[0], s[1])
	}
	names := []string{
		"to_timestamp", "to_date", "numeric_to_number", "textlike", "texticlike", "like_escape", "similar_to_escape_2", "binary_decode", "text_format", "textregexeq", "texticregexeq",
		"textregexsubstr", "regexp_matches_no_flags", "regexp_split_to_array_no_flags", "text_to_array", "textpos", "btrim", "textcat", "parse_ident", "pg_size_bytes", "unicode_normalize_func",
	}
	c := testContext()
	f.Fuzz(func(_ *testing.T, x, y string) {
		if len(x) > 30 || len(y) > 30 {
			return
		}
		dx, ok := types.CheckUTF8([]byte(x)), types.CheckUTF8([]byte(y))
		if dx != nil || ok != nil {
			return
		}
		c.Call = &Call{Args: []types.OID{types.Text, types.Text}}
		args := []types.Datum{{B: []byte(x)}, {B: []byte(y)}}
		for _, name := range names {
			b, found := Lookup(name)
			if !found {
				continue
			}
			c.Call.State = nil
			if b.Func != nil {
				_, _ = b.Func(c, slices.Clone(args))
			} else if set, err := b.Set(c, args); err == nil {
				_, _ = set.Next(c, make([]types.Datum, 2))
			}
		}
		for typ, shows := range map[types.OID][]string{types.Int4: {"int4_to_char"}, types.Numeric: {"numeric_to_char"}, types.Timestamp: {"timestamp_to_char"}, types.Interval: {"interval_to_char"}} {
			v, err := types.In(typ, -1, []byte(x), c.Env)
			if err != nil {
				continue
			}
			for _, name := range shows {
				b, _ := Lookup(name)
				c.Call.State = nil
				_, _ = b.Func(c, []types.Datum{v, args[1]})
			}
		}
		if v, err := types.In(types.Jsonb, -1, []byte(x), c.Env); err == nil {
			for _, name := range []string{"jsonb_object_field", "jsonb_delete", "jsonb_exists", "jsonb_pretty", "jsonb_hash", "jsonb_strip_nulls"} {
				b, _ := Lookup(name)
				_, _ = b.Func(c, []types.Datum{v, args[1]})
			}
		}
	})
}
