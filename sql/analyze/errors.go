package analyze

import (
	"unicode/utf8"

	"github.com/minipg/minipg/pgerr"
)

// raised carries an error to the exported function that recovers it. See invariant 3.
type raised struct{ err error }

// raise ends the analysis with err.
func raise(err error) {
	panic(raised{err})
}

// check ends the analysis if a read of the catalog failed.
func check(err error) {
	if err != nil {
		panic(raised{err})
	}
}

// must is check for a lookup with a result.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// caught turns a raised error into the result of an exported function, which defers it.
func caught(err *error) {
	switch r := recover().(type) {
	case nil:
	case raised:
		*err = r.err
	default:
		panic(r)
	}
}

// position is the 1-based character at byte offset loc, 0 if there is none.
func (a *analysis) position(loc int) int {
	if loc < 0 || loc > len(a.sql) || a.noPositions {
		return 0
	}
	return utf8.RuneCountInString(a.sql[:loc]) + 1
}

// err makes an error that points at byte offset loc of the statement, at nothing if loc is negative.
func (a *analysis) err(loc int, code pgerr.Code, format string, args ...any) *pgerr.Error {
	return pgerr.New(code, format, args...).WithPosition(a.position(loc))
}

// unsupported ends the analysis with 0A000.
func (a *analysis) unsupported(loc int, format string, args ...any) {
	raise(a.err(loc, pgerr.FeatureNotSupported, format, args...))
}

// at gives an error from a lower package the position loc and raises it.
func (a *analysis) at(loc int, err error) {
	if err == nil {
		return
	}
	e := pgerr.From(err)
	if e.Position == 0 && loc >= 0 {
		c := *e
		e = c.WithPosition(a.position(loc))
	}
	raise(e)
}
