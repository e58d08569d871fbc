// Package crash cuts the power of a whole minipg, SQL included, on a file system in memory, at random
// moments and while it recovers, and compares what is left with a model of what was acknowledged.
//
// A seed decides everything: what the two sessions do, when the power goes, and what of the unsynced
// data survives. It is printed and replays with -crash.seed.
package crash
