package models

import (
	"onebit/formats"
	"onebit/formats/gguf"
	"onebit/models/engine"
)

// Options are the choices in opening a model. The zero value is right for a
// program that just wants to run one.
type Options struct {
	// Engine opens what computes: the options of an engine, such as cpu.Options of package
	// engine/cpu. Nil: the default of the engines that the program imports.
	Engine engine.Opener
	// Head is a format to convert the output head to, such as q8_0 for a
	// head in fp16. Nil: as it is. Model.HeadError says what that costs in
	// precision; in memory it is the new head, since the old one's pages are
	// released as it is read.
	Head *formats.Type
	// GGUF decides what a file leaves open.
	GGUF gguf.Options
}

func (o *Options) opener() (engine.Opener, error) {
	if o.Engine != nil {
		return o.Engine, nil
	}
	return engine.Default()
}
