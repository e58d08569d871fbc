package pgerr

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// The severities of PostgreSQL's ErrorResponse and NoticeResponse.
const (
	SeverityError   = "ERROR"
	SeverityFatal   = "FATAL"
	SeverityPanic   = "PANIC"
	SeverityWarning = "WARNING"
	SeverityNotice  = "NOTICE"
	SeverityInfo    = "INFO"
	SeverityLog     = "LOG"
	SeverityDebug   = "DEBUG"
)

// Error is one error or notice with every field the protocol can carry.
type Error struct {
	Severity         string // ERROR unless set
	Code             Code
	Message          string
	Detail           string
	Hint             string
	Position         int // 1-based, in characters of the statement; 0 is none
	InternalPosition int
	InternalQuery    string
	Where            string
	Schema           string
	Table            string
	Column           string
	DataType         string
	Constraint       string

	cause error
}

// New makes an error of severity ERROR.
func New(code Code, format string, args ...any) *Error {
	return &Error{Severity: SeverityError, Code: code, Message: sprintf(format, args)}
}

// Wrap makes an error that unwraps to cause; the message is the new one alone.
func Wrap(cause error, code Code, format string, args ...any) *Error {
	e := New(code, format, args...)
	e.cause = cause
	return e
}

// Notice makes a notice or warning of the given severity.
func Notice(severity string, code Code, format string, args ...any) *Error {
	return &Error{Severity: severity, Code: code, Message: sprintf(format, args)}
}

// Fatal makes an error that ends the session.
func Fatal(code Code, format string, args ...any) *Error {
	return &Error{Severity: SeverityFatal, Code: code, Message: sprintf(format, args)}
}

func sprintf(format string, args []any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// Error is the message with its SQLSTATE.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Severity)
	b.WriteString(": ")
	b.WriteString(e.Message)
	b.WriteString(" (SQLSTATE ")
	b.WriteString(string(e.Code))
	b.WriteByte(')')
	if e.cause != nil {
		b.WriteString(": ")
		b.WriteString(e.cause.Error())
	}
	return b.String()
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.cause }

// WithDetail sets the detail.
func (e *Error) WithDetail(format string, args ...any) *Error {
	e.Detail = sprintf(format, args)
	return e
}

// WithHint sets the hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = sprintf(format, args)
	return e
}

// WithPosition sets the 1-based character position in the statement; a
// position already set stays, as the innermost one is the exact one.
func (e *Error) WithPosition(pos int) *Error {
	if e.Position == 0 && pos > 0 {
		e.Position = pos
	}
	return e
}

// WithTable names the table the error is about.
func (e *Error) WithTable(schema, table string) *Error {
	e.Schema, e.Table = schema, table
	return e
}

// WithColumn names the column the error is about.
func (e *Error) WithColumn(column string) *Error {
	e.Column = column
	return e
}

// WithConstraint names the constraint the error is about.
func (e *Error) WithConstraint(name string) *Error {
	e.Constraint = name
	return e
}

// WithDataType names the data type the error is about.
func (e *Error) WithDataType(schema, name string) *Error {
	e.Schema, e.DataType = schema, name
	return e
}

// AppendWhere adds a line of context, innermost first.
func (e *Error) AppendWhere(format string, args ...any) *Error {
	line := sprintf(format, args)
	if e.Where != "" {
		line = e.Where + "\n" + line
	}
	e.Where = line
	return e
}

// From turns any error into an *Error: one found in the chain as it is, a
// cancelled context into 57014, everything else into XX000.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Wrap(err, QueryCanceled, "canceling statement due to user request")
	}
	return Wrap(err, InternalError, "%s", err.Error())
}

// HasCode reports whether err carries the given SQLSTATE.
func HasCode(err error, code Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}
