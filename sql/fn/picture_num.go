package fn

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/minipg/minipg/pgerr"
	"github.com/minipg/minipg/types"
)

// numField is a kind of field in a picture for numbers.
type numField string

// numKeywords are the fields, a prefix of another after it.
var numKeywords = []string{",", ".", "0", "9", "B", "C", "D", "EEEE", "FM", "G", "L", "MI", "PL", "PR", "RN", "SG", "SP", "S", "TH", "V"}

// numPicture is a picture for numbers with what it says about the number as a whole.
type numPicture struct {
	items []item[numField]

	fill     bool // FM
	decimal  bool // . or D
	zero     bool // a 0 before the point
	blank    bool // B before any digit
	plus     bool // PL or SG
	minus    bool // MI or SG
	bracket  bool // PR
	roman    bool // RN
	shift    bool // V
	sci      bool // EEEE
	signed   bool // S
	signLast bool // and it follows the number

	pre, post, multi int // digits before and after the point, and after V
	signAt           int // digits before S
	zeroStart        int // digits before and including the first 0
	zeroEnd          int // digits before and including the last 0
}

func errPicture(format string, args ...any) *pgerr.Error {
	return pgerr.New(pgerr.SyntaxError, format, args...)
}

func parseNumPicture(s string) (*numPicture, error) {
	p := &numPicture{}
	items, err := parsePicture(s, func(s string, it *item[numField]) (int, error) {
		for _, w := range numKeywords {
			low := strings.ToLower(w)
			if strings.HasPrefix(s, w) || strings.HasPrefix(s, low) {
				it.field, it.name = numField(w), s[:len(w)]
				return len(w), p.note(w)
			}
		}
		return 0, nil
	})
	p.items = items
	return p, err
}

// note takes account of a field.
func (p *numPicture) note(field string) error {
	if p.sci && field != "EEEE" {
		return errPicture("\"EEEE\" must be the last pattern used")
	}
	notWithS := func() error {
		if p.signed {
			return errPicture("cannot use \"S\" and \"%s\" together", field)
		}
		return nil
	}
	switch field {
	case "9", "0":
		if p.bracket {
			return errPicture("\"%s\" must be ahead of \"PR\"", field)
		}
		if field == "9" && p.shift {
			p.multi++
			return nil
		}
		if field == "0" && !p.zero && !p.decimal {
			p.zero = true
			p.zeroStart = p.pre + 1
		}
		if p.decimal {
			p.post++
		} else {
			p.pre++
		}
		if field == "0" {
			p.zeroEnd = p.pre + p.post
		}
	case "B":
		p.blank = p.blank || p.pre == 0 && p.post == 0 && !p.zero
	case "D", ".":
		if p.decimal {
			return errPicture("multiple decimal points")
		}
		if p.shift {
			return errPicture("cannot use \"V\" and decimal point together")
		}
		p.decimal = true
	case "FM":
		p.fill = true
	case "S":
		switch {
		case p.signed:
			return errPicture("cannot use \"S\" twice")
		case p.plus || p.minus || p.bracket:
			return errPicture("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together")
		}
		p.signed = true
		p.signLast = p.decimal
		if !p.decimal {
			p.signAt = p.pre
		}
	case "MI":
		p.minus = true
		return notWithS()
	case "PL":
		p.plus = true
		return notWithS()
	case "SG":
		p.plus, p.minus = true, true
		return notWithS()
	case "PR":
		if p.signed || p.plus || p.minus {
			return errPicture("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together")
		}
		p.bracket = true
	case "RN":
		p.roman = true
	case "V":
		if p.decimal {
			return errPicture("cannot use \"V\" and decimal point together")
		}
		p.shift = true
	case "EEEE":
		if p.sci {
			return errPicture("cannot use \"EEEE\" twice")
		}
		if p.blank || p.fill || p.signed || p.bracket || p.minus || p.plus || p.roman || p.shift {
			return errPicture("\"EEEE\" is incompatible with other formats").
				WithDetail("\"EEEE\" may only be used together with digit and decimal point patterns.")
		}
		p.sci = true
	}
	return nil
}

