package vectors

var archVariants []*Variant
