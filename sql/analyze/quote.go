package analyze

import "strings"

// keywords are those of PostgreSQL 15 that need quotes as a name: all but the unreserved.
const keywords = " " +
	"all analyse analyze and any array as asc asymmetric authorization between bigint binary " +
	"bit boolean both case cast char character check coalesce collate collation column " +
	"concurrently constraint create cross current_catalog current_date current_role " +
	"current_schema current_time current_timestamp current_user dec decimal default deferrable " +
	"desc distinct do else end except exists extract false fetch float for foreign freeze from " +
	"full grant greatest group grouping having ilike in initially inner inout int integer " +
	"intersect interval into is isnull join lateral leading least left like limit localtime " +
	"localtimestamp national natural nchar none normalize not notnull null nullif numeric " +
	"offset on only or order out outer overlaps overlay placing position precision primary " +
	"real references returning right row select session_user setof similar smallint some " +
	"substring symmetric table tablesample then time timestamp to trailing treat trim true " +
	"union unique user using values varchar variadic verbose when where window with " +
	"xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi " +
	"xmlroot xmlserialize xmltable " +
	""

// QuoteIdent quotes a name if SQL needs it, as quote_ident does.
func QuoteIdent(name string) string {
	if isSafeIdent(name) {
		return name
	}
	return forceQuote(name)
}

func forceQuote(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func isSafeIdent(name string) bool {
	for i := 0; i < len(name); i++ {
		ch := name[i]
		if (ch < 'a' || ch > 'z') && ch != '_' && (i == 0 || ch < '0' || ch > '9') {
			return false
		}
	}
	return name != "" && !strings.Contains(keywords, " "+name+" ")
}

// quote is QuoteIdent under the session's quote_all_identifiers.
func (a *analysis) quote(name string) string {
	if a.QuoteAllIdentifiers {
		return forceQuote(name)
	}
	return QuoteIdent(name)
}

// QuoteLiteral writes a string as a literal that reads the same whatever standard_conforming_strings is.
func QuoteLiteral(s string) string {
	q := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		return "E" + strings.ReplaceAll(q, `\`, `\\`)
	}
	return q
}
