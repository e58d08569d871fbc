package fn

// tables are the parts of the registry, each beside its functions.
var tables = []func(*registry){
	registerCompare,
	registerInts,
	registerFloats,
	registerNumeric,
	registerText,
	registerDatetime,
	registerArray,
	registerSeries,
	registerPictures,
	registerJSONGet,
	registerJSONB,
	registerJSONRecord,
	registerJSONAggregates,
	registerAggregates,
	registerMisc,
}
