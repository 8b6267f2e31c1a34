package formats

// I2_S_ARM is I2_S as bitnet.cpp's own quantizer packs it when it runs on ARM.
// Nothing in a file tells it from [I2_S], which is what ARM machines also find
// in files that a converter wrote: it is never assumed, only chosen by a
// person. (A file name ending in _arm would build for that architecture only.)
var I2_S_ARM = register(i2sBlocks("i2_s_arm", "i2_s in blocks of 64, as quantized on ARM", 16))
