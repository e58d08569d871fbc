// Package goldens holds SQL statements with what PostgreSQL 15 answers to them, and the test that
// minipg answers the same: column names, types and type modifiers, rows, command tags, notices, every
// field of an error, and the transaction status.
//
// # Format
//
// A file in testdata is a list of blocks, separated by empty lines, run in a database of its own:
//
//	# A comment stays with the block below it.
//	@unordered
//	SELECT a, b FROM t
//	----
//	a:int4 | b:varchar/14
//	1 | x
//	SELECT 1
//
// The line of flags is optional:
//
//	@unordered     rows may come in any order
//	@conn=NAME     on another connection than the first
//	@extended      by the extended protocol, unnamed statement; lines after "<<" are parameters
//	@copyin        COPY FROM STDIN; lines after "<<" are the data
//	@copyout       COPY TO STDOUT
//	@blocks        must still wait after a moment; the answer is that of a later @join
//	@join          the answer of the statement that blocks on this connection
//	@mask          numbers are not compared
//
// Values are written as COPY's text format does (\N is null), in addition "" is the empty string, \| a bar,
// \s a space at the end. A type is written with its modifier behind a slash. The last line is
// the command tag, with the transaction status in brackets unless it is idle.
//
// Where minipg means to differ, a block has two answers, and the reason between them:
//
//	----
//	what PostgreSQL answers
//	---- minipg: why
//	what minipg answers
//
// # Recording
//
// With -rewrite the first answer of each block is recorded from the PostgreSQL 15 that
// MINIPG_ORACLE (a DSN of a superuser) names; a block without an answer, which may end in a semicolon
// instead of an empty line, gets one. With -rewrite-minipg the second ones are recorded from minipg.
package goldens
