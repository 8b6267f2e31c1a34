package train

// Float multiplies by the weights themselves.
var Float = registerForm(&Form{
	Name:     "float",
	Summary:  "float32 weights, not rounded",
	Rounding: NoRounding,
})
