package models_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"onebit/models"
	"onebit/models/arch"
	_ "onebit/models/engine/cpu"
	"onebit/models/synth"
	"onebit/models/tokenizer"
)

// A program that continues a text. The model is one with random weights here.
func Example() {
	path, remove := randomModel("tiny")
	defer remove()

	ctx := context.Background()
	model, err := models.Open(ctx, path, models.Options{}) // a GGUF file or a Hugging Face directory
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	words, err := model.Source().Tokenizer()
	if err != nil {
		log.Fatal(err)
	}
	session, err := model.NewSession(models.SessionOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	sampler, err := models.NewSampler(models.SamplerOptions{Temperature: 0.7, TopK: 40, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}

	prompt := words.Encode("Once upon a time", tokenizer.Options{AddSpecial: true})
	decoder, count := words.NewDecoder(), 0
	var text string
	for id, err := range session.Generate(ctx, prompt, sampler) {
		if err != nil {
			log.Fatal(err)
		}
		text += decoder.Next(id) // whole characters
		if count++; count == 8 || words.IsEnd(id) {
			break
		}
	}
	text += decoder.Flush()
	fmt.Println(count, "tokens; some text:", text != "")
	// Output: 8 tokens; some text: true
}

// randomModel writes a preset's model to a temporary file.
func randomModel(name string) (path string, remove func()) {
	preset, err := arch.LookupPreset(name)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "onebit")
	if err != nil {
		log.Fatal(err)
	}
	path = filepath.Join(dir, name+".gguf")
	file, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	if err := synth.Write(file, preset, 1); err != nil {
		log.Fatal(err)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
	return path, func() { os.RemoveAll(dir) }
}

// Three texts at once: each pass reads the weights once and takes every text a token
// further. One that ends leaves, and those that are left go on.
func ExampleGroup() {
	path, remove := randomModel("tiny")
	defer remove()
	ctx := context.Background()
	model, err := models.Open(ctx, path, models.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	group, err := model.NewGroup()
	if err != nil {
		log.Fatal(err)
	}
	defer group.Close()
	sampler, err := models.NewSampler(models.SamplerOptions{}) // greedy, so one will do for all
	if err != nil {
		log.Fatal(err)
	}

	var texts []*models.Session
	var next []int // token of each text
	for _, prompt := range [][]int{{5, 17, 250}, {3}, {99, 4}} {
		text, err := model.NewSession(models.SessionOptions{Context: 6})
		if err != nil {
			log.Fatal(err)
		}
		defer text.Close()
		logits, err := text.Prefill(ctx, prompt)
		if err != nil {
			log.Fatal(err)
		}
		id, err := sampler.Sample(logits)
		if err != nil {
			log.Fatal(err)
		}
		texts, next = append(texts, text), append(next, id)
	}
	for len(texts) > 0 {
		logits, err := group.Decode(texts, next)
		if err != nil {
			log.Fatal(err)
		}
		var left []*models.Session
		var ids []int
		for i, text := range texts {
			id, err := sampler.Sample(logits[i])
			if err != nil {
				log.Fatal(err)
			}
			if text.Position() < text.Context() {
				left, ids = append(left, text), append(ids, id)
			}
		}
		fmt.Println("decoded", len(texts), "and kept", len(left))
		texts, next = left, ids
	}
	// Output:
	// decoded 3 and kept 3
	// decoded 3 and kept 3
	// decoded 3 and kept 2
	// decoded 2 and kept 1
	// decoded 1 and kept 0
}
