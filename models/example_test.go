package models_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"onebit/formats/gguf"
	"onebit/models"
	"onebit/models/synth"
)

// A model runs on token ids: a session takes in a prompt and yields tokens.
func Example() {
	preset, err := models.LookupPreset("tiny")
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := synth.Write(&file, preset, 1); err != nil {
		log.Fatal(err)
	}
	parsed, err := gguf.Parse(file.Bytes(), "tiny.gguf", gguf.Options{})
	if err != nil {
		log.Fatal(err)
	}
	model, err := models.New(parsed, models.Options{}) // models.Open for a path
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	session, err := model.NewSession(models.SessionOptions{Context: 64})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	sampler, err := models.NewSampler(models.SamplerOptions{Temperature: 0.7, TopK: 40, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	prompt := []int{1, 2, 3, 4, 5}
	var ids []int
	for id, err := range session.Generate(context.Background(), prompt, sampler) {
		if err != nil {
			log.Fatal(err)
		}
		if ids = append(ids, id); len(ids) == 8 {
			break
		}
	}
	fmt.Println(len(ids), "tokens, position", session.Position())
	// Output: 8 tokens, position 12
}
