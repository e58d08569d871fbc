//go:build !minipg_nocount

package metrics

// Counting tells whether anything is counted. The build tag minipg_nocount compiles every count, and
// every clock read for the sake of one, out of the program, so that their cost can be measured.
const Counting = true
