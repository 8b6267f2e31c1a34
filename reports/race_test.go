//go:build race

package reports_test

import (
	"onebit/reports/reportstest"
)

func init() { reportstest.RaceDetector = true }
