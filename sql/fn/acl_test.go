package fn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/minipg/minipg/types"
)

func TestACL(t *testing.T) {
	c := testContext()
	items := []types.Datum{
		aclItem{999, 998, aclBits("SELECT UPDATE") | aclBits("UPDATE")<<16}.datum(),
		aclItem{0, 998, aclBits("USAGE")}.datum(),
	}
	acl := types.MakeArrayDims(types.Aclitem, items, arrayOf(2), nil)
	set, err := builtin(t, "aclexplode").Set(c, []types.Datum{acl})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	row := make([]types.Datum, 4)
	for {
		ok, err := set.Next(c, row)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		got = append(got, fmt.Sprintf("%d %d %s %v", row[0].OID(), row[1].OID(), row[2].B, row[3].Bool()))
	}
	if s := strings.Join(got, "; "); s != "998 999 SELECT false; 998 999 UPDATE true; 998 0 USAGE false" {
		t.Error(s)
	}
	for _, tc := range []struct {
		item aclItem
		want bool
	}{
		{aclItem{999, 998, aclBits("SELECT")}, true},
		{aclItem{999, 998, aclBits("SELECT INSERT")}, false},
		{aclItem{999, 997, aclBits("SELECT")}, false},
		{aclItem{0, 998, aclBits("USAGE")}, true},
	} {
		if d, err := builtin(t, "aclcontains").Func(c, []types.Datum{acl, tc.item.datum()}); err != nil || d.Bool() != tc.want {
			t.Errorf("%v: %v %v", tc.item, d.Bool(), err)
		}
	}
}
