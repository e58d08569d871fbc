package fn

import (
	"bytes"
	"errors"
	"testing"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// Every function that makes a value longer than its arguments refuses before it allocates: half is never read, so it
// takes no memory either.
func TestValuesOverOneGigabyte(t *testing.T) {
	const halfLen = 600_000_000
	half := types.Datum{B: make([]byte, halfLen)}
	whole := types.Datum{B: make([]byte, 2*halfLen)}
	short := types.Datum{B: bytes.Repeat([]byte("x"), 1<<16)}
	text := func(s string) types.Datum { return types.TextDatum(s) }
	num := types.Int64Datum
	const enlarge = "Cannot enlarge string buffer containing "
	for _, c := range []struct {
		name string
		src  string
		args []types.Datum
		typs []types.OID
		msg  string
		det  string
	}{
		{"repeat", "repeat", []types.Datum{text("x"), num(maxTextLen + 1)}, nil, "requested length too large", ""},
		{"repeat twice", "repeat", []types.Datum{half, num(2)}, nil, "requested length too large", ""},
		{"lpad", "lpad", []types.Datum{text("x"), num(maxTextLen/4 + 1), text("y")}, nil, "requested length too large", ""},
		{"rpad", "rpad", []types.Datum{text("x"), num(1<<31 - 1), text("y")}, nil, "requested length too large", ""},
		{"||", "textcat", []types.Datum{half, half}, nil, "invalid memory alloc request size 1200000004", ""},
		{"bytea ||", "byteacat", []types.Datum{half, half}, nil, "invalid memory alloc request size 1200000004", ""},
		{"translate", "translate", []types.Datum{half, text("a"), text("b")}, nil, "invalid memory alloc request size 2400000004", ""},
		{"replace", "replace_text", []types.Datum{short, text("x"), short}, nil, "out of memory", enlarge + "65536 bytes by 4294901760 more bytes."},
		{"concat", "text_concat", []types.Datum{text("a"), whole}, []types.OID{types.Text, types.Text}, "out of memory", enlarge + "1 bytes by 1200000000 more bytes."},
		{"concat_ws", "text_concat_ws", []types.Datum{text(", "), text("a"), whole}, []types.OID{types.Text, types.Text, types.Text}, "out of memory", enlarge + "1 bytes by 1200000002 more bytes."},
		{"format", "text_format", []types.Datum{text("<%2147483647s>"), text("a")}, []types.OID{types.Text, types.Text}, "out of memory", enlarge + "1 bytes by 2147483647 more bytes."},
		{"encode hex", "binary_encode", []types.Datum{half, text("hex")}, nil, "result of encoding conversion is too large", ""},
		{"encode base64", "binary_encode", []types.Datum{whole, text("base64")}, nil, "result of encoding conversion is too large", ""},
		{"json_build_array", "json_build_array", []types.Datum{whole}, []types.OID{types.Text}, "out of memory", enlarge + "1 bytes by 1200000000 more bytes."},
		{"json_build_object", "json_build_object", []types.Datum{text("a"), whole}, []types.OID{types.Text, types.Text}, "out of memory", enlarge + "1 bytes by 1200000001 more bytes."},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, ok := Lookup(c.src)
			if !ok {
				t.Fatalf("no function %s", c.src)
			}
			ctx := testContext()
			ctx.Call = &Call{Args: c.typs}
			_, err := b.Func(ctx, c.args)
			checkLimit(t, err, c.msg, c.det)
		})
	}
	for _, oid := range []types.OID{3538, 3545} {
		agg, _ := LookupAgg(oid)
		s := agg.New(&AggCall{})
		checkLimit(t, s.Step(testContext(), []types.Datum{whole, text(",")}), "out of memory", enlarge+"0 bytes by 1200000001 more bytes.")
	}
}

func checkLimit(t *testing.T, err error, msg, detail string) {
	t.Helper()
	var e *pgerr.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want %q", err, msg)
	}
	code := pgerr.ProgramLimitExceeded
	if detail == "" && msg[0] == 'i' {
		code = pgerr.InternalError
	}
	if e.Message != msg || e.Detail != detail || e.Code != code {
		t.Errorf("got %s %q %q, want %s %q %q", e.Code, e.Message, e.Detail, code, msg, detail)
	}
}
