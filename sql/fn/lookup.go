package fn

import "github.com/minipg/minipg/types"

// Lookup finds a function by pg_proc.prosrc.
func Lookup(prosrc string) (*Builtin, bool) { return nil, false }

// LookupAgg finds an aggregate by the OID of its pg_proc row.
func LookupAgg(oid types.OID) (*Agg, bool) { return nil, false }
