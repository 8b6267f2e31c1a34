package lm

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"onebit/internal/bounded"
)

// A Document is a piece of text that is either trained on or held out as a whole.
type Document struct {
	Name string // an import path, or a file and the number of the piece
	Text string
}

// A Corpus is the text of a training run.
type Corpus struct {
	Name      string // for people: what the text is
	Train     []Document
	HeldOut   []Document
	documents int
}

// heldOutShare is the share of documents that are held out, one in so many.
const heldOutShare = 16

// lot is what a document draws by its name alone, so that the same ones are held out on
// every machine and however many others there are.
func lot(name string) uint64 {
	sum := sha256.Sum256([]byte(name))
	return binary.LittleEndian.Uint64(sum[:])
}

func heldOut(name string) bool { return lot(name)%heldOutShare == 0 }

func (c *Corpus) add(d Document) {
	if strings.TrimSpace(d.Text) == "" {
		return
	}
	if heldOut(d.Name) {
		c.HeldOut = append(c.HeldOut, d)
	} else {
		c.Train = append(c.Train, d)
	}
	c.documents++
}

// check refuses a text that has nothing to train on or nothing to be tested with. Where
// no document drew a lot that is held out, which happens to one text of 16 pieces in
// three, the one with the least lot is.
func (c *Corpus) check() error {
	if len(c.HeldOut) == 0 && len(c.Train) > 1 {
		least := slices.MinFunc(c.Train, func(a, b Document) int { return cmp.Compare(lot(a.Name), lot(b.Name)) })
		c.HeldOut = []Document{least}
		c.Train = slices.DeleteFunc(c.Train, func(d Document) bool { return d.Name == least.Name })
	}
	if len(c.Train) == 0 || len(c.HeldOut) == 0 {
		return fmt.Errorf("%s: the text is too small: of its %d documents %d would be held out and %d trained on", c.Name, c.documents, len(c.HeldOut), len(c.Train))
	}
	return nil
}

// Bytes returns the bytes of documents.
func Bytes(documents []Document) (n int) {
	for _, d := range documents {
		n += len(d.Text)
	}
	return n
}

// Texts yields those of documents.
func Texts(documents []Document) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, d := range documents {
			if !yield(d.Text) {
				return
			}
		}
	}
}

// Digest returns a SHA-256 of all text and of how it is divided.
func (c *Corpus) Digest() [sha256.Size]byte {
	sum := sha256.New()
	for _, part := range [][]Document{c.Train, c.HeldOut} {
		binary.Write(sum, binary.LittleEndian, uint64(len(part)))
		for _, d := range part {
			binary.Write(sum, binary.LittleEndian, uint64(len(d.Text)))
			io.WriteString(sum, d.Text)
		}
	}
	return [sha256.Size]byte(sum.Sum(nil))
}

const (
	// maxText is far more than a machine trains on in a week.
	maxText = 1 << 30
	// pieceBytes is how long a document of a text file is: it goes on to the end of
	// the paragraph.
	pieceBytes = 16 << 10
)

// ReadFile makes a corpus of a text file, in pieces of 16 KiB and what is left of
// their last paragraph.
func ReadFile(path string) (*Corpus, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := bounded.Read(f, maxText)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c := &Corpus{Name: path}
	for i := 1; len(text) > 0; i++ {
		piece := text[:pieceEnd(string(text))]
		// Not the path: the same text is divided alike wherever it lies.
		c.add(Document{Name: fmt.Sprintf("%s#%d", filepath.Base(path), i), Text: string(piece)})
		text = text[len(piece):]
	}
	return c, c.check()
}

// pieceEnd returns where the first piece of a text ends.
func pieceEnd(text string) int {
	if len(text) <= pieceBytes {
		return len(text)
	}
	for _, end := range []string{"\n\n", "\n", " "} {
		if i := strings.Index(text[pieceBytes:], end); i >= 0 {
			return pieceBytes + i + len(end)
		}
	}
	return len(text)
}

// errNoGo says what to do without a Go installation.
var errNoGo = errors.New("no Go installation is found, whose documentation is the text: give one with --goroot or another text with --text")
