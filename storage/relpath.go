package storage

// RelPath is the path of the first segment of a fork, relative to the data directory.
func RelPath(r RelFile, fork Fork) string { return relPath(r, fork) }
