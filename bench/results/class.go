package results

import "strings"

// Class returns the class of a case: those that are alike in how they are
// measured, and so in how they scatter. It is made of the values of the keys
// that the setting "classes" lists, such as "2 threads, cold", and is "" where
// there is no such setting. The arms of an A/A pair are of their case's class.
func (r *Set) Class(n Name) string { return ClassOf(n, r.Setting(ClassesKey)) }

// ClassesKey is the setting that lists the keys of a name that make its class,
// separated by spaces.
const ClassesKey = "classes"

// ComputedKey is the setting that says how many tokens before a test were computed,
// where there are more: those behind them have the same keys and values.
const ComputedKey = "depth-computed"

// ClassOf is the class of a case by some keys; see Set.Class.
func ClassOf(n Name, keys string) string {
	var parts []string
	for key := range strings.FieldsSeq(keys) {
		value := n.Get(key)
		switch {
		case value == "":
		case value == "1":
			parts = append(parts, "1 "+strings.TrimSuffix(key, "s"))
		case strings.Trim(value, "0123456789") == "":
			parts = append(parts, value+" "+key)
		default:
			parts = append(parts, value)
		}
	}
	return strings.Join(parts, ", ")
}