// shownNum is a number to show: its digits, which fit the picture, and its sign.
type shownNum struct {
	digits []byte
	neg    bool
	pre    int // digits the picture has before the point
	spaces int // how many of them the number does not need
}

// overflowed is what is shown instead of a number that does not fit.
func overflowed(pre, post int) []byte {
	b := bytes.Repeat([]byte{'#'}, pre+post+1)
	b[pre] = '.'
	return b
}

// fit makes digits, perhaps with a sign and a fraction, ready for the picture.
func (p *numPicture) fit(digits []byte, post int) shownNum {
	n := shownNum{digits: digits, pre: p.pre}
	if p.shift {
		n.pre += p.multi
	}
	if digits[0] == '-' {
		n.neg, n.digits = true, digits[1:]
	}
	whole := bytes.IndexByte(n.digits, '.')
	if whole < 0 {
		whole = len(n.digits)
	}
	if whole > n.pre {
		n.digits = overflowed(n.pre, post)
	} else {
		n.spaces = n.pre - whole
	}
	return n
}

// fitInt is fit for an integer.
func (p *numPicture) fitInt(v int64) shownNum {
	b := strconv.AppendInt(nil, v, 10)
	if p.post > 0 {
		b = append(b, '.')
		for range p.post {
			b = append(b, '0')
		}
	}
	return p.fit(b, p.post)
}

// numWriter writes a number along a picture.
type numWriter struct {
	p      *numPicture
	n      shownNum
	post   int
	out    []byte
	at     int // in n.digits
	slot   int // digits and points of the picture so far
	slots  int // the slot after which a trailing sign goes
	inside bool
	// signDone: the sign has been written, or need not be here.
	signDone bool
	bracket  bool
	signLast bool
	relevant int // the last digit that FM leaves, -1 for all
	length   int // of the output that counts, -1 for all
}

// end ends the output: PostgreSQL writes a NUL where the picture has more digits than a float, and cuts the text there.
func (w *numWriter) end() {
	if w.length < 0 {
		w.length = len(w.out)
	}
}

func (p *numPicture) show(n shownNum, post int) ([]byte, error) {
	w := numWriter{p: p, n: n, post: post, bracket: p.bracket, signLast: p.signLast, relevant: -1, length: -1, out: make([]byte, 0, len(p.items)+len(n.digits))}
	if p.roman {
		w.p = &numPicture{items: p.items, fill: p.fill, roman: true}
		w.n.neg, w.n.spaces = false, 0
		return w.write()
	}
	if p.plus || p.minus {
		w.signDone = p.minus
	} else {
		if !n.neg && p.fill {
			w.bracket = false
		}
		w.signDone = !n.neg && p.fill && !p.signed
		if p.signed && !p.signLast && n.pre == p.signAt {
			w.signLast = true
		}
	}
	w.slots = post + n.pre - 1
	if p.fill && p.decimal {
		w.relevant = w.lastRelevant()
	}
	if !w.signDone && n.spaces == 0 {
		w.slots++
	}
	if n.spaces != 0 {
		w.slots++
	}
	if p.decimal {
		w.slots++
	}
	return w.write()
}

// lastRelevant is the last digit after the point that is not zero, the point if there is none.
func (w *numWriter) lastRelevant() int {
	d := w.n.digits
	at := bytes.IndexByte(d, '.')
	if at < 0 {
		return -1
	}
	for i := at + 1; i < len(d); i++ {
		if d[i] != '0' {
			at = i
		}
	}
	if w.p.zeroEnd > w.n.spaces {
		at = max(at, min(len(d)-1, w.p.zeroEnd-w.n.spaces))
	}
	return at
}

// relevantIsPoint: nothing of the fraction will be shown.
func (w *numWriter) relevantIsPoint() bool { return w.relevant >= 0 && w.n.digits[w.relevant] == '.' }

