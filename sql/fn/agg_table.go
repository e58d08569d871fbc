package fn

import "github.com/minipg/minipg/types"

func stateful(name string, strict bool, f func(call *AggCall) AggState) *Agg {
	return &Agg{Name: name, Strict: strict, New: f}
}

// registerAggregates enters the aggregates by their OIDs in pg_proc.
func registerAggregates(r *registry) {
	r.aggs[2803] = flatAgg("count", flatCount())
	r.aggs[2147] = flatAgg("count", flatCount())

	r.aggs[2108] = flatAgg("sum", flatSumInt())
	r.aggs[2109] = flatAgg("sum", flatSumInt())
	r.aggs[2107] = flatAgg("sum", flatSumInt8(false))
	r.aggs[2110] = flatAgg("sum", flatSumFloat(true))
	r.aggs[2111] = flatAgg("sum", flatSumFloat(false))
	r.aggs[2114] = stateful("sum", true, func(*AggCall) AggState { return &numSumState{} })
	r.aggs[2112] = foldAgg("sum", intFunc(int8Type, addInts))
	r.aggs[2113] = foldAgg("sum", intervalAdd)

	r.aggs[2101] = flatAgg("avg", flatAvgInt())
	r.aggs[2102] = flatAgg("avg", flatAvgInt())
	r.aggs[2100] = flatAgg("avg", flatSumInt8(true))
	r.aggs[2104] = flatAgg("avg", flatAvgFloat())
	r.aggs[2105] = flatAgg("avg", flatAvgFloat())
	r.aggs[2103] = stateful("avg", true, func(*AggCall) AggState { return &numSumState{avg: true} })
	r.aggs[2106] = stateful("avg", true, func(*AggCall) AggState { return &intervalAvg{} })

	registerMinMax(r)

	and := func(a, b uint64) uint64 { return a & b }
	or := func(a, b uint64) uint64 { return a | b }
	xor := func(a, b uint64) uint64 { return a ^ b }
	for _, oid := range []types.OID{2236, 2238, 2240} {
		r.aggs[oid] = flatAgg("bit_and", flatPick(and))
	}
	for _, oid := range []types.OID{2237, 2239, 2241} {
		r.aggs[oid] = flatAgg("bit_or", flatPick(or))
	}
	for _, oid := range []types.OID{6164, 6165, 6166} {
		r.aggs[oid] = flatAgg("bit_xor", flatPick(xor))
	}
	r.aggs[2242] = foldAgg("bit_and", bitOp("AND", func(a, b byte) byte { return a & b }))
	r.aggs[2243] = foldAgg("bit_or", bitOp("OR", func(a, b byte) byte { return a | b }))
	r.aggs[6167] = foldAgg("bit_xor", bitOp("XOR", func(a, b byte) byte { return a ^ b }))
	r.aggs[2517] = flatAgg("bool_and", flatPick(and))
	r.aggs[2519] = flatAgg("every", flatPick(and))
	r.aggs[2518] = flatAgg("bool_or", flatPick(or))

	registerSpreads(r)
	registerRegressions(r)

	r.aggs[3538] = stateful("string_agg", false, func(*AggCall) AggState { return &stringAgg{} })
	r.aggs[3545] = stateful("string_agg", false, func(*AggCall) AggState { return &stringAgg{} })
	r.aggs[2335] = stateful("array_agg", false, func(call *AggCall) AggState {
		return &arrayAgg{elem: call.Args[0], types: call.Types}
	})
	r.aggs[4053] = stateful("array_agg", false, func(call *AggCall) AggState {
		return &arrayAggArray{arrayAgg: arrayAgg{types: call.Types}}
	})
	registerOrdered(r)
}

func registerMinMax(r *registry) {
	for _, p := range [...][2]types.OID{{2115, 2131}, {2116, 2132}, {2117, 2133}, {2122, 2138}, {2123, 2139}, {2125, 2141}, {2126, 2142}, {2127, 2143}} {
		r.aggs[p[0]] = flatAgg("max", flatMinMaxSigned(true))
		r.aggs[p[1]] = flatAgg("min", flatMinMaxSigned(false))
	}
	for _, p := range [...][2]types.OID{{2118, 2134}, {4189, 4190}, {5099, 5100}} {
		r.aggs[p[0]] = flatAgg("max", flatPick(maxUnsigned))
		r.aggs[p[1]] = flatAgg("min", flatPick(minUnsigned))
	}
	for _, p := range [...][2]types.OID{{2119, 2135}, {2120, 2136}} {
		r.aggs[p[0]] = flatAgg("max", flatPick(maxFloat))
		r.aggs[p[1]] = flatAgg("min", flatPick(minFloat))
	}
	for _, p := range [...][2]types.OID{{2050, 2051}, {2124, 2140}, {2128, 2144}, {2129, 2145}, {2130, 2146}, {2244, 2245}, {2797, 2798}, {3526, 3527}, {3564, 3565}} {
		r.aggs[p[0]] = pickAgg("max", 1)
		r.aggs[p[1]] = pickAgg("min", -1)
	}
}

func registerSpreads(r *registry) {
	for _, g := range []struct {
		name string
		spread
		int8, int4, int2, float4, float8, numeric types.OID
	}{
		{"stddev", spread{sample: true, sqrt: true}, 2154, 2155, 2156, 2157, 2158, 2159},
		{"stddev_pop", spread{sqrt: true}, 2724, 2725, 2726, 2727, 2728, 2729},
		{"stddev_samp", spread{sample: true, sqrt: true}, 2712, 2713, 2714, 2715, 2716, 2717},
		{"var_pop", spread{}, 2718, 2719, 2720, 2721, 2722, 2723},
		{"var_samp", spread{sample: true}, 2641, 2642, 2643, 2644, 2645, 2646},
		{"variance", spread{sample: true}, 2148, 2149, 2150, 2151, 2152, 2153},
	} {
		for _, oid := range []types.OID{g.int8, g.int4, g.int2} {
			r.aggs[oid] = stateful(g.name, true, func(*AggCall) AggState {
				return &numSpreadState{numSum: numSum{squares: true}, spread: g.spread, ints: true}
			})
		}
		r.aggs[g.numeric] = stateful(g.name, true, func(*AggCall) AggState {
			return &numSpreadState{numSum: numSum{squares: true}, spread: g.spread}
		})
		for _, oid := range []types.OID{g.float4, g.float8} {
			r.aggs[oid] = stateful(g.name, true, func(*AggCall) AggState { return &floatSpread{spread: g.spread} })
		}
	}
}

// registerStateFunctions registers transition functions that people also call.
func registerStateFunctions(r *registry) {
	r.fn("booland_statefunc", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.BoolDatum(a[0].Bool() && a[1].Bool()), nil
	})
	r.fn("boolor_statefunc", func(_ *Context, a []types.Datum) (types.Datum, error) {
		return types.BoolDatum(a[0].Bool() || a[1].Bool()), nil
	})
}
