package metal

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Facts of the public headers of Foundation and Metal, macOS 15: who answers to a
// selector, one class or several, and what constants are. They are from there, and from nothing here.
var (
	selectors = map[string]string{
		"retain": "NSObject", "release": "NSObject", "autorelease": "NSObject", "new": "+NSObject",
		"stringWithUTF8String:": "+NSString", "UTF8String": "NSString", "lengthOfBytesUsingEncoding:": "NSString",
		"code": "NSError", "localizedDescription": "NSError",
		"name": "MTLDevice MTLCounterSet", "maxBufferLength": "MTLDevice", "recommendedMaxWorkingSetSize": "MTLDevice",
		"maxThreadgroupMemoryLength": "MTLDevice", "maxThreadsPerThreadgroup": "MTLDevice", "currentAllocatedSize": "MTLDevice",
		"supportsFamily:": "MTLDevice", "newCommandQueue": "MTLDevice", "newBufferWithLength:options:": "MTLDevice",
		"newBufferWithBytesNoCopy:length:options:deallocator:": "MTLDevice", "newLibraryWithSource:options:error:": "MTLDevice",
		"newComputePipelineStateWithFunction:error:": "MTLDevice",
		"setFastMathEnabled:":                        "MTLCompileOptions",
		"setConstantValue:type:atIndex:":             "MTLFunctionConstantValues",
		"newFunctionWithName:constantValues:error:":  "MTLLibrary",
		"maxTotalThreadsPerThreadgroup":              "MTLComputePipelineState", "threadExecutionWidth": "MTLComputePipelineState",
		"contents": "MTLBuffer", "length": "MTLBuffer NSData",
		"commandBuffer":         "MTLCommandQueue",
		"computeCommandEncoder": "MTLCommandBuffer", "computeCommandEncoderWithDispatchType:": "MTLCommandBuffer", "commit": "MTLCommandBuffer", "waitUntilCompleted": "MTLCommandBuffer",
		"status": "MTLCommandBuffer", "error": "MTLCommandBuffer", "GPUStartTime": "MTLCommandBuffer", "GPUEndTime": "MTLCommandBuffer",
		"setComputePipelineState:": "MTLComputeCommandEncoder", "setBuffer:offset:atIndex:": "MTLComputeCommandEncoder",
		"setBytes:length:atIndex:": "MTLComputeCommandEncoder", "setThreadgroupMemoryLength:atIndex:": "MTLComputeCommandEncoder",
		"dispatchThreadgroups:threadsPerThreadgroup:": "MTLComputeCommandEncoder", "dispatchThreads:threadsPerThreadgroup:": "MTLComputeCommandEncoder",
		"memoryBarrierWithScope:": "MTLComputeCommandEncoder",
		"endEncoding":             "MTLCommandEncoder",
		"counterSets":             "MTLDevice", "supportsCounterSampling:": "MTLDevice", "newCounterSampleBufferWithDescriptor:error:": "MTLDevice",
		"count": "NSArray", "objectAtIndex:": "NSArray", "bytes": "NSData",
		"setCounterSet:": "MTLCounterSampleBufferDescriptor", "setSampleCount:": "MTLCounterSampleBufferDescriptor", "setStorageMode:": "MTLCounterSampleBufferDescriptor",
		"resolveCounterRange:":  "MTLCounterSampleBuffer",
		"computePassDescriptor": "+MTLComputePassDescriptor", "setDispatchType:": "MTLComputePassDescriptor", "sampleBufferAttachments": "MTLComputePassDescriptor",
		"objectAtIndexedSubscript:": "MTLComputePassSampleBufferAttachmentDescriptorArray",
		"setSampleBuffer:":          "MTLComputePassSampleBufferAttachmentDescriptor", "setStartOfEncoderSampleIndex:": "MTLComputePassSampleBufferAttachmentDescriptor",
		"setEndOfEncoderSampleIndex:":                       "MTLComputePassSampleBufferAttachmentDescriptor",
		"computeCommandEncoderWithDescriptor:":              "MTLCommandBuffer",
		"sampleCountersInBuffer:atSampleIndex:withBarrier:": "MTLComputeCommandEncoder",
	}
	// By the name that the constant has in this package.
	constants = map[string]struct {
		name  string
		value int64
	}{
		"Apple5": {"MTLGPUFamilyApple5", 1005}, "Apple6": {"MTLGPUFamilyApple6", 1006}, "Apple7": {"MTLGPUFamilyApple7", 1007},
		"Apple8": {"MTLGPUFamilyApple8", 1008}, "Apple9": {"MTLGPUFamilyApple9", 1009}, "Metal3": {"MTLGPUFamilyMetal3", 5001},
		"sharedStorage": {"MTLResourceStorageModeShared", 0 << 4},
		"typeFloat":     {"MTLDataTypeFloat", 3}, "typeInt": {"MTLDataTypeInt", 29}, "typeUInt": {"MTLDataTypeUInt", 33}, "typeBool": {"MTLDataTypeBool", 53},
		"dispatchSerial": {"MTLDispatchTypeSerial", 0}, "dispatchConcurrent": {"MTLDispatchTypeConcurrent", 1}, "scopeBuffers": {"MTLBarrierScopeBuffers", 1},
		"statusCompleted": {"MTLCommandBufferStatusCompleted", 4},
		"codeTimeout":     {"MTLCommandBufferErrorTimeout", 2}, "codeAccessRevoked": {"MTLCommandBufferErrorAccessRevoked", 4},
		"codeOutOfMemory": {"MTLCommandBufferErrorOutOfMemory", 8}, "codeDeviceRemoved": {"MTLCommandBufferErrorDeviceRemoved", 11},
		"encodingUTF8":  {"NSUTF8StringEncoding", 4},
		"stageBoundary": {"MTLCounterSamplingPointAtStageBoundary", 0}, "dispatchBoundary": {"MTLCounterSamplingPointAtDispatchBoundary", 2},
		"modeShared": {"MTLStorageModeShared", 0},
		"maxSamples": {"the time stamps in the 32 KiB of a sample buffer", 4096}, "MaxSpans": {"half of them", 2048},
		// Of Metal's feature set tables and documentation, for GPUs of Apple.
		"offsetUnit": {"the least alignment of an argument", 4}, "maxBytes": {"the most bytes of setBytes", 4096},
		"maxIndex": {"the last of 31 buffers", 30}, "maxCommands": {"the command buffers of a queue", 64},
	}
)

