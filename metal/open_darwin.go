package metal

// Open opens the default device of this Mac. The error wraps [ErrNoDevice] if
// it has none.
func Open() (*Device, error) {
	return OpenFrameworks(Frameworks{
		ObjC:  "/usr/lib/libobjc.A.dylib",
		Metal: "/System/Library/Frameworks/Metal.framework/Metal",
		Also: []string{
			"/System/Library/Frameworks/Foundation.framework/Foundation",
			"/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics",
		},
	})
}
