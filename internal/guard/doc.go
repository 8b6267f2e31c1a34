// Package guard gives tests memory whose borders are enforced: reading or
// writing one byte past it faults, and so does writing to what was declared
// read-only. Assembly has no bounds checks; this is where its mistakes show.
//
//	|no access|canaries.. data ..canaries|no access|
//	          ^ a page boundary          ^ a page boundary
//
//	New        data ends at the right border: reads past the end fault
//	Start      data begins at the left border: reads before it fault
//	Misaligned data begins off bytes past a 64-byte boundary, as near to
//	           the right border as that allows
//
// Canaries fill the rest, and are compared when the test ends. Where the
// system has no mprotect (Windows, Plan 9, WebAssembly), canaries take the place of
// the inaccessible pages too: stray writes are found at the end, reads are not.
package guard
