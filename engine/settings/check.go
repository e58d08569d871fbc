package settings

import (
	"strings"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// checkString validates a string parameter and gives it the form SHOW prints.
func (p *Param) checkString(s string) (string, error) {
	switch p.id {
	case TimeZone, LogTimezone:
		return checkTimeZone(p, s)
	case ClientEncoding:
		return checkEncoding(p, s)
	case ApplicationName, ClusterName:
		return cleanASCII(s), nil
	case SearchPath, TempTablespaces:
		if _, ok := SplitIdentifiers(s); !ok {
			return "", errInvalid(p.Name, s).WithDetail("List syntax is invalid.")
		}
	}
	if p.Support == LocaleC && !isLocaleC(s) {
		return "", errInvalid(p.Name, s)
	}
	return s, nil
}

// isLocaleC tells the locales that exist here.
func isLocaleC(s string) bool {
	switch strings.ToLower(s) {
	case "", "c", "posix", "c.utf-8", "c.utf8":
		return true
	}
	return false
}

// checkTimeZone takes also the form INTERVAL '...' that SET TIME ZONE makes of an interval.
func checkTimeZone(p *Param, s string) (string, error) {
	if len(s) > 8 && strings.EqualFold(s[:8], "interval") {
		rest := strings.TrimSpace(s[8:])
		if len(rest) < 2 || rest[0] != '\'' || rest[len(rest)-1] != '\'' {
			return "", errInvalid(p.Name, s)
		}
		return intervalZone(p, s, rest[1:len(rest)-1])
	}
	_, canonical, ok := types.ParseZone(s)
	if !ok {
		return "", errInvalid(p.Name, s)
	}
	if _, _, number := numberPrefix(s); !number && !strings.EqualFold(canonical, s) {
		// A POSIX specification is shown as it was given.
		return strings.ToUpper(s), nil
	}
	return canonical, nil
}

func intervalZone(p *Param, whole, text string) (string, error) {
	d, err := types.In(types.Interval, -1, []byte(text), nil)
	if err != nil {
		return "", errInvalid(p.Name, whole)
	}
	iv := d.Interval()
	if iv.Months != 0 {
		return "", errInvalid(p.Name, whole).WithDetail("Cannot specify months in time zone interval.")
	}
	if iv.Days != 0 {
		return "", errInvalid(p.Name, whole).WithDetail("Cannot specify days in time zone interval.")
	}
	return types.FixedZone(int(iv.Micros / 1e6)).String(), nil
}

// encodings are the names of the client encodings that need no conversion.
var encodings = map[string]string{
	"utf8": "UTF8", "unicode": "UTF8", "sqlascii": "SQL_ASCII",
}

// otherEncodings are PostgreSQL's encodings that are not done.
const otherEncodings = " abc alt big5 euccn eucjis2004 eucjp euckr euctw gb18030 gbk iso88591 iso885910 iso885913 iso885914 " +
	"iso885915 iso885916 iso88592 iso88593 iso88594 iso88595 iso88596 iso88597 iso88598 iso88599 johab koi8 koi8r koi8u latin1 " +
	"latin10 latin2 latin3 latin4 latin5 latin6 latin7 latin8 latin9 mskanji muleinternal shiftjis shiftjis2004 sjis tcvn " +
	"tcvn5712 uhc vscii win win1250 win1251 win1252 win1253 win1254 win1255 win1256 win1257 win1258 win866 win874 win932 " +
	"win936 win949 win950 windows1250 windows1251 windows1252 windows1253 windows1254 windows1255 windows1256 windows1257 " +
	"windows1258 windows866 windows874 windows932 windows936 windows949 windows950 "

func checkEncoding(p *Param, s string) (string, error) {
	key := strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
	if enc, ok := encodings[key]; ok {
		return enc, nil
	}
	if key != "" && strings.Contains(otherEncodings, " "+key+" ") {
		return "", pgerr.New(pgerr.FeatureNotSupported, "conversion between %s and UTF8 is not supported", strings.ToUpper(s))
	}
	return "", errInvalid(p.Name, s)
}

// cleanASCII replaces each byte that does not print.
func cleanASCII(s string) string {
	for i := range len(s) {
		if s[i] < 32 || s[i] > 126 {
			b := []byte(s)
			for j := i; j < len(b); j++ {
				if b[j] < 32 || b[j] > 126 {
					b[j] = '?'
				}
			}
			return string(b)
		}
	}
	return s
}

// SplitIdentifiers reads a list of names with commas between: folded to lower case, unless quoted.
func SplitIdentifiers(s string) ([]string, bool) {
	var out []string
	rest := strings.TrimLeft(s, " \t\n\v\f\r")
	if rest == "" {
		return nil, true
	}
	for {
		var name string
		if rest != "" && rest[0] == '"' {
			end := 1
			var b strings.Builder
			for {
				i := strings.IndexByte(rest[end:], '"')
				if i < 0 {
					return nil, false
				}
				b.WriteString(rest[end : end+i])
				end += i + 1
				if end < len(rest) && rest[end] == '"' {
					b.WriteByte('"')
					end++
					continue
				}
				break
			}
			name, rest = b.String(), rest[end:]
		} else {
			n := strings.IndexAny(rest, ", \t\n\v\f\r")
			if n < 0 {
				n = len(rest)
			}
			if n == 0 {
				return nil, false
			}
			name, rest = strings.ToLower(rest[:n]), rest[n:]
		}
		out = append(out, name)
		rest = strings.TrimLeft(rest, " \t\n\v\f\r")
		if rest == "" {
			return out, true
		}
		if rest[0] != ',' {
			return nil, false
		}
		rest = strings.TrimLeft(rest[1:], " \t\n\v\f\r")
	}
}

// FlattenArgs makes one text of the values of SET name = a, b, ...
func (p *Param) FlattenArgs(args []string) (string, error) {
	if !p.List {
		if len(args) > 1 {
			return "", pgerr.New(pgerr.InvalidParameterValue, "SET %s takes only one argument", p.Name)
		}
		return strings.Join(args, ""), nil
	}
	out := make([]string, len(args))
	for i, a := range args {
		if p.ListQuote {
			a = quoteIdent(a)
		}
		out[i] = a
	}
	return strings.Join(out, ", "), nil
}

// quoteIdent quotes what is not a plain name. Key words are quoted by the caller, who knows them.
func quoteIdent(s string) string {
	safe := s != "" && (s[0] == '_' || s[0] >= 'a' && s[0] <= 'z')
	for i := 0; safe && i < len(s); i++ {
		c := s[i]
		safe = c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
	}
	if safe {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

type dateStyle struct {
	style, order         string
	haveStyle, haveOrder bool
	conflict             bool
}

func (d *dateStyle) setStyle(s string) {
	d.conflict = d.conflict || d.haveStyle && d.style != s
	d.style, d.haveStyle = s, true
}

func (d *dateStyle) setOrder(s string) {
	d.conflict = d.conflict || d.haveOrder && d.order != s
	d.order, d.haveOrder = s, true
}

func checkDateStyle(p *Param, s, current, reset string) (string, error) {
	toks, ok := SplitIdentifiers(s)
	if !ok {
		return "", errInvalid(p.Name, s).WithDetail("List syntax is invalid.")
	}
	var d dateStyle
	d.style, d.order, _ = strings.Cut(current, ", ")
	resetStyle, resetOrder, _ := strings.Cut(reset, ", ")
	for _, tok := range toks {
		tok = strings.ToLower(tok)
		switch {
		case tok == "iso":
			d.setStyle("ISO")
		case tok == "sql":
			d.setStyle("SQL")
		case strings.HasPrefix(tok, "postgres"):
			d.setStyle("Postgres")
		case tok == "german":
			d.setStyle("German")
			if !d.haveOrder {
				d.order = "DMY"
			}
		case tok == "ymd":
			d.setOrder("YMD")
		case tok == "dmy", strings.HasPrefix(tok, "euro"):
			d.setOrder("DMY")
		case tok == "mdy", tok == "us", strings.HasPrefix(tok, "noneuro"):
			d.setOrder("MDY")
		case tok == "default":
			if !d.haveStyle {
				d.style = resetStyle
			}
			if !d.haveOrder {
				d.order = resetOrder
			}
		default:
			return "", errInvalid(p.Name, s).WithDetail("Unrecognized key word: \"%s\".", tok)
		}
	}
	if d.conflict {
		return "", errInvalid(p.Name, s).WithDetail("Conflicting \"datestyle\" specifications.")
	}
	return d.style + ", " + d.order, nil
}
