// Package calibrate measures how often the gate is wrong.
//
// A module of 20 benchmarks of different kinds is gated against itself, and what
// every process measured is recorded, with when it started and how long it took
// (Record). The recorded noise is then played to gates again and again (Replay):
// to the gate it is a target as any other, with a clock that goes as the recorded
// processes took. A gate plays consecutive rounds from a random one on, so that
// drift and bursts stay as they were; which of a round's three builds is base,
// head or control is drawn anew, as a gate draws the layouts of its builds. A round has
// two passes when it is recorded, and is two rounds of a gate that measures one. In a
// case head's times are multiplied, and what that costs is added to the clock.
//
// Other methods judge the same rounds (rivals), and real binaries whose
// benchmarks have a known share of work added show that what is injected
// stands for what code does (Variant).
package calibrate
