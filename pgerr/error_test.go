package pgerr

import (
	"context"
	"fmt"
	"testing"
)

func TestFrom(t *testing.T) {
	inner := New(UniqueViolation, "duplicate key value violates unique constraint %q", "k")
	tests := []struct {
		name string
		err  error
		want Code
	}{
		{"wrapped keeps its code", fmt.Errorf("insert: %w", inner), UniqueViolation},
		{"cancel", fmt.Errorf("wait: %w", context.Canceled), QueryCanceled},
		{"unknown", fmt.Errorf("boom"), InternalError},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := From(test.err).Code; got != test.want {
				t.Errorf("code %s, want %s", got, test.want)
			}
		})
	}
	if From(nil) != nil {
		t.Error("From(nil) is not nil")
	}
}

func TestWithPositionKeepsInnermost(t *testing.T) {
	if got := New(SyntaxError, "x").WithPosition(7).WithPosition(3).Position; got != 7 {
		t.Errorf("position %d, want 7", got)
	}
}
