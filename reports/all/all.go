// Package all imports every kind of report, so that onebit/reports builds the documents of all of them.
package all

import (
	_ "onebit/reports/compare"
	_ "onebit/reports/fleet"
	_ "onebit/reports/gate"
	_ "onebit/reports/history"
	_ "onebit/reports/kernels"
	_ "onebit/reports/machine"
	_ "onebit/reports/models"
	_ "onebit/reports/profile"
	_ "onebit/reports/training"
)
