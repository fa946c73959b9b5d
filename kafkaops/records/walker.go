package records

// Walker goes through the records of chunks, in the order of their offsets. Between Reset and the end it can be left and taken up
// again at any record. The zero value is ready; one walker serves one goroutine, and keeps its memory from chunk to chunk.
//
//	for w.Reset(c); w.Next(); {
//		use(w.Record())
//	}
//	if err := w.Err(); err != nil { … }
//
// Records outside of the chunk's range, records of aborted transactions and (unless Control is set) markers are passed over.
type Walker struct {
	Control bool // markers are records, too: Batch().Control and Marker() tell
	Limit   int  // bytes that one batch may decompress to; 0: 128 MiB

	chunk *Chunk
}

// Reset begins a chunk. What the walker gave out before is no longer valid.
func (w *Walker) Reset(c *Chunk) { w.chunk = c }

// Next goes on to the next record of the chunk and reports whether there is one.
func (w *Walker) Next() bool {
	for !w.NextRecord() {
		if !w.NextBatch() {
			return false
		}
	}
	return true
}

// NextBatch leaves what is left of this batch and goes on to the next one, of whatever kind, empty ones too. It reports whether
// there is one that reaches into the chunk's range.
func (w *Walker) NextBatch() bool { return false }

// NextRecord goes on to the next record of this batch and reports whether there is one.
func (w *Walker) NextRecord() bool { return false }

// Record is the record that Next found. It is overwritten by the next one.
func (w *Walker) Record() *Record { return nil }

// Batch is what the record's batch says. It is overwritten by the next one.
func (w *Walker) Batch() *Batch { return nil }

// Marker is what the record says if its batch is a control batch.
func (w *Walker) Marker() Marker { return 0 }

// Position is the next offset to read: behind the last record that Next found, and once Next found no more, where the partition
// goes on (Chunk.Next). It is what to save when the records so far were processed.
func (w *Walker) Position() int64 { return 0 }

// Stats counts what was walked since the walker was made.
func (w *Walker) Stats() Stats { return Stats{} }

// Err is what ended the walk, nil at the end of the chunk: a *DamagedError or a *TooLargeError.
func (w *Walker) Err() error { return nil }

// Stats counts records.
type Stats struct {
	Records int64 // given out
	Bytes   int64 // of their keys and values
	Batches int64 // that reached into the range
	Aborted int64 // records of aborted transactions
	Control int64 // control batches
}
