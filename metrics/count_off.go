//go:build minipg_nocount

package metrics

// Counting tells whether anything is counted: not in this build.
const Counting = false
