package types

import (
	"testing"
	"time"
)

func TestParseZone(t *testing.T) {
	at := time.Date(2024, 1, 15, 0, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		in, name string
		offset   int
	}{
		{"-3:30", "-3:30", 12600},
		{"+5", "<+05>-05", 18000},
		{"5.5", "<+05:30>-05:30", 19800},
		{"EST5EDT", "EST5EDT", -18000},
		{"<+0530>-5:30", "<+0530>-5:30", 19800},
		{"foo3", "FOO3", -10800},
		{"utc", "UTC", 0},
		{"america/new_york", "America/New_York", -18000},
	} {
		loc, name, ok := ParseZone(tc.in)
		if !ok || name != tc.name {
			t.Errorf("%s: %q, %v", tc.in, name, ok)
			continue
		}
		if _, off := at.In(loc).Zone(); off != tc.offset {
			t.Errorf("%s: offset %d, want %d", tc.in, off, tc.offset)
		}
		again, name, ok := ParseZone(name)
		if !ok || name != tc.name {
			t.Errorf("%s: its name does not name it", tc.in)
			continue
		}
		if _, off := at.In(again).Zone(); off != tc.offset {
			t.Errorf("%s: offset %d by its name", name, off)
		}
	}
	for _, bad := range []string{"", "nowhere", "200", "<x"} {
		if _, name, ok := ParseZone(bad); ok {
			t.Errorf("%q is zone %q", bad, name)
		}
	}
}
