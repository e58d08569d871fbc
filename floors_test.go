package minipg

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"strings"
	"testing"
)

const module = "github.com/minipg/minipg"

// floors are the folders from the top down. Those of one line do not import each other; any may
// import what is below. A folder stands for those in it that have no line of their own.
var floors = [][]string{
	{"bench", "docs", "scripts", "tests"},
	{"cmd"},
	{"lab", "minipgtest"},
	{"."},
	{"server"},
	{"sql"},
	{"sql/ddl"},
	{"sql/exec"},
	{"sql/plan"},
	{"sql/analyze"},
	{"sql/fn", "sql/parse"},
	{"engine"},
	{"engine/settings"},
	{"catalog"},
	{"heap", "btree", "types"},
	{"txn"},
	{"wal"},
	{"storage/pebblefs"},
	{"storage", "locks"},
	{"storage/faultfs"},
	{"storage/vfs"},
	{"pgerr", "metrics"},
}

// TestFloors fails on an import that points up or sideways, and on a folder that is on no floor.
func TestFloors(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		from, ok := floorOf(p.ImportPath)
		if !ok {
			t.Errorf("%s is on no floor", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, "gonum.org/") && from.line != "lab" {
				t.Errorf("%s imports %s: plots are the lab's alone", p.ImportPath, imported)
			}
			if imported != module && !strings.HasPrefix(imported, module+"/") {
				continue
			}
			to, ok := floorOf(imported)
			if ok && !mayImport(from, to) {
				t.Errorf("%s imports %s, which is not below it", p.ImportPath, imported)
			}
		}
	}
}

// place is a folder's floor, and the folder there that stands for it.
type place struct {
	floor int
	line  string
}

func floorOf(importPath string) (place, bool) {
	folder := strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/")
	if folder == "" {
		folder = "."
	}
	for line := folder; line != ""; line = parent(line) {
		for floor, folders := range floors {
			for _, f := range folders {
				if f == line {
					return place{floor, line}, true
				}
			}
		}
	}
	return place{}, false
}

// parent is the folder a folder is in, "" for one at the root.
func parent(folder string) string {
	if !strings.Contains(folder, "/") {
		return ""
	}
	return path.Dir(folder)
}

func mayImport(from, to place) bool { return from.line == to.line || from.floor < to.floor }
