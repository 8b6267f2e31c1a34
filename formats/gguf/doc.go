// Package gguf reads and writes GGUF, the container of ggml's models.
package gguf
