package fn

import (
	"crypto/rand"
	"math"
	"strings"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

func randomUUID(*Context, []types.Datum) (types.Datum, error) {
	b := make([]byte, 16)
	if _, err := rand.Read(b); err != nil {
		return types.Datum{}, pgerr.Wrap(err, pgerr.InternalError, "could not generate random values")
	}
	b[6] = b[6]&0x0F | 0x40
	b[8] = b[8]&0x3F | 0x80
	return types.Datum{B: b}, nil
}

func (c *Context) enumInfo(i int) (*types.TypeInfo, error) {
	t := types.Lookup(c.ArgType(i), c.Env.Types)
	if t == nil || len(t.Labels) == 0 {
		return nil, pgerr.New(pgerr.ObjectNotInPrerequisiteState, "enum %s contains no values", c.typeName(c.ArgType(i)))
	}
	return t, nil
}

func registerEnum(r *registry) {
	r.fn("enum_first", func(c *Context, _ []types.Datum) (types.Datum, error) {
		t, err := c.enumInfo(0)
		if err != nil {
			return types.Datum{}, err
		}
		return types.OIDDatum(t.Labels[0].OID), nil
	})
	r.fn("enum_last", func(c *Context, _ []types.Datum) (types.Datum, error) {
		t, err := c.enumInfo(0)
		if err != nil {
			return types.Datum{}, err
		}
		return types.OIDDatum(t.Labels[len(t.Labels)-1].OID), nil
	})
	enumRange := func(c *Context, lo, hi types.Datum) (types.Datum, error) {
		t, err := c.enumInfo(0)
		if err != nil {
			return types.Datum{}, err
		}
		var elems []types.Datum
		in := lo.Null
		for _, l := range t.Labels {
			if !lo.Null && l.OID == lo.OID() {
				in = true
			}
			if in {
				elems = append(elems, types.OIDDatum(l.OID))
			}
			if !hi.Null && l.OID == hi.OID() {
				break
			}
		}
		return c.makeArray(c.ArgType(0), elems, []types.ArrayDim{{Len: int32(len(elems)), Lower: 1}})
	}
	r.fn("enum_range_all", func(c *Context, _ []types.Datum) (types.Datum, error) {
		return enumRange(c, types.NullDatum, types.NullDatum)
	})
	r.fn("enum_range_bounds", func(c *Context, a []types.Datum) (types.Datum, error) { return enumRange(c, a[0], a[1]) })
}

func errRangeOffset() error {
	return pgerr.New(pgerr.InvalidPrecedingOrFollowingSize, "invalid preceding or following size in window function")
}

// within decides a window frame's RANGE bound: value against the base moved by the offset; over says that the sum left the type's range.
func withinBound(cmp int, less bool) types.Datum {
	if less {
		return types.BoolDatum(cmp <= 0)
	}
	return types.BoolDatum(cmp >= 0)
}

func registerInRange(r *registry) {
	ints := func(_ *Context, a []types.Datum) (types.Datum, error) {
		v, base, off, sub, less := a[0].Int64(), a[1].Int64(), a[2].Int64(), a[3].Bool(), a[4].Bool()
		if off < 0 {
			return types.Datum{}, errRangeOffset()
		}
		if sub {
			off = -off
		}
		sum, ok := addInts(base, off)
		if !ok && off != 0 {
			// Beyond the type's end everything is on one side.
			return types.BoolDatum(sub != less), nil
		}
		return withinBound(b2i(v > sum)-b2i(v < sum), less), nil
	}
	for _, n := range []string{"int2_int2", "int2_int4", "int2_int8", "int4_int2", "int4_int4", "int4_int8", "int8_int8"} {
		r.fn("in_range_"+n, ints)
	}
	floats := func(_ *Context, a []types.Datum) (types.Datum, error) {
		v, base, off, sub, less := a[0].Float64(), a[1].Float64(), a[2].Float64(), a[3].Bool(), a[4].Bool()
		switch {
		case math.IsNaN(off) || off < 0:
			return types.Datum{}, errRangeOffset()
		case math.IsNaN(v):
			return types.BoolDatum(math.IsNaN(base) || !less), nil
		case math.IsNaN(base):
			return types.BoolDatum(less), nil
		case math.IsInf(off, 1) && math.IsInf(base, 0) && (base < 0) != sub:
			// Infinity less infinity: every value is within.
			return types.BoolDatum(true), nil
		}
		if sub {
			off = -off
		}
		return withinBound(types.CompareFloat(v, base+off), less), nil
	}
	r.fn("in_range_float8_float8", floats)
	r.fn("in_range_float4_float8", floats)
	r.fn("in_range_numeric_numeric", func(_ *Context, a []types.Datum) (types.Datum, error) {
		v, base, off, sub, less := a[0].Num(), a[1].Num(), a[2].Num(), a[3].Bool(), a[4].Bool()
		switch {
		case off.IsNaN() || off.Sign() < 0:
			return types.Datum{}, errRangeOffset()
		case v.IsNaN():
			return types.BoolDatum(base.IsNaN() || !less), nil
		case base.IsNaN():
			return types.BoolDatum(less), nil
		}
		if sub {
			off = off.Neg()
		}
		sum, err := base.Add(off)
		if err != nil {
			return types.Datum{}, err
		}
		if sum.IsNaN() {
			return types.BoolDatum(true), nil
		}
		return withinBound(v.Cmp(sum), less), nil
	})
	times := func(move func(c *Context, base int64, v types.IntervalValue) (int64, error)) Func {
		return func(c *Context, a []types.Datum) (types.Datum, error) {
			off := a[2].Interval()
			if c.ArgType(0) == types.Time {
				// Months and days do not move a time of day, nor do they count for the sign.
				off.Months, off.Days = 0, 0
			}
			if types.CompareInterval(off, types.IntervalValue{}) < 0 {
				return types.Datum{}, errRangeOffset()
			}
			if a[3].Bool() {
				var err error
				if off, err = negInterval(off); err != nil {
					return types.Datum{}, err
				}
			}
			sum, err := move(c, a[1].Int64(), off)
			if err != nil {
				return types.Datum{}, err
			}
			v := a[0].Int64()
			return withinBound(b2i(v > sum)-b2i(v < sum), a[4].Bool()), nil
		}
	}
	r.fn("in_range_timestamp_interval", times(func(_ *Context, b int64, v types.IntervalValue) (int64, error) { return timestampPlus(b, v) }))
	r.fn("in_range_timestamptz_interval", times(func(c *Context, b int64, v types.IntervalValue) (int64, error) {
		return timestamptzPlus(b, v, c.location())
	}))
	r.fn("in_range_time_interval", times(func(_ *Context, b int64, v types.IntervalValue) (int64, error) { return b + v.Micros, nil }))
	dates := times(func(_ *Context, b int64, v types.IntervalValue) (int64, error) { return timestampPlus(b, v) })
	r.fn("in_range_date_interval", func(c *Context, a []types.Datum) (types.Datum, error) {
		v, err := dateToTimestamp(a[0].Int64())
		if err != nil {
			return types.Datum{}, err
		}
		b, err := dateToTimestamp(a[1].Int64())
		if err != nil {
			return types.Datum{}, err
		}
		return dates(c, []types.Datum{types.Int64Datum(v), types.Int64Datum(b), a[2], a[3], a[4]})
	})
	r.fn("in_range_interval_interval", func(_ *Context, a []types.Datum) (types.Datum, error) {
		off := a[2].Interval()
		if types.CompareInterval(off, types.IntervalValue{}) < 0 {
			return types.Datum{}, errRangeOffset()
		}
		sum, err := addIntervals(a[1].Interval(), off)
		if a[3].Bool() {
			sum, err = subIntervals(a[1].Interval(), off)
		}
		if err != nil {
			return types.Datum{}, err
		}
		return withinBound(types.CompareInterval(a[0].Interval(), sum), a[4].Bool()), nil
	})
}

// ioFunctions are the input and output functions of types by their prosrc, for calls from SQL.
var ioFunctions = map[types.OID][2]string{
	types.Bool: {"boolin", "boolout"}, types.Bytea: {"byteain", "byteaout"}, types.Char: {"charin", "charout"}, types.Name: {"namein", "nameout"},
	types.Int2: {"int2in", "int2out"}, types.Int4: {"int4in", "int4out"}, types.Int8: {"int8in", "int8out"}, types.Text: {"textin", "textout"},
	types.Oid: {"oidin", "oidout"}, types.Tid: {"tidin", "tidout"}, types.Xid: {"xidin", "xidout"}, types.Cid: {"cidin", "cidout"}, types.Xid8: {"xid8in", "xid8out"},
	types.Json: {"json_in", "json_out"}, types.Jsonb: {"jsonb_in", "jsonb_out"}, types.Float4: {"float4in", "float4out"}, types.Float8: {"float8in", "float8out"},
	types.Bpchar: {"bpcharin", "bpcharout"}, types.Varchar: {"varcharin", "varcharout"}, types.Date: {"date_in", "date_out"}, types.Time: {"time_in", "time_out"},
	types.Timetz: {"timetz_in", "timetz_out"}, types.Timestamp: {"timestamp_in", "timestamp_out"}, types.Timestamptz: {"timestamptz_in", "timestamptz_out"},
	types.Interval: {"interval_in", "interval_out"}, types.Numeric: {"numeric_in", "numeric_out"}, types.Uuid: {"uuid_in", "uuid_out"}, types.PgLsn: {"pg_lsn_in", "pg_lsn_out"},
	types.Bit: {"bit_in", "bit_out"}, types.Varbit: {"varbit_in", "varbit_out"}, types.Money: {"cash_in", "cash_out"}, types.Regclass: {"regclassin", "regclassout"},
	types.Regtype: {"regtypein", "regtypeout"}, types.Regproc: {"regprocin", "regprocout"}, types.Regprocedure: {"regprocedurein", "regprocedureout"}, types.Regoper: {"regoperin", "regoperout"},
	types.Regoperator: {"regoperatorin", "regoperatorout"}, types.Regnamespace: {"regnamespacein", "regnamespaceout"}, types.Regrole: {"regrolein", "regroleout"},
	types.Regcollation: {"regcollationin", "regcollationout"}, types.Oidvector: {"oidvectorin", "oidvectorout"}, types.Int2vector: {"int2vectorin", "int2vectorout"},
	types.Aclitem: {"aclitemin", "aclitemout"}, types.PgNodeTree: {"pg_node_tree_in", "pg_node_tree_out"},
	types.Cstring: {"cstring_in", "cstring_out"}, types.Unknown: {"unknownin", "unknownout"}, types.Void: {"void_in", "void_out"},
}

func registerIO(r *registry) {
	for typ, names := range ioFunctions {
		r.fn(names[0], func(c *Context, a []types.Datum) (types.Datum, error) {
			typmod := int32(-1)
			if len(a) > 2 && !a[2].Null {
				typmod = int32(a[2].W)
			}
			return types.In(typ, typmod, a[0].B, c.Env)
		})
		r.fn(names[1], func(c *Context, a []types.Datum) (types.Datum, error) {
			return bytesResult(types.Out(typ, a[0], nil, c.Env))
		})
	}
	r.fn("array_in", func(c *Context, a []types.Datum) (types.Datum, error) {
		array := types.ArrayOf(a[1].OID())
		if t := types.Lookup(a[1].OID(), c.Env.Types); array == 0 && t != nil {
			array = t.Array
		}
		return types.In(array, int32(a[2].W), a[0].B, c.Env)
	})
	for _, name := range []string{"array_out", "record_out", "enum_out"} {
		r.fn(name, func(c *Context, a []types.Datum) (types.Datum, error) { return bytesResult(c.textOf(0, a[0], nil)) })
	}
	r.fn("enum_in", func(c *Context, a []types.Datum) (types.Datum, error) { return types.In(a[1].OID(), -1, a[0].B, c.Env) })
}

// registerWire registers the functions of types that clients seldom call: of the binary form and of modifiers.
func registerWire(r *registry) {
	for typ, names := range ioFunctions {
		name := strings.TrimSuffix(names[1], "out") + "send"
		r.fn(name, func(c *Context, a []types.Datum) (types.Datum, error) {
			return bytesResult(types.Send(typ, a[0], nil, c.Env))
		})
	}
	for _, name := range []string{"array_send", "record_send", "enum_send", "anyarray_send"} {
		r.fn(name, func(c *Context, a []types.Datum) (types.Datum, error) {
			return bytesResult(types.Send(c.ArgType(0), a[0], nil, c.Env))
		})
	}
	for _, typ := range []types.OID{types.Bpchar, types.Varchar, types.Time, types.Timestamp, types.Timestamptz, types.Interval, types.Timetz, types.Bit, types.Varbit, types.Numeric} {
		name := types.Lookup(typ, nil).Name
		r.fn(name+"typmodin", func(_ *Context, a []types.Datum) (types.Datum, error) {
			arr := a[0].Array()
			var args []string
			for _, d := range arr.Elems(nil) {
				args = append(args, string(d.B))
			}
			mod, err := types.TypmodIn(typ, args)
			return types.Int64Datum(int64(mod)), err
		})
		r.fn(name+"typmodout", func(_ *Context, a []types.Datum) (types.Datum, error) {
			return types.Datum{B: []byte(types.TypmodOut(typ, int32(a[0].Int64())))}, nil
		})
	}
}

// registerOdds registers what fits nowhere else.
func registerOdds(r *registry) {
	for _, name := range []string{"to_ascii_default", "to_ascii_enc", "to_ascii_encname"} {
		r.fn(name, func(*Context, []types.Datum) (types.Datum, error) {
			return types.Datum{}, errUnsupported("encoding conversion from %s to ASCII not supported", "UTF8")
		})
	}
	for _, name := range []string{"pg_wal_replay_pause", "pg_wal_replay_resume", "pg_is_wal_replay_paused", "pg_get_wal_replay_pause_state", "pg_promote"} {
		r.fn(name, func(*Context, []types.Datum) (types.Datum, error) {
			return types.Datum{}, pgerr.New(pgerr.ObjectNotInPrerequisiteState, "recovery is not in progress").
				WithHint("Recovery control functions can only be executed during recovery.")
		})
	}
	r.fn("booland_statefunc", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.BoolDatum(a[0].Bool() && a[1].Bool()), nil
	})
	r.fn("boolor_statefunc", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.BoolDatum(a[0].Bool() || a[1].Bool()), nil
	})
	in := func(c *Context, a []types.Datum) (types.Datum, error) {
		return types.In(a[1].OID(), int32(a[2].W), a[0].B, c.Env)
	}
	r.fn("record_in", in)
	r.fn("domain_in", in)
}

func registerMisc(r *registry) {
	r.fn("gen_random_uuid", randomUUID)
	registerEnum(r)
	registerInRange(r)
	registerIO(r)
	registerWire(r)
	registerOdds(r)
	registerACL(r)
	registerHash(r)
	registerIdentity(r)
	registerSettings(r)
	registerSequences(r)
	registerAdvisory(r)
	registerSleep(r)
	registerXacts(r)
	registerBackends(r)
	registerCatalog(r)
}
