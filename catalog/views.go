package catalog

// builtinView returns the SELECT of a system view.
func builtinView(ns OID, name string) string { return "" }
