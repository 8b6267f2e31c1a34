// Package enginetest holds an engine to what package engine promises: each
// operation against package engine/plain, whole models against the independent
// forward pass of package modeltest, and the contract of streams: the same bits
// in any batch, going back, observers, errors that name the file.
//
// An engine's test is one call of [Run].
package enginetest
