package fn

import (
	"math"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

func num1(f func(a types.Num) (types.Num, error)) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) { return numResult(f(a[0].Num())) }
}

func num2(f func(a, b types.Num) (types.Num, error)) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) { return numResult(f(a[0].Num(), a[1].Num())) }
}

func simple(f func(types.Num) types.Num) func(types.Num) (types.Num, error) {
	return func(a types.Num) (types.Num, error) { return f(a), nil }
}

// vecNum is the vector form of a binary operation of numerics.
func vecNum(op func(a, b types.Num) (types.Num, error)) VecFunc {
	return func(_ *Context, args []*types.Vector, rows types.Rows, out *types.Vector) error {
		if constNull(args, rows, out) {
			return nil
		}
		a, b := args[0], args[1]
		for k := range rows.Len() {
			i := rows.At(k)
			ia, ib := i, i
			if a.Const {
				ia = 0
			}
			if b.Const {
				ib = 0
			}
			if out.Null[i] = a.Null[ia] || b.Null[ib]; out.Null[i] {
				continue
			}
			v, err := op(types.NumFromStore(a.B[ia]), types.NumFromStore(b.B[ib]))
			if err != nil {
				return err
			}
			at := len(out.Arena)
			out.Arena = v.AppendStore(out.Arena)
			out.B[i] = out.Arena[at:len(out.Arena):len(out.Arena)]
		}
		return nil
	}
}

// clampScale keeps a scale for round and trunc within what the type can hold.
func clampScale(v int64) int { return int(min(max(v, -131073), 16383)) }

func errConvert(n types.Num, typ string) error {
	what := "infinity"
	if n.IsNaN() {
		what = "NaN"
	}
	return errUnsupported("cannot convert %s to %s", what, typ)
}

func numToInt(t *intType) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		n := a[0].Num()
		if !n.IsFinite() {
			return types.Datum{}, errConvert(n, t.name)
		}
		v, ok := n.Int64()
		if !ok {
			return types.Datum{}, t.errRange()
		}
		return t.check(v)
	}
}

func numToFloat(bits int) Func {
	typ := "double precision"
	if bits == 32 {
		typ = "real"
	}
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		n := a[0].Num()
		v, ok := n.Float64()
		if bits == 32 {
			v, ok = n.Float32()
		}
		if !ok {
			return types.Datum{}, pgerr.New(pgerr.NumericValueOutOfRange, "\"%s\" is out of range for type %s", n.String(), typ)
		}
		return types.Float64Datum(v), nil
	}
}

func intToNum(_ *Context, a []types.Datum) (types.Datum, error) {
	return types.NumDatum(types.NumFromInt64(a[0].Int64())), nil
}

