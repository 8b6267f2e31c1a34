//go:build race

package reports

func init() { raceDetector = true }
