package sql

import (
	"github.com/minipg/minipg/catalog"
	"github.com/minipg/minipg/engine/settings"
	"github.com/minipg/minipg/pgerr"
)

// The OIDs of the schemas every database has.
const (
	pgCatalogSchema catalog.OID = 11
	publicSchema    catalog.OID = 2200
)

// searchPath is the effective search path, recomputed when search_path, the role or the
// catalog changed.
type searchPath struct {
	valid    bool
	version  uint64
	list     []catalog.OID // in the order of lookup
	explicit []catalog.OID // what search_path names and exists
}

// searchPath returns the schemas in the order of lookup.
func (s *Session) searchPath() []catalog.OID {
	s.resolvePath()
	return s.path.list
}

func (s *Session) resolvePath() {
	version := s.eng.Catalog().Version()
	if s.path.valid && s.path.version == version {
		return
	}
	s.path.explicit = s.path.explicit[:0]
	names, ok := settings.SplitIdentifiers(s.set.Str(settings.SearchPath))
	if !ok {
		names = nil
	}
	for _, name := range names {
		switch name {
		case "$user":
			name = s.role.Name
		case "pg_temp":
			if s.temp != 0 {
				s.path.explicit = append(s.path.explicit, s.temp)
			}
			continue
		}
		if ns, err := s.eng.Catalog().NamespaceByName(name); err == nil && ns != nil {
			s.path.explicit = append(s.path.explicit, ns.OID)
		}
	}
	list := make([]catalog.OID, 0, len(s.path.explicit)+2)
	if s.temp != 0 && !contains(s.path.explicit, s.temp) {
		list = append(list, s.temp)
	}
	if !contains(s.path.explicit, pgCatalogSchema) {
		list = append(list, pgCatalogSchema)
	}
	list = append(list, s.path.explicit...)
	if !equalOIDs(list, s.path.list) {
		s.plans.clear()
	}
	s.path.list = list
	s.path.valid, s.path.version = true, version
}

func contains(list []catalog.OID, oid catalog.OID) bool {
	for _, o := range list {
		if o == oid {
			return true
		}
	}
	return false
}

func equalOIDs(a, b []catalog.OID) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// creationSchema is the schema new objects without a schema go to.
func (s *Session) creationSchema() (catalog.OID, error) {
	s.resolvePath()
	if len(s.path.explicit) == 0 {
		return 0, pgerr.New(pgerr.UndefinedSchema, "no schema has been selected to create in")
	}
	return s.path.explicit[0], nil
}

// relationByName finds a relation by a name with or without schema, along the search path.
func (s *Session) relationByName(schema, name string) (*catalog.Relation, error) {
	cat := s.eng.Catalog()
	if schema != "" {
		ns, err := s.schema(schema)
		if err != nil || ns == 0 {
			return nil, err
		}
		return cat.RelationByName(ns, name)
	}
	for _, ns := range s.searchPath() {
		rel, err := cat.RelationByName(ns, name)
		if err != nil || rel != nil {
			return rel, err
		}
	}
	return nil, nil
}

// schema is the OID of a schema by name, 0 if there is none.
func (s *Session) schema(name string) (catalog.OID, error) {
	if name == "pg_temp" {
		return s.temp, nil
	}
	ns, err := s.eng.Catalog().NamespaceByName(name)
	if err != nil || ns == nil {
		return 0, err
	}
	return ns.OID, nil
}

func undefinedRelation(schema, name string) error {
	if schema != "" {
		name = schema + "." + name
	}
	return pgerr.New(pgerr.UndefinedTable, "relation \"%s\" does not exist", name)
}