func registerNumeric(r *registry) {
	for name, op := range map[string]func(a, b types.Num) (types.Num, error){
		"numeric_add": types.Num.Add, "numeric_sub": types.Num.Sub, "numeric_mul": types.Num.Mul, "numeric_div": types.Num.Div, "numeric_mod": types.Num.Mod,
	} {
		r.vec(name, num2(op), vecNum(op))
	}
	r.fn("numeric_div_trunc", num2(types.Num.DivTrunc))
	r.fn("numeric_power", num2(types.Num.Power))
	r.fn("numeric_log", num2(types.Num.Log))
	r.fn("numeric_lcm", num2(types.Num.Lcm))
	r.fn("numeric_gcd", num2(func(a, b types.Num) (types.Num, error) { return a.Gcd(b), nil }))
	r.fn("numeric_uminus", num1(simple(types.Num.Neg)))
	r.fn("numeric_uplus", identity)
	r.fn("numeric_abs", num1(simple(types.Num.Abs)))
	r.fn("numeric_ceil", num1(simple(types.Num.Ceil)))
	r.fn("numeric_floor", num1(simple(types.Num.Floor)))
	r.fn("numeric_sign", num1(simple(func(n types.Num) types.Num {
		if n.IsNaN() {
			return n
		}
		return types.NumFromInt64(int64(n.Sign()))
	})))
	r.fn("numeric_inc", num1(func(n types.Num) (types.Num, error) { return n.Add(types.NumFromInt64(1)) }))
	r.fn("numeric_sqrt", num1(types.Num.Sqrt))
	r.fn("numeric_exp", num1(types.Num.Exp))
	r.fn("numeric_ln", num1(types.Num.Ln))
	log10 := func(n types.Num) (types.Num, error) { return types.NumFromInt64(10).Log(n) }
	r.sql(1741, "log", num1(log10))
	r.sql(1481, "log10", num1(log10))
	r.fn("numeric_round", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.NumDatum(a[0].Num().Round(clampScale(a[1].Int64()))), nil
	})
	r.fn("numeric_trunc", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.NumDatum(a[0].Num().Trunc(clampScale(a[1].Int64()))), nil
	})
	r.sql(1708, "round", num1(simple(func(n types.Num) types.Num { return n.Round(0) })))
	r.sql(1710, "trunc", num1(simple(func(n types.Num) types.Num { return n.Trunc(0) })))
	r.fn("numeric_scale", scaleOf(types.Num.Scale))
	r.fn("numeric_min_scale", scaleOf(types.Num.MinScale))
	r.fn("numeric_trim_scale", num1(simple(func(n types.Num) types.Num { return n.Trunc(n.MinScale()) })))
	r.fn("numeric_fac", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return numResult(types.Factorial(a[0].Int64()))
	})

	for _, name := range []string{"int2_numeric", "int4_numeric", "int8_numeric"} {
		r.fn(name, intToNum)
	}
	r.fn("numeric_int2", numToInt(int2Type))
	r.fn("numeric_int4", numToInt(int4Type))
	r.fn("numeric_int8", numToInt(int8Type))
	r.fn("numeric_float4", numToFloat(32))
	r.fn("numeric_float8", numToFloat(64))
	r.fn("float4_numeric", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.NumDatum(types.NumFromFloat32(a[0].Float64())), nil
	})
	r.fn("float8_numeric", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.NumDatum(types.NumFromFloat64(a[0].Float64())), nil
	})
	r.fn("numeric_pg_lsn", func(_ *Context, a []types.Datum) (types.Datum, error) {
		n := a[0].Num()
		if !n.IsFinite() {
			return types.Datum{}, errConvert(n, "pg_lsn")
		}
		v, ok := n.Uint64()
		if !ok {
			return types.Datum{}, errParameter("pg_lsn out of range")
		}
		return types.Datum{W: v}, nil
	})
	// numeric(numeric, typmod) is the length coercion.
	r.fn("numeric", coerce(types.Numeric))
	registerMoney(r)
	registerLSN(r)
}

func scaleOf(f func(types.Num) int) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		n := a[0].Num()
		if !n.IsFinite() {
			return types.NullDatum, nil
		}
		return types.Int64Datum(int64(f(n))), nil
	}
}

// coerce is a type's length coercion: value, modifier, and for strings whether the cast is explicit.
func coerce(typ types.OID) Func {
	return func(_ *Context, a []types.Datum) (types.Datum, error) {
		explicit := len(a) > 2 && a[2].Bool()
		return types.ApplyTypmod(typ, int32(a[1].Int64()), a[0], explicit)
	}
}

func moneyOp(op floatOp) func(a int64, b float64) (types.Datum, error) {
	return func(a int64, b float64) (types.Datum, error) {
		v, err := op(float64(a), b)
		if err != nil {
			return types.Datum{}, err
		}
		v = math.RoundToEven(v)
		if math.IsNaN(v) || v < -9223372036854775808 || v >= 9223372036854775808 {
			return types.Datum{}, errOutOfRange("money")
		}
		return types.Int64Datum(int64(v)), nil
	}
}

