//go:build softmetal

package main

import (
	"onebit/metal"
	"onebit/metal/softmetal/frameworks"
)

// With this tag the program plays Metal on Linux, in software: to see that what
// is written for Metal works, not how fast it is. It is linked dynamically then.
func init() {
	metal.Provide(func() (metal.Frameworks, error) { return frameworks.Load() })
}
