package fn

import (
	"bytes"

	"github.com/minipg/minipg/types"
)

// The functions here walk the text of a valid json or jsonb value without building a tree.

func jsonSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// jsonStart is the position of the first token from i on.
func jsonStart(b []byte, i int) int {
	for i < len(b) && jsonSpace(b[i]) {
		i++
	}
	return i
}

// jsonTrim is the value without the space around it.
func jsonTrim(b []byte) []byte { return bytes.Trim(b, " \t\r\n") }

// jsonEnd is the position after the value that begins at i.
func jsonEnd(b []byte, i int) int {
	switch b[i] {
	case '"':
		return jsonStringEnd(b, i)
	case '{', '[':
		depth := 0
		for {
			switch b[i] {
			case '"':
				i = jsonStringEnd(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
	}
	for i < len(b) && !jsonSpace(b[i]) && b[i] != ',' && b[i] != ']' && b[i] != '}' {
		i++
	}
	return i
}

func jsonStringEnd(b []byte, i int) int {
	i++
	for b[i] != '"' {
		if b[i] == '\\' {
			i++
		}
		i++
	}
	return i + 1
}

// jsonMembers calls f for every member of an object with its key as it is quoted, until f returns false.
func jsonMembers(b []byte, f func(key, val []byte) bool) {
	i := jsonStart(b, jsonStart(b, 0)+1)
	for b[i] != '}' {
		end := jsonStringEnd(b, i)
		key := b[i:end:end]
		i = jsonStart(b, jsonStart(b, end)+1)
		end = jsonEnd(b, i)
		if !f(key, b[i:end:end]) {
			return
		}
		if i = jsonStart(b, end); b[i] == ',' {
			i = jsonStart(b, i+1)
		}
	}
}

// jsonElements calls f for every element of an array, until f returns false.
func jsonElements(b []byte, f func(val []byte) bool) {
	i := jsonStart(b, jsonStart(b, 0)+1)
	for b[i] != ']' {
		end := jsonEnd(b, i)
		if !f(b[i:end:end]) {
			return
		}
		if i = jsonStart(b, end); b[i] == ',' {
			i = jsonStart(b, i+1)
		}
	}
}

// jsonLen is the number of elements of an array.
func jsonLen(b []byte) int {
	n := 0
	jsonElements(b, func([]byte) bool { n++; return true })
	return n
}

// jsonString unescapes a quoted string.
func jsonString(b []byte) ([]byte, error) {
	if bytes.IndexByte(b, '\\') < 0 {
		return b[1 : len(b)-1 : len(b)-1], nil
	}
	v, err := types.ParseJSON(b)
	return v.Str, err
}

// jsonKeyIs compares a quoted key.
func jsonKeyIs(quoted, key []byte) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1:len(quoted)-1]) == string(key)
	}
	s, err := jsonString(quoted)
	return err == nil && bytes.Equal(s, key)
}

// jsonEscapes complains about escapes in a json text that have no meaning as text, as every function does that
// looks at strings.
func jsonEscapes(b []byte) error {
	if !bytes.Contains(b, []byte(`\u`)) {
		return nil
	}
	return types.CheckJSONEscapes(b)
}

// jsonAsText is what ->> makes of a value: strings without their quotes, null as null.
func jsonAsText(val []byte) (types.Datum, error) {
	switch val[0] {
	case 'n':
		return types.NullDatum, nil
	case '"':
		s, err := jsonString(val)
		return types.Datum{B: s}, err
	}
	return types.Datum{B: val}, nil
}