// hiddenZero: the zero before the point is not shown.
func (w *numWriter) hiddenZero() bool {
	return !w.p.zero && w.at == 0 && len(w.n.digits) > 0 && w.n.digits[0] == '0' && w.post != 0
}

func (w *numWriter) sign(pos, neg byte) {
	if w.n.neg {
		pos = neg
	}
	w.out = append(w.out, pos)
}

// blank writes a blank, and nothing in fill mode.
func (w *numWriter) blank() {
	if !w.p.fill {
		w.out = append(w.out, ' ')
	}
}

// digit writes what stands at a 9, a 0 or a point.
func (w *numWriter) digit(field numField) {
	p := w.p
	if p.roman {
		return
	}
	w.inside = false
	zeroStart := p.zeroStart - 1
	if !w.signDone && (w.slot >= w.n.spaces || p.zero && zeroStart == w.slot) && (!w.hiddenZero() || w.relevantIsPoint()) {
		switch {
		case p.signed:
			if !w.signLast {
				w.sign('+', '-')
				w.signDone = true
			}
		case w.bracket:
			w.sign(' ', '<')
			w.signDone = true
		default:
			if w.n.neg {
				w.out = append(w.out, '-')
			} else {
				w.blank()
			}
			w.signDone = true
		}
	}
	switch {
	case w.slot >= w.n.spaces:
		w.ownDigit(field)
	case p.zero && zeroStart <= w.slot:
		w.out = append(w.out, '0')
		w.inside = true
	default:
		w.blank()
	}
	end := w.slots
	if w.relevant >= 0 && w.relevant == w.at {
		end = w.slot
	}
	if w.slot+1 == end {
		if w.signDone && w.bracket {
			w.sign(' ', '>')
		} else if p.signed && w.signLast {
			w.sign('+', '-')
		}
	}
	w.slot++
}

// ownDigit writes a digit that the number has.
func (w *numWriter) ownDigit(field numField) {
	if w.at >= len(w.n.digits) {
		if w.relevant < 0 || w.at <= w.relevant || field == "0" {
			w.end()
			w.inside = true
		}
		return
	}
	d := w.n.digits[w.at]
	switch {
	case d == '.':
		if !w.relevantIsPoint() || w.p.fill {
			w.out = append(w.out, '.')
		}
	case w.relevant >= 0 && w.at > w.relevant && field != "0":
	case w.hiddenZero():
		if w.p.fill && w.relevantIsPoint() {
			w.out = append(w.out, '0')
		} else {
			w.blank()
		}
	default:
		w.out = append(w.out, d)
		w.inside = true
	}
	w.at++
}

func (w *numWriter) write() ([]byte, error) {
	for i := range w.p.items {
		it := &w.p.items[i]
		if it.kind != itemField {
			w.out = append(w.out, it.literal...)
			continue
		}
		switch it.field {
		case "9", "0", ".", "D":
			w.digit(it.field)
		case ",", "G":
			if w.inside {
				w.out = append(w.out, ',')
			} else {
				w.blank()
			}
		case "L":
			w.out = append(w.out, ' ')
		case "RN":
			s := w.n.digits
			if it.name[0] == 'r' {
				s = bytes.ToLower(s)
			}
			for n := len(s); n < 15 && !w.p.fill; n++ {
				w.out = append(w.out, ' ')
			}
			w.out = append(w.out, s...)
		case "TH":
			d := w.n.digits
			if w.p.roman || len(d) > 0 && d[0] == '#' || w.n.neg || w.p.decimal {
				continue
			}
			suffix, ok := ordinalSuffix(d, it.name[0])
			if !ok {
				return nil, pgerr.New(pgerr.InvalidTextRepresentation, "\"%s\" is not a number", d)
			}
			w.out = append(w.out, suffix...)
		case "MI":
			if w.n.neg {
				w.out = append(w.out, '-')
			} else {
				w.blank()
			}
		case "PL":
			if !w.n.neg && !w.p.roman {
				w.out = append(w.out, '+')
			} else {
				w.blank()
			}
		case "SG":
			if w.p.roman {
				w.end()
			}
			w.sign('+', '-')
		}
	}
	if w.length >= 0 {
		w.out = w.out[:w.length]
	}
	return w.out, nil
}

