// Package kernels multiplies packed 1-bit and ternary weight matrices with
// activation vectors: matvec for one token, small-batch matmul for several.
//
// # The pieces
//
//	Variant      one implementation of the products of one weight format
//	             under one activation scheme; listed by Variants, found by
//	             Lookup, chosen for this machine by Best
//	Layout       how the weights lie in memory: Native (the file's bytes) or packed
//	Matrix       a weight matrix in a layout, made by Variant.Pack
//	Scheme       of the activations: f32, q8_row, q8_128, q8_32
//	Activations  the quantized columns of one submission
//	Order        the arrangement of quantized activations that a kernel wants
//	Pool         the threads, and the products run on them
//
// A program that multiplies:
//
//	v, err := kernels.Best(tensor.Type.Name)
//	pool := kernels.NewPool(0)
//	defer pool.Close()
//	m, err := v.Pack(tensor, pool)
//	defer m.Close()
//	pool.MatVec(y, v, m, x)
//
// # What every variant computes
//
// A weight is scale × code, an activation scale × q. A group is a run of
// columns in which neither scale changes. For integer schemes
//
//	y[r] = Σ_g (weightScale[r,g] · activationScale[g]) · float32(Σ_{k∈g} code[r,k]·q[k])
//
// The inner sum is an exact int32. The two products are each rounded to
// float32 and the terms added in the order of g, from 0, without fused
// multiply-add. So results are equal to the bit on every ISA, for every
// thread count and every batch size; the variant scalar is the specification,
// and kernels/kerneltest holds all others to it.
//
// Under f32 the inner sum is a float one and its order matters too: column k
// of a group is added to lane k mod 32, products rounded before they are
// added, and the 32 lanes are folded in halves (16, 8, 4, 2, 1).
//
// int32 is wide enough: |code·q| ≤ 3·127, so a row may have 5.6 million columns;
// the codes of q8_0 and q6_k are larger, but their groups have at most 32 and
// 256 columns.
//
// # Activations that are not finite
//
// A group that holds an infinity or a NaN gets the scale NaN, so the results
// it reaches are NaN: an error upstream is not hidden by the quantization. Under
// q8_32, whose scales are fp16, the same is true of activations beyond 8.3e6: see
// Q8Per32.
//
// # Layouts
//
// Native layouts are drawn in the documentation of package formats. The
// packed ones:
//
//	bitplanes   q1_0_g128; 16 rows × 128 columns in 288 bytes, no larger than
//	            native. Byte 4r+t (r = row in tile, t = 0..3) of a 64-byte
//	            vector v holds column 32v + 4j + t of row r at bit j:
//
//	            vector 0        vector 1        vector 2        vector 3        16 fp16 scales
//	            64 B: k 0…31    64 B: k 32…63   64 B: k 64…95   64 B: k 96…127  32 B
//
//	            Rows lie in dword lanes: a dot product of bytes leaves 16 row
//	            sums without a horizontal addition, and 16 scales convert at once.
//
//	rows64      q1_0_g128; 64 rows × 128 columns in 1152 bytes. Byte p of vector v
//	            is columns 8v … 8v+7 of row 8·g + p mod 8, where g is number p/8 of
//	            0 4 1 5 2 6 3 7: bytes interleaved within 128 bits and widened
//	            are then rows in sequence.
//
//	            vector 0      …   vector 15          64 fp16 scales
//	            64 B: k 0…7       64 B: k 120…127    128 B
//
//	rows128     q1_0_g128; 128 rows × 128 columns in 2304 bytes: 8 groups of four
//	            vectors. Vector v of a group has 16 columns of rows 32v … 32v+31
//	            as an int16 each, as the file has them; even ones are the first
//	            16 rows, which one VPMADDWD widens in sequence.
//
//	            group 0            …   group 7                128 fp16 scales
//	            4 × 64 B: k 0…15       4 × 64 B: k 112…127    256 B
//
//	words       i2_s_x4, whose bytes hold four rows each: rows as ternary_u32
//	            has them, ceil(cols/16) words.
//
//	tq2_0       tq1_0, whose digits are base 3: blocks as tq2_0 has them.
//
// 2-bit formats are otherwise multiplied in place. One kernel serves all their
// byte orders, because the activations are arranged and not the weights: an
// Order puts beside each vector of weight bytes the four vectors of activations
// that its codes at shifts 0, 2, 4 and 6 belong to.
//
// Packing 256 MiB of a file on a Zen 4, GB/s of the file's bytes with one thread and
// with two, and in percent of a copy; then into pages that the operating system
// has yet to clear. In brackets the loops in Go, which other machines run:
//
//	go test ./kernels -run '^$' -bench BenchmarkPack
//
//	                        1 thread          2 threads    new pages
//	bitplanes   AVX2        6.4        44%    8.7   50%    3.7  5.2
//	rows64      AVX2        4.1 [1.1]  30%    6.4   37%    2.8  4.6
//	rows128     AVX2        3.4 [1.3]  25%    5.5   36%    2.9  4.5
//	words       AVX2        4.7 [0.9]  36%    6.2   35%    3.9  5.5
//	tq2_0       AVX2        6.3 [0.9]  45%    9.8   55%    3.1  6.4
//
// The copy does not read what it overwrites, packing does: 9 GB/s are 27 GB/s of
// memory traffic, of 34. The line of rows128 is from before it fetched the next 32 rows
// ahead, which made 4.0 of 2.9 with one thread and 6.7 of 5.2 with two, in turns on a busy
// machine. NEON packs bitplanes, 112 vector instructions for 4 rows of
// 128 columns; nobody has timed it. Prefetching the tile that follows made bitplanes slower
// (5.6 with one thread).
//
// # NEON
//
// The arm64 kernels equal scalar to the bit under emulation (qemu's cortex-a72
// without dot products, neoverse-n1 with them, max with SMMLA). No arm64
// machine has timed them. What is known is how many instructions 128 weights
// of one column take, counted in the loops of *_arm64.s with scales, sums,
// loads and prefetches; in brackets those that occupy a vector unit:
//
//	                                    neon          neondot       neoni8mm, columns at once
//	                                                                2      4      8
//	q1_0_g128   bit planes, q8_128      30.4 (28.4)   20.7 (18.7)   16.6   11.8   9.8
//	            bit planes, q8_32       37.8 (35.0)   29.1 (26.3)
//	            native, q8_128          37.0 (30.0)   30.3 (23.3)
//	            native, q8_32           42.0 (35.3)   35.3 (28.5)
//	i2_s, ternary_u32, q8_row           34.5 (27.0)   22.5 (16.0)   15.8    9.9   7.4
//	tq2_0, q8_row                       41.1 (30.8)   32.6 (22.3)
//	q2_0_g128, q8_128                   46.8 (33.5)   37.8 (24.5)
//	q2_0, q8_128                        58.0 (39.0)   48.0 (29.0)
//
// Batches of the 2-bit formats with dot products only, all instructions:
//
//	                                    4      8      16 columns at once
//	i2_s, ternary_u32, q8_row           16.0   12.0   10.5
//	tq2_0, q8_row                       17.6   13.3   11.7
//	q2_0_g128, q8_128                   19.2   14.6   12.8
//	q2_0, q8_128                        22.5   17.2   15.1
//
// Why they are as they are:
//
//   - 16 weights take two vector instructions with SDOT in every format: a
//     mask (CMTST makes 0 or -1 of a bit, AND leaves a 2-bit code in its
//     place) and the product. Bit planes select four activations by element;
//     native rows have them arranged.
//   - Native rows of q1_0_g128 pay for three pairwise additions and four gathered
//     scales per 4 × 128 weights, nothing else. They start at once, so repacking
//     is worth little here.
//   - SDOT is signed. A code of 2 at the top of its byte would be -128, so the
//     top codes are shifted down, which takes the place of their mask. Codes
//     left in place need a sum for each shift; blocks of 64 or 128 columns are
//     too short for that, their codes are shifted down.
//   - Without SDOT a bit's mask selects its activation (AND) and SADALP adds
//     to 16 bits. The alternative, SMLAL by the mask, is as many instructions on
//     the one multiplier that small cores have.
//   - SMMLA wants 8 columns of 2 rows in a register: 4 rows × 8 columns are 8
//     registers of sums, 8 of results and 8 of masks, all that there are.
//   - In batches by SDOT 4 rows lie in the lanes, and the activations of 4 columns
//     in a register, an element of it for each product. 6 instructions expand a
//     dword of 4 rows for 16 SDOT, 32 or 64.
//   - Without SDOT columns go one by one: 16 of the 27 vector instructions are
//     SMLAL, and in a batch each two of them would want an activation spread first.
//   - Table look-ups (TBL by 4 bits) need two tables, because the sum of four
//     activations has 10 bits, and four widening additions: 7 instructions
//     for 64 weights where the planes take 8, on tables made for each column.
//     Not tried.
//   - Float heads have no batches: 32 weights of f16 or bf16 take 24 vector
//     instructions, 8 of them to become float32. Two columns that share those
//     have 20 each, of f32 still 16; the lanes of a third fit no register.
//   - The prefetch distance of 4 KiB is taken from x86, where 2 to 8 KiB differ
//     little.
//
// # 2-bit formats on amd64
//
// One thread of the same machine, 2048 columns, GB/s of weights from L2, by CPU
// time on a busy machine; the instruction counts of the loops explain the order:
//
//	go test ./kernels -run '^$' -bench 'BenchmarkTwoBit/'
//
//	              avx2    avxvnni    avx512vnni
//	i2_s          25      39         51
//	i2_s_arm      25      39         52
//	ternary_u32   26      38         52
//	tq2_0         21      25         29
//	q2_0_g128     17.5    20         26
//	q2_0          15.5    19         22
//
// Why they are as they are:
//
//   - Codes are masked in place (0x03, 0x0C, 0x30, 0xC0) and summed apart; the
//     four sums are shifted and added once a row. A mask and a product for 64
//     codes is all the loop does.
//   - Formats with a scale per block add a transposition of the sums, so that
//     a tile's scales convert at once: the smaller the block, the more it weighs.
//   - AVX2's 16-bit sums are flushed every 3 units: at most 32,512.
//   - Prefetching the four lines of a step in streams of their own, 4, 8, 16 or
//     32 KiB apart, is worse than in one: 13.3, 12.6, 12.2, 11.7 against 16.4 GB/s
//     of i2_s with AVX-512 VNNI, and 12.9, 12.8, 12.2, 11.5 against 14.0 of q1_0_g128.
//   - Prefetching is worth 1.25 to 1.35 times from memory, 1.5 to 1.7 times for
//     blocks. Any distance up to 8 KiB does; the table is in _asm/twobit/rows.go.
//
// What Go's own SIMD package gives: avx2-archsimd multiplies i2_s as avx2 does, 4 rows
// at a time, with GOEXPERIMENT=simd. One thread of a Zen 4, GB/s:
//
//	GOEXPERIMENT=simd go test ./kernels -run '^$' -bench 'BenchmarkTwoBit$/format=i2_s$/'
//
//	                 L2           DRAM
//	avx2             29           19 to 27
//	avx2-archsimd    12   0.40    5 to 6   0.25
//
// It has no prefetch, which is what memory wants, and no VPDPBUSD; bounds are checked
// at each load, and codes are shifted down so that 16 bits hold more sums.
//
// # Batches of 2-bit formats on amd64
//
// One thread of a Zen 4 core, 512 × 2048 weights in L2, the activations prepared;
// billions of operations a second and percent of the 468 that VPDPBUSD alone
// reaches (BenchmarkDot in bench/roofline). VPMADDUBSW and VPADDW could reach as
// much: two a cycle of 32 bytes, against one of 64.
//
//	go test ./kernels -run '^$' -bench BenchmarkTwoBitBatch
//
//	columns                   1         2         3         4         8         16        512
//	avx512vnni  i2_s          341  73%  340  73%  339  72%  450  96%  461  98%  462  98%  459  98%
//	            tq2_0         194  41%  200  43%  296  63%  394  84%  425  91%  435  93%  433  92%
//	            q2_0_g128     170  36%  189  40%  279  59%  368  79%  396  84%  416  89%  411  88%
//	            q2_0          135  29%  170  36%  250  53%  326  70%  353  75%  378  81%  374  80%
//	avx2        i2_s          242  52%  237  51%  237  51%  242  52%  284  61%  310  66%  325  69%
//	            tq2_0         160  34%  160  34%  173  37%  230  49%  269  57%  295  63%  296  63%
//	            q2_0_g128     135  29%  135  29%  166  35%  221  47%  258  55%  283  60%  292  62%
//	            q2_0          117  25%  117  25%  150  32%  199  43%  235  50%  259  55%  271  58%
//
// i2_s_arm, ternary_u32 and i2_s_x4 are as i2_s, tq1_0 as tq2_0. No machine with
// AVX-VNNI has timed its kernels; encoded for AVX-512 they reached on the same core
// 381, 368, 358 and 336 with 16 columns, and 391, 380, 374 and 354 with 512.
// On a Xeon whose VPDPBUSD reaches 964, avx512vnni had, before the fp16 scales of
// a tile went through memory:
//
//	columns      16        512
//	i2_s         729  76%  689  71%
//	tq2_0        671  70%  647  67%
//	q2_0_g128    622  65%  578  60%
//	q2_0         552  57%  552  57%
//
// The products of a layer of BitNet-2B-4T with two threads, quantization included, on
// a machine that others used: 520 to 720 with one to three columns, 700 to 820 with 4 and
// 8, 790 to 860 with 6 and 12, 750 to 890 with 16, 24, 32 and 128, of 934.
//
//	go test ./kernels -run '^$' -bench BenchmarkTernaryPrompt
//
// With quantization and two threads, 2048 × 2048 weights: mostly 1.7 to 2.0 times as
// fast as with one, for 16 and 512 columns, on a machine that others load; single runs
// had 1.5 to 2.05.
//
// Why they are as they are:
//
//   - AVX-512 has tiles of 16 rows × 16 columns in registers, or of 4, 6, 8 and 12
//     columns for what is left; 6 took as long as 8 and 12 as 16 before. 16 bytes of each row are
//     expanded by 48 instructions for 256 products. A block's end is 4 instructions a
//     column, 64 in all, for 256 products in q2_0, 512 in q2_0_g128. Where VPDPBUSD has
//     two of two ports, as on the Xeon, that bounds q2_0 to 69%, and its loads, one a
//     product, to as much: llvm-mca says 61%, and 59 if VPINSRW gathers the scales.
//   - AVX2 and AVX-VNNI have too few registers for that. A strip of 16 rows is expanded
//     to bytes in the L1 cache, once for up to 64 columns, by 80 instructions for 16
//     bytes of each; 4 columns at a time meet two registers of codes.
//   - One column costs AVX2 3.25 instructions for 32 products of i2_s and a batch no less
//     than 2, so 1.6 times is the limit there. Blocks gain more, 1.8 to 2.2 times: column by
//     column their ends are dear.
//   - Strips of 32 rows × 8 columns with AVX-512: 397 instead of 449 for i2_s and 16
//     columns, 339 instead of 381 for q2_0, 432 instead of 460 for i2_s and 512. The
//     scheduler is full of products and does not see the next expansion.
//   - 16-bit sums hold 64 steps of 4 codes up to 2, or 43 of codes up to 3: a block of
//     tq2_0 has two.
//   - Two and three columns of ternary formats, and two with AVX2, go one by one.
//   - Look-ups as of q1_0_g128, tried on a Zen 4: three codes in base 3 are an index for
//     VPERMW, 96 products where VPDPBUSD has 64 in the same cycle; 3½ for VPERMI2W, 112,
//     whose tables no longer fit level 1 with those of three other columns. 36 to 39
//     cycles for 32 look-ups of 32 rows, with the shifts between the two indices of an
//     int16 and the int16 sums made int32 every 240 columns, are 77 to 83 products a
//     cycle. Making tables takes 8% of that for 1280 rows, packing indices 6% for 128
//     columns. One thread then had 490 instead of 430 for 2560 × 2560 weights and 128
//     columns, two threads 876 to 922 instead of 840 to 867; in BitNet-2B-4T's prompt gate
//     and up took 1.18 s instead of 1.31, the products of fewer rows as long as before:
//     3% of the whole, for one more kernel, its packer and its tables.
//   - VPMADDUBSW and VPADDW beside VPDPBUSD gain nothing there: both multiply in the
//     same units.
//   - A panel of 16 columns is 33 KiB for rows of 2048 and read in sequence:
//     512 columns are as fast as 16 whether a task has 16 or 128 rows, of 2048 or of 6912
//     columns.
//
// # Two threads
//
// 2048×2048 in the cores' own caches, activations quantized anew, µs of one
// thread and of two; the machine of the next section, whose two cores are at
// times near each other (and read 33 GB/s from DRAM together) and at times far
// apart (56 GB/s). One command times the same products by one thread and two,
// as the machine of its moment has them:
//
//	onebit bench --filter '/rows:2048 /cols:2048 /cache:warm'
//
//	                            one     two, near     two, far
//	q1_0_g128  avx512vnni       25.4    13.4  1.9     15.5  1.6
//	           avx2-lookup      25.5                  16.7  1.5
//	           avx512-lookup    20.2                  12.5  1.6
//	i2_s       avx512vnni       26.7    13.9  1.9     16.5  1.6
//	           avx2             37.0    18.9  2.0     21.4  1.7
//	tq2_0      avx512vnni       45.5    23.1  2.0     25.6  1.8
//
// With 6144 rows all of them are 1.9 to 2.0 times as fast, far apart too. What
// is lost is the time of cache lines under way: 0.3 µs (near) or 0.7 (far)
// until both have begun, as much again until the caller knows that both have
// ended. So a thread quantizes one or two columns for itself; when the caller
// did it for both, bit planes took 17.3 far apart and look-ups, whose tables are
// 16 KiB, 23.5 instead of 16.
//
// Decoding with Bonsai-1.7B packed, two threads far apart: of 57 µs of a product the
// caller spends 2.5 in quantizing and making tables, 47 multiplying at 22 to 23 GB/s a
// thread, and 1.9 in waiting for the other, which is about the time of a task of 128
// rows. The rest is dispatch and the reading of clocks.
//
// Columns of a batch are quantized and arranged by all threads: products of 2048×2048
// with N columns, from float32, billions of operations a second of two threads,
// before (arranged by the caller) and after:
//
//	N                           16           64           512
//	q1_0_g128  avx512vnni       636  687     660  763     690  743
//
// Where they become tables of eight times their size, each thread makes its own,
// for 16 columns at a time: tables that the other core has made come as slowly as from
// memory. A prompt of 512 tokens of Bonsai-1.7B, tokens a second, when all threads
// made tables of 64 columns, and with tables of 32 of their own:
//
//	q1_0_g128  avx2-lookup      164  183
//	           avx512-lookup    201  220
//
// The tiles of ternary formats with AVX-512 are taken 32 columns at a time in the same
// way: BitNet-2B-4T then takes in 163 tokens a second and not 153. Five threads and more,
// which nobody has timed, prepare together.
//
// # Fetching weights ahead
//
// A core of AMD's Zen 4 (EPYC, 3.55 GHz, a virtual machine of two) waits for
// some 24 lines in level 1, which is 15 GB/s at the latency of its memory. A
// loop that only reads gets 29 GB/s by what the hardware fetches into level 2;
// kernels that read weights and activations by turns do not train it as well.
// PREFETCHT1 fetches into level 2 too, and 6 to 8 KiB ahead is where it pays:
// prefetchL2. On Intel's cores the same hint is worse (below), and PREFETCHT0
// stays. 8192×2048 from DRAM, one thread, GB/s and percent of reading; the same
// shares, of the shapes of models and with the hint that each kernel has now, are
// the %roof of
//
//	onebit bench --filter '/cache:cold /threads:1'
//
//	                               PREFETCHT0    PREFETCHT1
//	i2_s       avx512vnni          23.7  82%     25.8  89%
//	ternary_u32 avx512vnni         24.7  85%     25.7  89%
//	i2_s_arm   avx512vnni          24.0  84%     25.7  90%
//	i2_s       avx2                25.7  88%     23.3  80%   so it keeps PREFETCHT0
//	tq2_0      avx512vnni          17.8  62%     22.4  78%
//	q2_0_g128  avx512vnni          17.1  59%     20.6  73%
//	q2_0       avx512vnni          17.4  60%     18.0  63%
//	q1_0_g128  avx512vnni          21.7  76%     21.6  75%   so it keeps PREFETCHT0
//	           avx512-lookup       13.4  46%     21.3  74%   with VPSHUFB
//	           avx2-lookup         13.9  47%     21.5  73%
//	           avx512vnni-native   12.6  43%     15.0  52%
//
// Long rows gain most: i2_s of 12288×4096 has 17.9 GB/s (61%) and 25 (86%).
// Without any fetching i2_s gets 8.7 and q1_0_g128 17. Tiles whose rows lie a
// quarter of a chunk apart, so that the loads are four long streams, get 17 and
// with fetches in each 13; rows one after the other, a single stream, get 13
// (PREFETCHT1: 20).
//
// # Q1_0_g128 on amd64
//
// One thread of a Xeon with AVX-512 and AVX-VNNI at about 3.8 GHz, 2048 columns,
// q8_128, GB/s of weights. L2 is the best of short runs; DRAM the median of
// 2 MiB pieces and its percentage of a loop that only reads, alternating with it:
//
//	go test ./kernels -run '^$' -bench 'BenchmarkQ1/format=q1_0_g128/act=q8_128'
//
//	                     vector instructions      L2     DRAM
//	                     for 128 weights
//	avx512-lookup        3.4 (VPSHUFB)            37.8   13.6  84%
//	avx512vnni           4.9                      26.6   13.9  86%
//	avx512vnni-native    6.2                      18.8   11.4  69%
//	avx2-lookup          6.9                      28.6   13.7  85%
//	avxvnni              9.9                      19.2   12.9  80%
//	avxvnni-native       11.4                     14.6   11.6  71%
//	avx2                 13.6                     15.2   12.1  75%
//	avx2-native          15.1                     12.4   10.4  63%
//	unrolled                                      0.23
//
// The same of a Zen 4 at 3.55 GHz, and 8192×2048 with two threads (the 56 GB/s
// of far cores; near ones reach 33, of which bit planes get 90 to 95%):
//
//	                     vector instructions      L2     DRAM        two threads
//	                     for 128 weights
//	avx512-lookup        3.6 (VPERMW)             31.9   25.4  80%   45.0  74%
//	avx512vnni           4.9                      23.7   21.9  69%   40.4  67%
//	avx2-lookup          6.9                      26.0   21.5  68%   37.9  63%
//	avx512vnni-native    6.2                      16.2   14.7  48%   27.1  47%
//	avx2                 13.6                     14.9   13.9  44%   26.3  43%
//	avx2-native          15.1                     12.2   10.1  33%   19.5  33%
//	unrolled                                      0.18
//
// One thread has the same from matrices of 2048×2048; two have a tenth to a fifth
// less, 35.4 and 34.0 in the first two lines: beginning and ending take 1.5 of
// 16.7 µs (above), and each thread's first lines are not fetched ahead.
//
// There a register of 64 bytes takes a unit two cycles: VPANDD with VPDPBUSD
// 1.24 cycles, VPERMW with VPADDW 1.20, VPSHUFB with VPADDB and the load of its
// table 1.93; so tables of int16, read by VPERMW for 128 rows at a time, took the
// place of VPSHUFB's tables of bytes (24.3 GB/s from L2). They are Best's choice
// for that family: one column has 450 billion operations, batches of eight and 16
// 700 to 760, bit planes 320 to 430, and VPDPBUSD itself 454 to 470. In batches bits
// are loaded and shifted once for four columns, and 16 columns of weights take three
// look-ups instead of four: two of five bits by VPERMW and one of six by VPERMI2W,
// which takes no longer. Tables for that are twice as large. Two look-ups and
// then two additions take 1.0 to 1.2 cycles each where they take 1.25 by turns, an
// addition then waiting in the queue of a unit that permutes: batches of four to 16
// columns are 5% faster for it. One column is not.
//
// Why they are as they are:
//
//   - Bit planes: a plane is masked where it stands, not shifted to bit 0, and
//     the sum of four planes is shifted once for a block. −Σq is what an
//     accumulator begins with, so Σ±q = 2·Σ_{bit=1} q − Σq costs nothing.
//   - Look-ups: the sum of four activations has 10 bits, for VPSHUFB kept as two
//     tables of 5 bits so that eight look-ups add up in bytes without a carry.
//     VPERMW reads all bits of 32 rows; its index has a fifth bit, that of the
//     next column, so the table is there twice and no mask is needed. Tables take 8 bytes for every activation and
//     0.6 µs to make for 2048. They win wherever memory is not the limit, and
//     with AVX2 by a factor of two. With AVX-512 the int16 sums of four columns of 128
//     rows take half of the registers; results then lie in memory.
//   - Tried with VPERMW and slower where it counts, medians of three runs on a Zen 4 that
//     others used, GB/s. Tables of 5, 5 and 6 columns (VPERMI2W), 8 instructions
//     instead of 11 for 64 bytes: 42 for 30 from L2, but 17 for 20 from DRAM; for 2048
//     columns they are as large as level 1. VPMULHUW as the shift: 31.5 for 30.8.
//     Native rows, 32 at a time with their int16 transposed: 15.4 for 13.2 from L2, 8.1
//     for 12.6 from DRAM.
//   - Native rows are 16 (8) streams that are transposed in registers, 20
//     shuffles a block, after which they are bit planes. Going along single
//     rows costs a horizontal sum for every block of every row instead.
//   - Scales and sums are rounded after every block as the scalar variant
//     does; fused multiply-adds would save one instruction in 80.
//
// Prefetch distance, percent of the read loop from DRAM:
//
//	                none  1 KiB  2 KiB  4 KiB  6 KiB  8 KiB
//	avx512vnni      70    82     83     61     58     57
//	avxvnni         56    76     77     57     60     59
//	avx2            34    68     73     61     52     51
//
// From 4 KiB on, fetches leave the page that the hardware's own prefetcher is
// at. PREFETCHT1 gives 72, 65, 63 at its best distance, PREFETCHNTA less than
// none. Native rows prefetch the next tile, as many bytes a block as a block
// takes: 69% with avx512vnni, 47 without, 69 with the tile after it.
//
// Batches, billions of operations a second and percent of what VPDPBUSD alone
// reaches on the core (984 in ZMM registers, 535 in YMM):
//
//	go test ./kernels -run '^$' -bench BenchmarkQ1Batch
//
//	columns          1         2         4         8         16        64        512
//	avx512vnni       357  36%  499  51%  583  59%  650  66%  717  73%  782  80%  780  79%
//	avxvnni          269  50%  275  51%  275  51%  344  64%  340  64%  383  72%  384  72%
//	avx2             215       216       215       277       288       304       304
//	avx512-lookup    545       542       543       544       545       543       467
//	avx2-lookup      417       411       412       413       403       403       371   one by one
//
// Eight columns and more meet bits that were made bytes once for up to 64
// columns, two registers of rows by eight columns; two and four share the
// mask of a plane; the rest goes column by column, and finds the chunk of
// weights in L2 again. AVX2 multiplies with two instructions where VPDPBUSD is
// one.
//
// With AVX2 four columns and more look up nibbles that were made bytes once for up to 16
// of them, 128 rows at a time. A Zen 4:
//
//	columns                       4         8         16
//	avx2-lookup      one by one   386       383       384
//	                 together     433       459       505
//
// There VPSHUFB and VPADDB take 0.61 cycles together, where half a cycle would do; the
// latter have 22% of the time, products with scales 13%, nibbles for 16 columns 2%. Other
// orders of the two, and fetching the next column's tables, made no difference;
// VPADDUSB, which has fewer ports, is 14% slower.
//
// Native rows with AVX-512 are transposed once for two to four columns, which costs
// 20 shuffles for 64 to 128 products; five are three and two. From 40 columns on they are
// packed as bit planes, a strip of 64 KiB at a time, and then are as good as
// packed ones: packing costs as much as six columns do.
//
// Where look-ups are ahead, they are packed as rows128 from seven columns on, with AVX2
// as rows64 from five. A task is
// a strip of up to 1536 rows of 2048 columns, 432 KiB, which is packed once and stays in
// L2 while tables are made of four columns after the other, 128 KiB. They take a tenth
// of the time of the look-ups for 1024 rows, a sixth for 512; strips of 288 KiB were 3%
// slower, and those of 576 KiB 1%. Packing fetches the next 32 rows ahead, without which
// eight columns take 1.4 times as long. A prompt of
// N tokens of Bonsai-1.7B in place, tokens a second of two threads of a Zen 4, medians of
// runs taken in turns, as bit planes or transposed and looked up:
//
//	N                              4     5     6     7     8     13    16
//	avx512vnni-native  before      162   168   187   175   194   187   200
//	                   looked up   174   149   179   206   247   230   275
//
// Products as large as the layers of that model, on the same threads, milliseconds
// for a prompt of N tokens, the least of three runs: column by column and packed
// from ten on, then transposed for a few columns at once:
//
//	go test ./kernels -run '^$' -bench BenchmarkQ1Prompt
//
//	N                              2      4      8      13     16     32
//	avx512vnni-native  before      13.8   26.9   52.7   76.0   96.8   156
//	                   after       10.7   17.9   34.4   57.4   71.9   149
//
// With AVX2 packed as bit planes from ten columns on, and now looked up from five; medians
// of three runs:
//
//	avx2-native        before      18.1   35.3   80.8   123    109    198
//	                   after       18.1   34.2   48.3   75.6   80.2   133
//
// # Heads and embeddings
//
// The products of f16, bf16, f32, q8_0 and q6_k read the file's bytes. What was
// measured on a Zen 4 (2 cores of a virtual machine, 1 MiB of L2 each), weights
// in huge pages, in GB/s and in percent of a loop that only reads (one word of
// every cache line, in four streams, alternating with the product), medians;
// from DRAM with one thread and with two:
//
//	go test ./kernels -run '^$' -bench BenchmarkHead/
//
//	                       L2     DRAM, 1 thread   DRAM, 2 threads
//	f16   avx512           47     24.7   91%       47.9  93%
//	      avx2             54     24.3   90%       46.5  86%
//	bf16  avx512           46     24.5   90%       49.8  91%
//	      avx2             41     27.4  100%       51.6  96%
//	f32   avx512           77     23.2   89%
//	      avx2             78     21.3   80%
//	q8_0  avx512vnni       47     24.7   93%       47.5  90%
//	      avx2             39     28.4  101%       53.3 100%
//	q6_k  avx512           21     20.9   79%       39.4  75%
//	      avx2             18     17.6   65%       34.0  62%
//
// The tile that follows is fetched ahead, a stream for each of its rows, on AMD's
// cores into level 2 ("Fetching weights ahead"): a tile is as large as level 1.
// One thread and two, the latter while neighbours took a third of the bandwidth,
// percent as above:
//
//	                         none      PREFETCHT0   PREFETCHT1
//	f16   4 rows avx512      72  69    54  63       105  97
//	      2 rows avx2        55  52    49  56        88  95
//	q8_0  8 rows avx512vnni  53  79    61  78       108  97
//	q6_k  8 rows avx512                66  76        83  84
//
// A Xeon with AVX-512 VNNI (16.6 GB/s a core) reached 94% with f16 and 83% with
// q8_0 by PREFETCHT0, 91% with q8_0 in four streams of two rows each, which have
// 79% here. The distance matters little: a tile and 0, 2 or 4 KiB are within what
// repetitions differ by.
//
// FMA would break the equality of ISAs; it would give f16 74 instead of 56
// GB/s from that Xeon's L2 and nothing from L3 or DRAM. q6_k is bound by decoding: about
// 52 vector instructions (avx512), or 104 (avx2), per 210 bytes.
//
// Batches, a head of 32064 × 2560 on the same Zen 4: milliseconds with one thread and
// with two, and how many times as fast that is as the columns one by one:
//
//	go test ./kernels -run '^$' -bench BenchmarkHeadBatch
//
//	columns           1          2          4          8          16         times
//	f16   avx512      6.3  4.4   6.0  4.8   10   5.8   19   9.6   38   19    2.4  3.8
//	      avx2        6.8  4.6   7.4  5.2   12   6.5   22   11    41   21    2.4  3.3
//	q8_0  avx512vnni                          8.8  4.6   12   6.0   12   6.1    4.3  3.9
//	q6_k  avx512      3.9  1.9   6.7  3.2   10   4.8   9.8  5.0   19   9.8   2.9  3.3
//	      avx2        3.8  2.0   7.6  3.8   9.4  5.0   9.3  5.0   19   9.4   3.3  3.5
//
// Weights of float formats are converted once for four columns. The lanes, 32 for
// each result, do not fit the registers; they lie in memory, and 512 columns of
// weights are gone along at a time. Without these panels the activations, whose
// columns begin at multiples of 2 KiB, push each other out of L1, and four columns
// with AVX2 run at 20 billion multiply-adds a second from L2 instead of 33.
// Conversion bounds AVX-512: f32 has 46 where f16 and bf16 have 35.
//
// q8_0 with VPDPBUSD takes 16 columns at a time, fewer than 6 one by one; fetching the
// next tile ahead made 12 ms of 14. AVX2 and AVX-VNNI take 8, and what codes of 8 rows
// become serves 64. AVX2 multiplies in int16: VPMADDUBSW would want the signs of codes
// given to activations first, as many instructions, most of them on two of the ports.
// 16 columns, billions of multiply-adds a second of one thread of a Zen 4, before and
// after, and AVX-VNNI's kernel encoded for AVX-512:
//
//	avx2      38  60
//	avxvnni       94
//
// q6_k is decoded to bytes once for 8 columns, which lie in the lanes: nothing is
// added across lanes, and a group of 32 weights takes 27 instructions for 8 columns
// where one column alone takes 13. A panel that is not full takes as long, so one
// column or two go one by one. VPDPBUSD would save 4 of the 27 and cost 4 in
// multiplying its sums by the scales, so that AVX-512 runs the AVX2 kernel.
package kernels
