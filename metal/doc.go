// Package metal calls Apple's Metal without cgo: devices, buffers, shaders
// compiled from source, and commands.
//
//	Open ─▶ Device ──NewBuffer, Wrap──▶ Buffer
//	        Device ──Compile──▶ Library ──Pipeline──▶ Pipeline
//	        Device ──NewCommands──▶ Commands: Use, SetBuffer, SetBytes, Dispatch … Commit, Wait
//
// The Objective-C runtime is called through purego. Where it is opened is the
// one thing that differs between macOS and Linux, where the tests run this code
// against libraries that play it: package metal/softmetal/frameworks.
//
// # Memory
//
// All buffers are shared between processor and GPU. What commands use belongs
// to the GPU from [Commands.Commit] to [Commands.Wait]: between them the host
// neither reads nor writes it. A [Buffer] may be closed before the commands that
// use it are done, for they hold it themselves; memory that was wrapped must
// stay mapped until then.
//
// The caller closes what it opened, a [Device] last. Closing twice does
// nothing.
package metal