// romanNumeral is v in Roman numerals, number signs if it has none.
func romanNumeral(v int64) []byte {
	if v < 1 || v > 3999 {
		return bytes.Repeat([]byte{'#'}, 15)
	}
	var b []byte
	for _, r := range [...]struct {
		v int64
		s string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for v >= r.v {
			b = append(b, r.s...)
			v -= r.v
		}
	}
	return b
}

// notFinite is what EEEE shows of NaN and the infinities.
func (p *numPicture) notFinite() []byte {
	b := bytes.Repeat([]byte{'#'}, p.pre+p.post+6)
	b[0] = ' '
	if p.pre+1 < len(b) {
		b[p.pre+1] = '.'
	}
	return b
}

// scientific is a number in scientific notation with scale digits after the point.
func scientific(n types.Num, scale int) []byte {
	exp := 0
	if n.Sign() != 0 {
		text := n.Abs().Trunc(0).String()
		exp = len(text) - 1
		if text == "0" {
			frac := n.Abs().String()[2:]
			exp = -1
			for frac[-exp-1] == '0' {
				exp--
			}
		}
	}
	var m types.Num
	if exp >= 0 {
		one, _ := types.ParseNum([]byte("1e" + strconv.Itoa(exp)))
		m = n.DivTo(one, scale)
	} else {
		one, _ := types.ParseNum([]byte("1e" + strconv.Itoa(-exp)))
		m, _ = n.Mul(one)
		m = m.Round(scale)
	}
	b := m.Append(nil)
	b = append(b, 'e')
	if exp < 0 {
		return appendPadded(append(b, '-'), int64(-exp), 2)
	}
	return appendPadded(append(b, '+'), int64(exp), 2)
}

// withBlank puts a blank where a sign would be.
func withBlank(b []byte) []byte {
	if b[0] == '-' {
		return b
	}
	return append([]byte{' '}, b...)
}

// toChar wraps a conversion as a function: show gives the digits, or a finished text.
func numToChar(show func(d types.Datum, p *numPicture) (n shownNum, post int, done []byte, err error)) Func {
	return func(c *Context, a []types.Datum) (types.Datum, error) {
		if len(a[1].B) == 0 {
			return types.Datum{B: []byte{}}, nil
		}
		p, err := remembered(c, a[1].B, parseNumPicture)
		if err != nil {
			return types.Datum{}, err
		}
		n, post, done, err := show(a[0], p)
		if err != nil || done != nil {
			return types.Datum{B: done}, err
		}
		out, err := p.show(n, post)
		return types.Datum{B: out}, err
	}
}

func showInt4(d types.Datum, p *numPicture) (shownNum, int, []byte, error) {
	v := int32(d.Int64())
	switch {
	case p.roman:
		return shownNum{digits: romanNumeral(int64(v))}, 0, nil, nil
	case p.sci:
		return shownNum{}, 0, withBlank(strconv.AppendFloat(nil, float64(v), 'e', p.post, 64)), nil
	case p.shift:
		pow := int32(math.MinInt32)
		if p.multi < 10 {
			pow = int32(math.Pow10(p.multi))
		}
		v *= pow
	}
	return p.fitInt(int64(v)), p.post, nil, nil
}

func showInt8(d types.Datum, p *numPicture) (shownNum, int, []byte, error) {
	v := d.Int64()
	switch {
	case p.roman:
		if v != int64(int32(v)) {
			return shownNum{}, 0, nil, errOutOfRange("integer")
		}
		return shownNum{digits: romanNumeral(v)}, 0, nil, nil
	case p.sci:
		return shownNum{}, 0, withBlank(scientific(types.NumFromInt64(v), p.post)), nil
	case p.shift:
		if p.multi > 18 {
			return shownNum{}, 0, nil, errOutOfRange("bigint")
		}
		pow := int64(math.Pow10(p.multi))
		m := v * pow
		if m/pow != v {
			return shownNum{}, 0, nil, errOutOfRange("bigint")
		}
		v = m
	}
	return p.fitInt(v), p.post, nil, nil
}

