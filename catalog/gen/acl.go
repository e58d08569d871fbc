package main

import (
	"fmt"
	"log"
	"strings"
)

const aclChars = "arwdDxtXUCTcsA"

// acl turns the text of an aclitem[] into a Go expression of type []ACLItem.
func (g *generator) acl(text string) string {
	var out []string
	for _, item := range g.aclItems(text) {
		s := "{"
		if item.grantee != "0" {
			s += "Grantee: " + item.grantee + ", "
		}
		s += fmt.Sprintf("Grantor: %s, Privs: %#x", item.grantor, item.privs)
		if item.opts != 0 {
			s += fmt.Sprintf(", GrantOpts: %#x", item.opts)
		}
		out = append(out, s+"}")
	}
	return "[]ACLItem{" + strings.Join(out, ", ") + "}"
}

// aclText replaces the role names of an aclitem[] by OIDs, with 0 for PUBLIC.
func (g *generator) aclText(text string) string {
	var out []string
	for _, item := range g.aclItems(text) {
		out = append(out, item.grantee+"="+item.letters+"/"+item.grantor)
	}
	return "{" + strings.Join(out, ",") + "}"
}

type aclItem struct {
	grantee, grantor, letters string
	privs, opts               uint32
}

func (g *generator) aclItems(text string) []aclItem {
	var out []aclItem
	for _, s := range strings.Split(strings.Trim(text, "{}"), ",") {
		if s == "" {
			continue
		}
		who, rest, _ := strings.Cut(s, "=")
		letters, grantor, _ := strings.Cut(rest, "/")
		item := aclItem{grantee: g.role(who), grantor: g.role(grantor), letters: letters}
		for i := range letters {
			if letters[i] == '*' {
				item.opts |= 1 << strings.IndexByte(aclChars, letters[i-1])
				continue
			}
			n := strings.IndexByte(aclChars, letters[i])
			if n < 0 {
				log.Fatalf("privilege %q", letters)
			}
			item.privs |= 1 << n
		}
		out = append(out, item)
	}
	return out
}

func (g *generator) role(name string) string {
	if name == "" {
		return "0"
	}
	oid, ok := g.roles[name]
	if !ok {
		log.Fatalf("no role %q", name)
	}
	return oid
}
