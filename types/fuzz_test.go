package types

import "testing"

// FuzzIn gives every input function any bytes: invariant 5.
func FuzzIn(f *testing.F) {
	for _, cases := range goldenSets() {
		for i, c := range cases() {
			if i%40 == 0 {
				f.Add([]byte(c.input))
			}
		}
	}
	env := DefaultEnv()
	f.Fuzz(func(t *testing.T, s []byte) {
		if len(s) > 200 {
			return // large exponents of numeric are slow, not wrong
		}
		for i := range builtinTypes {
			typ := builtinTypes[i].OID
			if typ == 0 {
				continue
			}
			d, err := In(typ, -1, append([]byte(nil), s...), env)
			if err != nil {
				continue
			}
			out := Out(typ, d, nil, env)
			Send(typ, d, nil, env)
			if Ordered(typ, nil) {
				EncodeKey(nil, typ, d, KeyOptions{})
				Hash(typ, d)
			}
			_ = out
		}
	})
}

// FuzzRecv gives every receive function any bytes.
func FuzzRecv(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1})
	f.Add([]byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7})
	f.Add([]byte{0, 2, 0, 0, 0, 0, 0, 2, 0, 1, 0, 9})
	f.Fuzz(func(t *testing.T, s []byte) {
		for i := range builtinTypes {
			typ := builtinTypes[i].OID
			if typ == 0 {
				continue
			}
			if d, err := Recv(typ, -1, append([]byte(nil), s...), nil); err == nil {
				Out(typ, d, nil, nil)
			}
		}
	})
}

// FuzzKey decodes and skips any bytes as keys.
func FuzzKey(f *testing.F) {
	f.Add([]byte{1, 0, 0})
	f.Fuzz(func(t *testing.T, s []byte) {
		for _, typ := range keyTypes {
			_, _ = SkipKey(s, typ, KeyOptions{})
			if KeyLossless(typ, 0) {
				_, _, _ = DecodeKey(s, typ, KeyOptions{Desc: true})
			}
		}
	})
}
