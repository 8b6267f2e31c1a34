package results

import (
	"fmt"
	"slices"
	"strings"
)

// ModelsKey is the setting that says which weights a run's models have: words
// NAME=DIGEST, where NAME is the value of the key model in names. A name is a
// file's, and says nothing of what is in the file.
const ModelsKey = "models"

// modelKey is the key of the names of cases that ModelsKey is about.
const modelKey = "model"

// digestShown is how much of a digest tells models of one name apart.
const digestShown = 8

// ModelApart is what a model is called that shares its name with other weights.
func ModelApart(name, digest string) string {
	return name + "@" + digest[:min(digestShown, len(digest))]
}

// Model is whose case it is, "" if it is no model's.
func (n Name) Model() string { return n.Get(modelKey) }

// Apart is a case's name with its model told apart by the digest of the weights.
func (n Name) Apart(digest string) Name {
	return n.with(modelKey, ModelApart(n.Model(), digest))
}

// A weighed is a word of the setting.
type weighed struct{ model, digest string }

func parseModels(value string) (all []weighed) {
	for word := range strings.FieldsSeq(value) {
		if i := strings.LastIndexByte(word, '='); i > 0 && i+1 < len(word) {
			all = append(all, weighed{word[:i], word[i+1:]})
		}
	}
	return all
}

func formatModels(all []weighed) string {
	words := make([]string, len(all))
	for i, w := range all {
		words[i] = w.model + "=" + w.digest
	}
	return strings.Join(words, " ")
}

// ModelDigests are the digests of models by name, of a value of ModelsKey.
func ModelDigests(value string) map[string]string {
	digests := make(map[string]string)
	for _, w := range parseModels(value) {
		digests[w.model] = w.digest
	}
	return digests
}

// Namesakes finds models that have one name and different weights.
type Namesakes struct {
	names   []string // in the order in which they were added
	digests map[string][]string
	seen    map[weighed]bool
}

// Add adds a model. One whose weights are not known is nobody's namesake.
func (n *Namesakes) Add(name, digest string) {
	w := weighed{name, digest}
	if digest == "" || n.seen[w] {
		return
	}
	if n.seen == nil {
		n.digests, n.seen = make(map[string][]string), make(map[weighed]bool)
	}
	n.seen[w] = true
	if n.digests[name] == nil {
		n.names = append(n.names, name)
	}
	n.digests[name] = append(n.digests[name], digest)
}

// Of returns the digests of the models of a name, nil if they have the same weights.
func (n *Namesakes) Of(name string) []string {
	if len(n.digests[name]) < 2 {
		return nil
	}
	return n.digests[name]
}

// Names are those of models with different weights.
func (n *Namesakes) Names() []string {
	return slices.DeleteFunc(slices.Clone(n.names), func(name string) bool { return n.Of(name) == nil })
}

// TellApart gives models that have one name and different weights, in one of the
// results or across them, names of their own, so that nobody pools or compares
// what is not the same: model=NAME becomes model=NAME@DIGEST. It says so in a line
// for each such name. Results that do not say which weights they are of keep
// their names.
func TellApart(all ...*Set) (said []string) {
	var models Namesakes
	for _, r := range all {
		for _, s := range r.Samples {
			models.Add(s.Name.Model(), s.Weights)
		}
	}
	for _, name := range models.Names() {
		var apart []string
		for _, digest := range models.Of(name) {
			apart = append(apart, ModelApart(name, digest))
		}
		said = append(said, fmt.Sprintf("%s is the name of models with different weights, which are told apart as %s", name, strings.Join(apart, " and ")))
	}
	if len(said) > 0 {
		for _, r := range all {
			r.renameModels(&models)
		}
	}
	return said
}

// renameModels adds their digests to the names of models that are told apart.
func (r *Set) renameModels(models *Namesakes) {
	header := parseModels(r.Setting(ModelsKey))
	digests := ModelDigests(r.Setting(ModelsKey))
	rename := func(n *Name, digest string) {
		if digest != "" && models.Of(n.Model()) != nil {
			*n = n.Apart(digest)
		}
	}
	for i := range r.Samples {
		rename(&r.Samples[i].Name, r.Samples[i].Weights)
	}
	for i := range r.Failures {
		rename(&r.Failures[i].Name, digests[r.Failures[i].Name.Model()])
	}
	for i, w := range header {
		if models.Of(w.model) != nil {
			header[i].model = ModelApart(w.model, w.digest)
		}
	}
	for i, s := range r.Settings {
		if s.Key == ModelsKey {
			r.Settings[i].Value = formatModels(header)
		}
	}
}
