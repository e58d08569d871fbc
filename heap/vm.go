package heap

import "github.com/minipg/minipg/storage"

// VMBuf keeps a visibility map page pinned between lookups. The zero value is
// ready; Release it.
type VMBuf struct {
	buf *storage.Buffer
}
