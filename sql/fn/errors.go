package fn

import (
	"fmt"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

func errDatatypeMismatch(format string, args ...any) error {
	return pgerr.New(pgerr.DatatypeMismatch, format, args...)
}

func errUndefinedFunction(format string, args ...any) error {
	return pgerr.New(pgerr.UndefinedFunction, format, args...)
}

func errParameter(format string, args ...any) error {
	return pgerr.New(pgerr.InvalidParameterValue, format, args...)
}

func errOutOfRange(typ string) error {
	return pgerr.New(pgerr.NumericValueOutOfRange, "%s out of range", typ)
}

func errUnsupported(format string, args ...any) error {
	return pgerr.New(pgerr.FeatureNotSupported, format, args...)
}

// errNoState is for functions whose interface is missing in the context.
func errNoState(what string) error {
	return errUnsupported("%s is not available here", what)
}

// typeName is the type's name as messages have it.
func (c *Context) typeName(typ types.OID) string {
	if name, ok := types.FormatType(typ, -1); ok {
		return name
	}
	if c.Catalog != nil {
		if name := c.Catalog.FormatType(typ, -1); name != "" {
			return name
		}
	}
	return fmt.Sprint(uint32(typ))
}
