package sql

import (
	"github.com/minipg/minipg/types"
)

// deparser is fn.Deparser: the pg_get_*def functions.
type deparser struct{ s *Session }

func (d deparser) RuleDef(types.OID, bool) (string, bool, error)       { return "", false, nil }
func (d deparser) TriggerDef(types.OID, bool) (string, bool, error)    { return "", false, nil }
func (d deparser) PartKeyDef(types.OID) (string, bool, error)          { return "", false, nil }
func (d deparser) StatisticsDef(types.OID, bool) (string, bool, error) { return "", false, nil }
func (d deparser) FunctionDef(types.OID) (string, bool, error)         { return "", false, nil }

func (d deparser) Expr(string, types.OID, bool) (string, bool, error) { return "", false, nil }

func (d deparser) ViewDef(types.OID, bool, int) (string, bool, error) { return "", false, nil }

func (d deparser) IndexDef(types.OID, int, bool) (string, bool, error) { return "", false, nil }

func (d deparser) ConstraintDef(types.OID, bool) (string, bool, error) { return "", false, nil }

func (d deparser) FunctionPart(types.OID, string) (string, bool, error) { return "", false, nil }
