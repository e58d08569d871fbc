package storage

// A free space map page is a binary tree in an array: node i's children are 2i+1 and 2i+2, a
// parent is the larger of its children, and the leaves are the slots. The bytes are space
// categories. Follows fsmpage.c, except that where the next search begins is kept in memory,
// not in the page: the field would be written under a shared latch.

const (
	// fsmNodes starts behind the header and four bytes that PostgreSQL has there.
	fsmNodes     = PageHeaderSize + 4
	fsmNodeCount = PageSize - fsmNodes
	fsmInner     = PageSize/2 - 1
	fsmSlots     = fsmNodeCount - fsmInner // slots of a page
)

func fsmParent(i int) int { return (i - 1) / 2 }

// fsmRightNeighbor is the node to the right on the same level, around its end.
func fsmRightNeighbor(i int) int {
	i++
	if (i+1)&i == 0 { // the leftmost node of the next level
		i = fsmParent(i)
	}
	return i
}

func fsmGet(p Page, slot int) uint8 { return p[fsmNodes+fsmInner+slot] }

// fsmMax is the largest category in the page.
func fsmMax(p Page) uint8 { return p[fsmNodes] }

// fsmSet stores a category and corrects the nodes above it; false when nothing changed.
func fsmSet(p Page, slot int, category uint8) bool {
	nodes := p[fsmNodes:PageSize]
	i := fsmInner + slot
	if nodes[i] == category && nodes[0] >= category {
		return false
	}
	nodes[i] = category
	for i > 0 {
		i = fsmParent(i)
		best := fsmLarger(nodes, i)
		if nodes[i] == best {
			break
		}
		nodes[i] = best
	}
	// A tear can leave a root below its slots; a search would never find it.
	if category > nodes[0] {
		fsmRebuild(p)
	}
	return true
}

// fsmRebuildFrom is the number of slots from which on it is cheaper to make all inner nodes anew
// than to climb from each.
const fsmRebuildFrom = 256

// fsmSetMany stores a category in n slots; false when nothing changed.
func fsmSetMany(p Page, slot, n int, category uint8) (changed bool) {
	if n < fsmRebuildFrom {
		for i := slot; i < slot+n; i++ {
			if fsmSet(p, i, category) {
				changed = true
			}
		}
		return changed
	}
	slots := p[fsmNodes+fsmInner+slot:][:n]
	for i, c := range slots {
		if c != category {
			slots[i] = category
			changed = true
		}
	}
	return fsmRebuild(p) || changed
}

func fsmLarger(nodes []byte, i int) uint8 {
	left, right := 2*i+1, 2*i+2
	best := uint8(0)
	if left < fsmNodeCount {
		best = nodes[left]
	}
	if right < fsmNodeCount && nodes[right] > best {
		best = nodes[right]
	}
	return best
}

// fsmRebuild makes the inner nodes anew from the slots; false when they were right.
func fsmRebuild(p Page) (changed bool) {
	nodes := p[fsmNodes:PageSize]
	for i := fsmInner - 1; i >= 0; i-- {
		if best := fsmLarger(nodes, i); nodes[i] != best {
			nodes[i] = best
			changed = true
		}
	}
	return changed
}

// fsmSearch finds a slot of at least the category, -1 when there is none, beginning at slot
// start, so that sessions spread. broken says that the inner nodes promise what no slot has.
func fsmSearch(p Page, category uint8, start int) (slot int, broken bool) {
	nodes := p[fsmNodes:PageSize]
	if nodes[0] < category {
		return -1, false
	}
	if start < 0 || start >= fsmSlots {
		start = 0
	}
	// Climb until a subtree has it, going right at every step.
	i := fsmInner + start
	for i > 0 && nodes[i] < category {
		i = fsmParent(fsmRightNeighbor(i))
	}
	// And down to the leftmost slot that has it.
	for i < fsmInner {
		child := 2*i + 1
		if child < fsmNodeCount && nodes[child] >= category {
			i = child
			continue
		}
		child++
		if child < fsmNodeCount && nodes[child] >= category {
			i = child
			continue
		}
		return -1, true
	}
	return i - fsmInner, false
}

// fsmTruncatePage zeroes the slots from n on; false when they were.
func fsmTruncatePage(p Page, n int) (changed bool) {
	slots := p[fsmNodes+fsmInner : PageSize]
	for i := n; i < fsmSlots; i++ {
		if slots[i] != 0 {
			slots[i] = 0
			changed = true
		}
	}
	if changed {
		fsmRebuild(p)
	}
	return changed
}

// Space categories: a byte says how much room a page has, in steps of 32 bytes.
const (
	fsmStep = PageSize / 256
	// maxFSMRequest is the largest tuple a page takes; 255 means room for it.
	maxFSMRequest = PageSize - PageHeaderSize - LinePointerSize
)

// spaceToCategory rounds down: a page is never promised more than it has.
func spaceToCategory(free int) uint8 {
	if free >= maxFSMRequest {
		return 255
	}
	return uint8(min(free/fsmStep, 254))
}

func categoryToSpace(c uint8) int {
	if c == 255 {
		return maxFSMRequest
	}
	return int(c) * fsmStep
}

// needToCategory rounds up.
func needToCategory(need int) uint8 {
	if need == 0 {
		return 1
	}
	if need > 254*fsmStep {
		return 255
	}
	return uint8((need + fsmStep - 1) / fsmStep)
}
