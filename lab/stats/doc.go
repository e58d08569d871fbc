// Package stats decides whether a difference between two ways of running the same thing is larger
// than the noise of the machine.
//
// Runs come in rounds: in each round every configuration runs once, and the order of the next round
// is the reverse of this one's (A B B A), so that a machine that gets slower or faster as time
// passes favours nobody. Run i of A and run i of B are a pair. What is compared is the logarithm of
// their quotient, since throughputs differ by factors; its mean over the rounds has Student's t
// interval with one degree of freedom less than there are rounds.
//
// A control runs the first configuration once more in each round, at the far end of the order. A
// difference counts only if its interval leaves out 1 and it is larger than the one measured
// between the configuration and itself.
package stats
