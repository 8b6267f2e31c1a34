package term

import "testing"

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"": "''", "a/b-c_1.txt,x:y=z": "a/b-c_1.txt,x:y=z", "a b": "'a b'", "it's $HOME": `'it'\''s $HOME'`,
	} {
		if got := ShellWord(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