// files parses what the package is built from.
func files(t *testing.T) (*token.FileSet, []*ast.File) {
	t.Helper()
	set := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || name == "open_darwin.go" {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return set, out
}

// sent returns the selector that a call sends, and its other arguments.
func sent(call *ast.CallExpr) (selector string, words []ast.Expr, ok bool) {
	method, isMethod := call.Fun.(*ast.SelectorExpr)
	at := map[string]int{"send": 1, "sendBool": 1, "sel": 0, "dispatch": 0}
	if !isMethod {
		return "", nil, false
	}
	i, sends := at[method.Sel.Name]
	if !sends || len(call.Args) <= i {
		return "", nil, false
	}
	literal, isLiteral := call.Args[i].(*ast.BasicLit)
	if !isLiteral || literal.Kind != token.STRING {
		return "", nil, false
	}
	selector, err := strconv.Unquote(literal.Value)
	if method.Sel.Name == "send" || method.Sel.Name == "sendBool" {
		words = call.Args[i+1:]
	}
	return selector, words, err == nil
}

// Every message that the package sends is one of the headers', with as many arguments.
func TestSelectors(t *testing.T) {
	set, parsed := files(t)
	count := 0
	for _, f := range parsed {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			selector, words, ok := sent(call)
			if !ok {
				return true
			}
			count++
			if selectors[selector] == "" {
				t.Errorf("%s: %s is not in the table of Apple's headers", set.Position(call.Pos()), selector)
			} else if want := strings.Count(selector, ":"); words != nil && len(words) != want {
				t.Errorf("%s: %s has %d arguments, not %d", set.Position(call.Pos()), selector, want, len(words))
			}
			return true
		})
	}
	if count < 30 {
		t.Errorf("%d messages were found: the test does not read them any more", count)
	}
}

// What is played answers to the messages of the headers, and to no others.
func TestPlayedSelectors(t *testing.T) {
	method := regexp.MustCompile(`(?:METHOD\(|\{)"(\+?)(\w+)", "([\w:]+)",`)
	count := 0
	for _, name := range []string{"objc.cpp", "metal.cpp"} {
		source, err := os.ReadFile(filepath.Join("softmetal", "frameworks", "played", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range method.FindAllStringSubmatch(string(source), -1) {
			count++
			class := selectors[m[3]]
			own := slices.Contains(strings.Fields(class), m[1]+m[2]) || class == m[1]+"NSObject" || class == "MTLCommandEncoder" && strings.HasSuffix(m[2], "CommandEncoder")
			if !own {
				t.Errorf("%s: %s%s answers to %s, which is of %q", name, m[1], m[2], m[3], class)
			}
		}
	}
	if count < 40 {
		t.Errorf("%d methods were found: the test does not read them any more", count)
	}
}

// The package's constants are the headers'; one that is Apple's stands in the table.
func TestConstants(t *testing.T) {
	set, parsed := files(t)
	config := types.Config{Error: func(error) {}, Importer: nothing{}}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	config.Check("onebit/metal", set, parsed, info) // whose errors are of imports
	found := map[string]bool{}
	for id, object := range info.Defs {
		c, ok := object.(*types.Const)
		if !ok || object.Parent() != object.Pkg().Scope() {
			continue
		}
		found[id.Name] = true
		want, known := constants[id.Name]
		if got, exact := constant.Int64Val(constant.ToInt(c.Val())); !known || !exact || got != want.value {
			t.Errorf("%s: %s is %v; %s is %d", set.Position(id.Pos()), id.Name, c.Val(), want.name, want.value)
		}
	}
	for name := range constants {
		if !found[name] {
			t.Errorf("there is no constant %s", name)
		}
	}
}

// nothing imports nothing: constants need no other package.
type nothing struct{}

func (nothing) Import(string) (*types.Package, error) { return nil, errors.New("not imported") }
