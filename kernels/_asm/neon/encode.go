package neon

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// encodings are the instructions that Go's assembler lacks, with register and element 0 everywhere.
// TestARM64Encodings of kernels has LLVM decode what they give.
var encodings = table(`
4ea08400 add v.4s, v.4s, v.4s
4ea0bc00 addp v.4s, v.4s, v.4s
4eb1b800 addv s, v.4s
4e601c00 bic v.16b, v.16b, v.16b
6f04b400 bic v.8h, #128, lsl #8
4e040400 dup v.4s, v.s[]
6e004000 ext v.16b, v.16b, v.16b, #8
4e60d400 fadd v.2d, v.2d, v.2d
4e20d400 fadd v.4s, v.4s, v.4s
7e30d800 faddp s, v.2s
6ea0e400 fcmgt v.4s, v.4s, v.4s
0e617800 fcvtl v.2d, v.2s
0e217800 fcvtl v.4s, v.4h
4e617800 fcvtl2 v.2d, v.4s
4e217800 fcvtl2 v.4s, v.8h
0e216800 fcvtn v.4h, v.4s
4e216800 fcvtn2 v.8h, v.4s
4e21a800 fcvtns v.4s, v.4s
6e20fc00 fdiv v.4s, v.4s, v.4s
4e20f400 fmax v.4s, v.4s, v.4s
4e20c400 fmaxnm v.4s, v.4s, v.4s
6e30c800 fmaxnmv s, v.4s
4ea0f400 fmin v.4s, v.4s, v.4s
4e20cc00 fmla v.4s, v.4s, v.4s
4f801000 fmla v.4s, v.4s, v.s[]
6e60dc00 fmul v.2d, v.2d, v.2d
6e20dc00 fmul v.4s, v.4s, v.4s
4f809000 fmul v.4s, v.4s, v.s[]
6ea0f800 fneg v.4s, v.4s
4ea0d400 fsub v.4s, v.4s, v.4s
4cc08000 ld2 { v.16b, v.16b }, [x], x
4ea09400 mla v.4s, v.4s, v.4s
6f800000 mla v.4s, v.4s, v.s[]
4ea01c00 mov v.16b, v.16b
4f04e420 movi v.16b, #129
4ea09c00 mul v.4s, v.4s, v.4s
4f808000 mul v.4s, v.4s, v.s[]
6ea0b800 neg v.4s, v.4s
4e606800 sadalp v.4s, v.8h
4e206800 sadalp v.8h, v.16b
4e602800 saddlp v.4s, v.8h
4e202800 saddlp v.8h, v.16b
4e703800 saddlv s, v.8h
4e21d800 scvtf v.4s, v.4s
4e809400 sdot v.4s, v.16b, v.16b
4f80e000 sdot v.4s, v.16b, v.4b[]
4f375400 shl v.4s, v.4s, #23
2e613800 shll v.4s, v.4h, #16
6e613800 shll2 v.4s, v.8h, #16
4e206400 smax v.16b, v.16b, v.16b
0f402000 smlal v.4s, v.4h, v.h[]
0e208000 smlal v.8h, v.8b, v.8b
4f402000 smlal2 v.4s, v.8h, v.h[]
4e208000 smlal2 v.8h, v.16b, v.16b
4e80a400 smmla v.4s, v.16b, v.16b
0f40a000 smull v.4s, v.4h, v.h[]
0e20c000 smull v.8h, v.8b, v.8b
4e20c000 smull2 v.8h, v.16b, v.16b
0e614800 sqxtn v.4h, v.4s
0e214800 sqxtn v.8b, v.8h
4e214800 sqxtn2 v.16b, v.8h
4e614800 sqxtn2 v.8h, v.4s
0f10a400 sshll v.4s, v.4h, #0
0f08a400 sshll v.8h, v.8b, #0
4f10a400 sshll2 v.4s, v.8h, #0
4f08a400 sshll2 v.8h, v.16b, #0
4f3e1400 ssra v.4s, v.4s, #2
4f3c1400 ssra v.4s, v.4s, #4
4f1e1400 ssra v.8h, v.8h, #2
4f1c1400 ssra v.8h, v.8h, #4
6ea06400 umax v.4s, v.4s, v.4s
6e606400 umax v.8h, v.8h, v.8h
6e70a800 umaxv h, v.8h
6eb0a800 umaxv s, v.4s
`)

// table returns words by their forms.
func table(text string) map[string]uint32 {
	words := map[string]uint32{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		word, form, _ := strings.Cut(strings.TrimSpace(line), " ")
		v, err := strconv.ParseUint(word, 16, 32)
		if err != nil {
			panic(err)
		}
		words[form] = uint32(v)
	}
	return words
}

var (
	register = regexp.MustCompile(`\b([vshx])(\d+)`)
	element  = regexp.MustCompile(`\.(\w+)\[(\d+)\]`)
)

// encode returns the word of an instruction.
func encode(instruction string) (uint32, error) {
	form := register.ReplaceAllString(instruction, "$1")
	form = element.ReplaceAllString(form, ".$1[]")
	word, ok := encodings[form]
	if !ok {
		return 0, fmt.Errorf("%s: no encoding of %q", instruction, form)
	}
	var numbers []uint32
	for _, r := range register.FindAllStringSubmatch(instruction, -1) {
		n, err := strconv.ParseUint(r[2], 10, 5)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", instruction, err)
		}
		numbers = append(numbers, uint32(n))
	}
	switch mnemonic, _, _ := strings.Cut(form, " "); mnemonic {
	case "ld2":
		numbers = append(numbers[:1], numbers[2:]...) // the second register is the one behind the first
	case "mov":
		numbers = append(numbers, numbers[1]) // orr of a register with itself
	}
	for i, n := range numbers {
		word |= n << []int{0, 5, 16}[i]
	}
	e := element.FindStringSubmatch(instruction)
	if e == nil {
		return word, nil
	}
	i, err := strconv.ParseUint(e[2], 10, 3)
	return word | elementBits(form, e[1], uint32(i)), err
}

// elementBits is where an instruction has the number of an element.
func elementBits(form, size string, i uint32) uint32 {
	switch {
	case strings.HasPrefix(form, "dup"):
		return i << 19
	case size == "h":
		return i>>2<<11 | i>>1&1<<21 | i&1<<20
	}
	return i>>1<<11 | i&1<<21
}