// showFloat shows a float of so many bits, whose precision is digits.
func showFloat(bits, precision int) func(d types.Datum, p *numPicture) (shownNum, int, []byte, error) {
	return func(d types.Datum, p *numPicture) (shownNum, int, []byte, error) {
		v := d.Float64()
		switch {
		case p.roman:
			r := math.RoundToEven(v)
			if !(r >= 1 && r <= 3999) {
				r = 0
			}
			return shownNum{digits: romanNumeral(int64(r))}, 0, nil, nil
		case p.sci:
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return shownNum{}, 0, p.notFinite(), nil
			}
			return shownNum{}, 0, withBlank(strconv.AppendFloat(nil, v, 'e', p.post, 64)), nil
		case p.shift && bits == 32:
			v = float64(float32(v) * float32(math.Pow(10, float64(p.multi))))
		case p.shift:
			v *= math.Pow(10, float64(p.multi))
		}
		post := p.post
		if whole := len(fixedFloat(math.Abs(v), 0)); whole >= precision {
			post = 0
		} else {
			post = min(post, precision-whole)
		}
		return p.fit(fixedFloat(v, post), post), post, nil, nil
	}
}

func fixedFloat(v float64, post int) []byte {
	switch {
	case math.IsNaN(v):
		return []byte("NaN")
	case math.IsInf(v, 1):
		return []byte("Infinity")
	case math.IsInf(v, -1):
		return []byte("-Infinity")
	}
	return strconv.AppendFloat(nil, v, 'f', post, 64)
}

func showNumeric(d types.Datum, p *numPicture) (shownNum, int, []byte, error) {
	n := d.Num()
	switch {
	case p.roman:
		if !n.IsFinite() {
			return shownNum{}, 0, nil, errConvert(n, "integer")
		}
		v, ok := n.Round(0).Int64()
		if !ok || v != int64(int32(v)) {
			return shownNum{}, 0, nil, errOutOfRange("integer")
		}
		return shownNum{digits: romanNumeral(v)}, 0, nil, nil
	case p.sci:
		if !n.IsFinite() {
			return shownNum{}, 0, p.notFinite(), nil
		}
		return shownNum{}, 0, withBlank(scientific(n, p.post)), nil
	case p.shift:
		pow, err := types.NumFromInt64(10).Power(types.NumFromInt64(int64(p.multi)))
		if err == nil {
			n, err = n.Mul(pow)
		}
		if err != nil {
			return shownNum{}, 0, nil, err
		}
	}
	return p.fit(n.Round(p.post).Append(nil), p.post), p.post, nil, nil
}

// numReader reads a number along a picture.
type numReader struct {
	p    *numPicture
	in   []byte
	pos  int
	sign byte
	// digits and point read
	out       []byte
	pre, post int
	point     bool
}

func (r *numReader) over() bool { return r.pos >= len(r.in) }

func (r *numReader) peek(c byte) bool { return r.pos < len(r.in) && r.in[r.pos] == c }

func (r *numReader) takeSign() bool {
	if r.peek('-') || r.peek('+') {
		r.sign = r.in[r.pos]
		return true
	}
	return false
}

// skipOther passes over up to n characters that cannot be part of a number.
func (r *numReader) skipOther(n int) {
	for ; n > 0 && !r.over() && strings.IndexByte("0123456789.,+-", r.in[r.pos]) < 0; n-- {
		r.pos += len(charAt(string(r.in[r.pos:min(len(r.in), r.pos+4)])))
	}
}

