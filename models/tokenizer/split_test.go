package tokenizer

import (
	"slices"
	"strings"
	"testing"

	"github.com/dlclark/regexp2"

	"onebit/internal/require"
)

// patterns are those of the package comment, in one piece.
var patterns = map[string]*regexp2.Regexp{
	"gpt-2": regexp2.MustCompile(gpt2Regex, regexp2.None),
	"qwen2": regexp2.MustCompile(`(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}`+
		`| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`, regexp2.None),
	"llama-bpe": regexp2.MustCompile(`(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}`+
		`| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`, regexp2.None),
}

func init() {
	patterns["qwen35"] = regexp2.MustCompile(`(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}`+
		`| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`, regexp2.None)
}

func split(p *preTokenizer, text string) []string {
	var words []string
	for len(text) > 0 {
		n := p.next(text)
		words = append(words, text[:n])
		text = text[n:]
	}
	return words
}

// Words are separated by | in what is wanted; no text here has one. An empty
// want is that of the pattern before.
func TestSplit(t *testing.T) {
	for _, tt := range []struct{ name, text, qwen2, llama3, gpt2 string }{
		{"empty", "", "", "", ""},
		{"words", "Hello world", "Hello| world", "", ""},
		{"punctuation", "Hello, world!", "Hello|,| world|!", "", ""},
		{"punctuation before a letter goes with it", "(foo)", "(foo|)", "", "(|foo|)"},
		{"digits", "x12345 678", "x|1|2|3|4|5| |6|7|8", "x|123|45| |678", "x|12345| 678"},
		{"other numbers", "½Ⅷ١", "½|Ⅷ|١", "½Ⅷ١", "½Ⅷ١"},
		{"contractions", "it's we'll I'd", "it|'s| we|'ll| I|'d", "", ""},
		{"contractions in capitals", "IT'S WE'LL", "IT|'S| WE|'LL", "", "IT|'|S| WE|'|LL"},
		{"mixed capitals", "we'Re I'vE", "we|'Re| I|'vE", "", "we|'|Re| I|'|vE"},
		{"a contraction goes before a word", "'save 'rest", "'s|ave| '|rest", "'s|ave| '|rest", ""},
		{"quoted", "'hello'", "'hello|'", "", "'|hello|'"},
		{"spaces", "a  b   c", "a| | b|  | c", "", ""},
		{"spaces before digits", "a   1", "a|  | |1", "", "a|  | 1"},
		{"spaces at the end", "a   ", "a|   ", "", ""},
		{"one space at the end", "a ", "a| ", "", ""},
		{"tab before a word", "a\tb", "a|\tb", "", "a|\t|b"},
		{"two tabs", "a\t\tb", "a|\t|\tb", "", "a|\t|\t|b"},
		{"newline before a word", "a\nb", "a|\n|b", "", ""},
		{"newlines", "a\n\n\nb", "a|\n\n\n|b", "", "a|\n\n|\n|b"},
		{"spaces around newlines", "a  \n \n  b", "a|  \n \n| | b", "", "a|  \n \n | b"},
		{"newlines behind punctuation", "a.\r\n\nb", "a|.\r\n\n|b", "", "a|.|\r\n|\n|b"},
		{"space and punctuation", "a == b", "a| ==| b", "", ""},
		{"no-break space", "a\u00a0b", "a|\u00a0b", "", "a|\u00a0|b"},
		{"next line is white space", "a\u0085\u0085", "a|\u0085\u0085", "", ""},
		{"chinese", "你好,世界。", "你好|,世界|。", "", "你好|,|世界|。"},
		{"japanese", "これ は", "これ| は", "", ""},
		{"combining mark is no letter", "e\u0301a b\u0301", "e|\u0301a| b|\u0301", "", "e|\u0301|a| b|\u0301"},
		{"emoji joined", "hi 👩\u200d💻!", "hi| 👩\u200d💻!", "", ""},
		{"not UTF-8", "a\xff\xfeb", "a|\xff\xfe|b", "", ""},
		{"cut character", "é\xc3", "é|\xc3", "", ""},
	} {
		for name, want := range map[string]string{"qwen2": tt.qwen2, "llama-bpe": tt.llama3, "gpt-2": tt.gpt2} {
			if want == "" {
				want = tt.qwen2
			}
			p, err := preTokenizerNamed(name)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(split(p, tt.text), "|"); got != want {
				t.Errorf("%s, %s: %q\ngot  %q\nwant %q", tt.name, name, tt.text, got, want)
			}
		}
	}
}

// Marks are of a word's letters.
func TestSplitMarks(t *testing.T) {
	p, err := preTokenizerNamed("qwen35")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"e\u0301a b\u0301":   "e\u0301a| b\u0301",
		"नमस्ते दुनिया":      "नमस्ते| दुनिया",
		"\u0301 12 .\u0301a": "\u0301| |1|2| .|\u0301a",
		"Hello, world!\n":    "Hello|,| world|!\n",
	} {
		if got := strings.Join(split(p, text), "|"); got != want {
			t.Errorf("%q\ngot  %q\nwant %q", text, got, want)
		}
	}
}

// FuzzSplit: the words are those of the pattern.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"", "I've 12345 apples,  don't\tyou?\r\n\r\n  'LL 'save", "a\u00a0 \u2003\n\u0085 b", "世界 ½ٱ١e\u0301 👩\u200d💻\u00ad",
		"x \n \n", " \t \r", "\xff'\xc3s \xe4\xb8", "'ſ 'K \u1680\u180e\u200b\u2028\u3000z", "  '", "!?\n\n a", "\v\f\x1c\x1d\x85",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// The pattern sees characters: one for each byte that is not UTF-8.
		text = string([]rune(text))
		for _, p := range preTokenizers {
			var want []string
			for m, err := patterns[p.name].FindStringMatch(text); m != nil; m, err = patterns[p.name].FindNextMatch(m) {
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, m.String())
			}
			if got := split(p, text); !slices.Equal(got, want) {
				t.Errorf("%s: %q\ngot  %q\nwant %q", p.name, text, got, want)
			}
		}
	})
}

// Every character of the first two planes, where all white space and most
// letters and numbers are, has the class that the patterns give it.
func TestClasses(t *testing.T) {
	require.Unraced(t, "one thread computes it")
	classes := map[class]*regexp2.Regexp{
		mark:    regexp2.MustCompile(`^\p{M}$`, regexp2.None),
		letter:  regexp2.MustCompile(`^\p{L}$`, regexp2.None),
		number:  regexp2.MustCompile(`^\p{N}$`, regexp2.None),
		space:   regexp2.MustCompile(`^[^\S\r\n]$`, regexp2.None),
		newline: regexp2.MustCompile(`^[\r\n]\z`, regexp2.None),
	}
	for r := rune(0); r < 0x20000; r++ {
		want := other
		for c, re := range classes {
			if ok, err := re.MatchString(string(r)); err != nil {
				t.Fatal(err)
			} else if ok {
				want = c
			}
		}
		if got, n := reading(mark).first(string(r) + "x"); got != want || n != len(string(r)) {
			t.Errorf("%U: class %d of %d bytes, want %d of %d", r, got, n, want, len(string(r)))
		}
	}
}
