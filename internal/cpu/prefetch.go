package cpu

// PrefetchL2 says that kernels are to fetch weights that are ahead into level 2. A core of
// AMD waits for fewer lines at once in level 1 than memory has under way; fetched
// into level 2, they do not count. Intel's gets least of that
// (docs/measurements/kernels.md). It is the one thing that the CPU's vendor
// decides behind a variant's name: a hint, on which no result depends.
func PrefetchL2() bool { return Host().Vendor == "AuthenticAMD" }
