// Package storage owns bytes on disk and in the buffer pool: pages, relation files and
// their forks, extension, the free space map, the visibility map, and latches.
package storage
