package profile

import "time"

// Owners of memory.
const (
	OwnerFile         = "mapped file"
	OwnerPacked       = "packed weights"
	OwnerCache        = "KV cache"
	OwnerActivations  = "activations"
	OwnerHeap         = "Go heap"
	OwnerStacks       = "stacks"
	OwnerRuntime      = "Go runtime"
	OwnerProgram      = "program"
	OwnerUnattributed = "unattributed"
)

// Owners are all of them, in the order of reports.
var Owners = []string{
	OwnerFile, OwnerPacked, OwnerCache, OwnerActivations, OwnerHeap, OwnerStacks, OwnerRuntime, OwnerProgram, OwnerUnattributed,
}

// Memory is what the process took while a model was opened and first used.
type Memory struct {
	Phases []Phase
	Looks  []Look // in the order of time
	Why    string // there are no phases; "" if there are
}

// A Phase is the memory at the end of a part of the work.
type Phase struct {
	Name  string        // open, pack, prompt or decode
	End   time.Duration // since the first phase began
	Peak  int64         // resident bytes at most during it; 0: not known
	RSS   int64         // resident at its end, as the system tells in one number
	Parts []Part        // what it consists of, in the order of Owners
}

// A Part is the memory of an owner.
type Part struct {
	Owner    string
	Reserved int64 // addresses; 0: not told
	Resident int64
	Shared   int64 // of Resident, what other processes have mapped too
}

// A Look is the resident memory at a moment.
type Look struct {
	At         time.Duration // since the first phase began
	Anon, File int64
}

// Part is an owner's part; nothing if it has none.
func (p Phase) Part(owner string) Part {
	for _, part := range p.Parts {
		if part.Owner == owner {
			return part
		}
	}
	return Part{Owner: owner}
}

// Reconcile adds what no owner claims of the resident memory, negative if they
// claim too much.
func (p *Phase) Reconcile() {
	left := p.RSS
	for _, part := range p.Parts {
		left -= part.Resident
	}
	p.Parts = append(p.Parts, Part{Owner: OwnerUnattributed, Resident: left})
}
