package exec

import (
	"time"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/sql/analyze"
	"github.com/minipg/minipg/sql/fn"
	"github.com/minipg/minipg/types"
)

const usecsPerDay = 24 * 60 * 60 * 1000 * 1000

// sqlValueOf computes a parameterless function with syntax of its own. Those about time are of the start
// of the transaction.
func sqlValueOf(c *fn.Context, kind analyze.SQLValueKind, mod int32) (types.Datum, error) {
	loc := c.Env.TimeZone
	if loc == nil {
		loc = time.UTC
	}
	now := types.TimestampFromTime(c.TxStart)
	local := types.LocalTimestamp(now, loc)
	switch kind {
	case analyze.CurrentDate:
		return types.Int64Datum(floorDiv(local, usecsPerDay)), nil
	case analyze.CurrentTimestamp:
		return types.ApplyTypmod(types.Timestamptz, mod, types.Int64Datum(now), false)
	case analyze.LocalTimestamp:
		return types.ApplyTypmod(types.Timestamp, mod, types.Int64Datum(local), false)
	case analyze.LocalTime:
		return types.ApplyTypmod(types.Time, mod, types.Int64Datum(timeOfDay(local)), false)
	case analyze.CurrentTime:
		east, _, _ := types.ZoneAt(now, loc)
		return types.ApplyTypmod(types.Timetz, mod, types.TimetzDatum(timeOfDay(local), int32(-east)), false)
	}
	if c.Identity == nil {
		return types.Datum{}, pgerr.New(pgerr.FeatureNotSupported, "there is no session to ask for its user")
	}
	switch kind {
	case analyze.CurrentCatalog:
		return types.TextDatum(c.Identity.CurrentDatabase()), nil
	case analyze.CurrentSchema:
		if s := c.Identity.CurrentSchemas(false); len(s) > 0 {
			return types.TextDatum(s[0]), nil
		}
		return types.NullDatum, nil
	case analyze.SessionUser:
		return types.TextDatum(c.Identity.SessionUser()), nil
	}
	return types.TextDatum(c.Identity.CurrentUser()), nil
}

func timeOfDay(t int64) int64 { return t - floorDiv(t, usecsPerDay)*usecsPerDay }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
