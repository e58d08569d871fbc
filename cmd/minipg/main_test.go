package main

import "testing"

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"-?"}, {"serve", "--help"}, {"check", "--help"}} {
		if code := run(args); code != 0 {
			t.Errorf("%q: exit status %d", args, code)
		}
	}
	if run([]string{"--nothing"}) == 0 {
		t.Error("an unknown flag is taken")
	}
}