func registerMoney(r *registry) {
	// Money's arithmetic is not checked for overflow in PostgreSQL 15.
	r.fn("cash_pl", word2(func(a, b int64) int64 { return a + b }))
	r.fn("cash_mi", word2(func(a, b int64) int64 { return a - b }))
	r.fn("cash_div_cash", func(_ *Context, a []types.Datum) (types.Datum, error) {
		if a[1].W == 0 {
			return types.Datum{}, types.ErrDivisionByZero()
		}
		return types.Float64Datum(float64(a[0].Int64()) / float64(a[1].Int64())), nil
	})
	mul, div := moneyOp(floatMul), moneyOp(floatDiv)
	for _, f := range []string{"flt4", "flt8"} {
		r.fn("cash_mul_"+f, func(_ *Context, a []types.Datum) (types.Datum, error) { return mul(a[0].Int64(), a[1].Float64()) })
		r.fn(f+"_mul_cash", func(_ *Context, a []types.Datum) (types.Datum, error) { return mul(a[1].Int64(), a[0].Float64()) })
		r.fn("cash_div_"+f, func(_ *Context, a []types.Datum) (types.Datum, error) { return div(a[0].Int64(), a[1].Float64()) })
	}
	for _, n := range []string{"int2", "int4", "int8"} {
		r.fn("cash_mul_"+n, word2(func(a, b int64) int64 { return a * b }))
		r.fn(n+"_mul_cash", word2(func(a, b int64) int64 { return a * b }))
		r.fn("cash_div_"+n, checkedFunc(int8Type, divInts))
	}
	for _, n := range []string{"int4_cash", "int8_cash"} {
		r.fn(n, func(_ *Context, a []types.Datum) (types.Datum, error) {
			v, ok := mulInt64(a[0].Int64(), 100)
			if !ok {
				return types.Datum{}, errOutOfRange("bigint")
			}
			return types.Int64Datum(v), nil
		})
	}
	r.fn("numeric_cash", func(_ *Context, a []types.Datum) (types.Datum, error) {
		n, err := a[0].Num().Mul(types.NumFromInt64(100))
		if err != nil {
			return types.Datum{}, err
		}
		v, ok := n.Int64()
		if !ok {
			return types.Datum{}, errOutOfRange("bigint")
		}
		return types.Int64Datum(v), nil
	})
	r.fn("cash_numeric", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.NumDatum(types.NumFromScaled(a[0].Int64(), 2)), nil
	})
}

func lsnNum(v uint64) types.Num { return types.NumFromUint128(0, v) }

func registerLSN(r *registry) {
	r.fn("pg_lsn_mi", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return numResult(lsnNum(a[0].W).Sub(lsnNum(a[1].W)))
	})
	r.fn("pg_wal_lsn_diff", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return numResult(lsnNum(a[0].W).Sub(lsnNum(a[1].W)))
	})
	move := func(op func(a, b types.Num) (types.Num, error), lsn, n types.Datum, verb string) (types.Datum, error) {
		by := n.Num()
		if by.IsNaN() {
			return types.Datum{}, errUnsupported("cannot %s NaN %s pg_lsn", verb, map[string]string{"add": "to", "subtract": "from"}[verb])
		}
		v, err := op(lsnNum(lsn.W), by)
		if err != nil {
			return types.Datum{}, err
		}
		if v.IsInf() {
			return types.Datum{}, errConvert(v, "pg_lsn")
		}
		u, ok := v.Uint64()
		if !ok {
			return types.Datum{}, errParameter("pg_lsn out of range")
		}
		return types.Datum{W: u}, nil
	}
	r.fn("pg_lsn_pli", func(_ *Context, a []types.Datum) (types.Datum, error) { return move(types.Num.Add, a[0], a[1], "add") })
	r.fn("pg_lsn_mii", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return move(types.Num.Sub, a[0], a[1], "subtract")
	})
	r.sql(5023, "numeric_pl_pg_lsn", func(_ *Context, a []types.Datum) (types.Datum, error) { return move(types.Num.Add, a[1], a[0], "add") })
}
