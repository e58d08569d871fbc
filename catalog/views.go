package catalog

import (
	_ "embed"
	"strings"
)

// NamespaceInformationSchema is the schema of PostgreSQL 15's generated objects.
const NamespaceInformationSchema OID = 13207

// The system views, each a SELECT after a line "--- name".
var (
	//go:embed views/pg_catalog.sql
	viewsPgCatalog string
	//go:embed views/information_schema.sql
	viewsInformationSchema string
)

// builtinView returns the SELECT of a system view.
func builtinView(ns OID, name string) string {
	text := viewsPgCatalog
	if ns == NamespaceInformationSchema {
		text = viewsInformationSchema
	}
	_, text, ok := strings.Cut(text, "\n--- "+name+"\n")
	if !ok {
		return ""
	}
	text, _, _ = strings.Cut(text, "\n--- ")
	return strings.TrimSpace(text)
}

// ViewSearchPath is the search path with which ViewDef is to be analyzed: that of system views is fixed,
// in other views all names are qualified and it is pg_catalog alone.
func (r *Relation) ViewSearchPath() []OID {
	if r.Namespace == NamespaceInformationSchema {
		return []OID{NamespaceInformationSchema, NamespacePgCatalog}
	}
	return []OID{NamespacePgCatalog}
}
