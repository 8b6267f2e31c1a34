//go:build !((darwin || linux) && (amd64 || arm64))

package metal

func openLibrary(string) (uintptr, error) { return 0, errSystem }

func findSymbol(uintptr, string) (uintptr, error) { return 0, errSystem }
