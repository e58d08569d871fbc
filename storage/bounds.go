package storage

// SetBounds stores where the line pointers end and the items begin, for
// callers that lay a page out themselves.
func (p Page) SetBounds(lower, upper int) {
	p.setLower(lower)
	p.setUpper(upper)
}

// SetLinePointer stores line pointer off for such callers.
func (p Page) SetLinePointer(off uint16, l LinePointer) { p.setLinePointer(off, l) }

// MakeLinePointer makes a line pointer.
func MakeLinePointer(off int, state LineState, length int) LinePointer {
	return makeLinePointer(off, state, length)
}