// digit reads what stands at a 9, a 0 or a point. The caller passes over the last character.
func (r *numReader) digit(field numField) {
	p := r.p
	if r.peek(' ') {
		r.pos++
	}
	if r.over() {
		return
	}
	if r.sign == ' ' && (field == "0" || field == "9") && r.pre+r.post == 0 {
		if p.bracket && r.peek('<') {
			r.sign = '-'
			r.pos++
		} else if r.takeSign() {
			r.pos++
		}
	}
	if r.over() {
		return
	}
	read := false
	if c := r.in[r.pos]; isDigit(c) {
		if r.point && r.post == p.post {
			return
		}
		r.out = append(r.out, c)
		if r.point {
			r.post++
		} else {
			r.pre++
		}
		read = true
	} else if p.decimal && !r.point && c == '.' {
		r.out = append(r.out, c)
		r.point, read = true, true
	}
	if r.sign != ' ' || r.pre+r.post == 0 {
		return
	}
	switch {
	case p.signed && read && r.pos+1 < len(r.in) && !isDigit(r.in[r.pos+1]):
		r.pos++
		if !r.takeSign() {
			r.pos--
		}
	case !read && !p.signed && (p.plus || p.minus):
		r.takeSign()
	}
}

func (r *numReader) read() error {
	p := r.p
	if p.sci {
		return errUnsupported("\"EEEE\" not supported for input")
	}
	if p.roman {
		return errUnsupported("\"RN\" not supported for input")
	}
	for i := range p.items {
		if r.over() {
			break
		}
		it := &p.items[i]
		if it.kind != itemField {
			r.pos += len(charAt(string(r.in[r.pos:min(len(r.in), r.pos+4)])))
			continue
		}
		switch it.field {
		case "9", "0", ".", "D":
			r.digit(it.field)
			r.pos++
		case ",", "G":
			if !p.fill && r.peek(',') {
				r.pos++
			}
		case "L":
			r.skipOther(1)
		case "TH":
			if !p.decimal {
				r.skipOther(2)
			}
		case "MI":
			r.takeOnly('-')
		case "PL":
			r.takeOnly('+')
		case "SG":
			if r.takeSign() {
				r.pos++
			} else {
				r.skipOther(1)
			}
		}
	}
	return nil
}

// takeOnly takes the sign c, or passes over a character in its place.
func (r *numReader) takeOnly(c byte) {
	if r.peek(c) {
		r.sign = c
		r.pos++
		return
	}
	r.skipOther(1)
}

func toNumber(c *Context, a []types.Datum) (types.Datum, error) {
	if len(a[1].B) == 0 {
		return types.NullDatum, nil
	}
	p, err := remembered(c, a[1].B, parseNumPicture)
	if err != nil {
		return types.Datum{}, err
	}
	r := numReader{p: p, in: a[0].B, sign: ' '}
	if err := r.read(); err != nil {
		return types.Datum{}, err
	}
	text := append([]byte{r.sign}, bytes.TrimSuffix(r.out, []byte("."))...)
	n, err := types.ParseNum(text)
	if err != nil {
		return types.Datum{}, err
	}
	n, err = types.ApplyNumTypmod(n, int32((p.pre+p.multi+r.post)<<16|r.post)+4)
	if err == nil && p.shift {
		var scale types.Num
		scale, err = types.NumFromInt64(10).Power(types.NumFromInt64(int64(-p.multi)))
		if err == nil {
			n, err = n.Mul(scale)
		}
	}
	return types.NumDatum(n), err
}

func registerPictures(r *registry) {
	r.fn("timestamp_to_char", timestampToChar(false))
	r.fn("timestamptz_to_char", timestampToChar(true))
	r.fn("interval_to_char", intervalToChar)
	r.fn("to_timestamp", toTimestamp)
	r.fn("to_date", toDate)
	r.fn("int4_to_char", numToChar(showInt4))
	r.fn("int8_to_char", numToChar(showInt8))
	r.fn("float4_to_char", numToChar(showFloat(32, 6)))
	r.fn("float8_to_char", numToChar(showFloat(64, 15)))
	r.fn("numeric_to_char", numToChar(showNumeric))
	r.fn("numeric_to_number", toNumber)
}
