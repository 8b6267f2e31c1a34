//go:build race

package cases

func init() { raceDetector = true }
