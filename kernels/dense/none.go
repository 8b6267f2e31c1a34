package dense

var archVariants []*Variant
