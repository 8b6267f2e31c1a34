// What the shaders use of Metal, as declarations for clang and another GPU, whose
// instructions are counted. Nothing of it is ever run.
#define device __attribute__((address_space(1)))
#define constant __attribute__((address_space(4))) const
#define threadgroup __attribute__((address_space(3)))
#define thread
#define kernel extern "C" __attribute__((nvptx_kernel))
#define INLINE inline __attribute__((always_inline))

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef _Float16 half;
#define VECTORS(T) \
	typedef T T##2 __attribute__((ext_vector_type(2))); \
	typedef T T##3 __attribute__((ext_vector_type(3))); \
	typedef T T##4 __attribute__((ext_vector_type(4)));
VECTORS(char)
VECTORS(uint)
VECTORS(int)
VECTORS(half)
VECTORS(float)

// float4(x) and others, which clang takes for another type of the same bits.
INLINE float4 to_float4(float x) { return (float4){x, x, x, x}; }
INLINE float4 to_float4(int x) { return to_float4(float(x)); }
INLINE float4 to_float4(float x, float y, float z, float w) { return (float4){x, y, z, w}; }
template <typename T> INLINE float4 to_float4(T v) { return __builtin_convertvector(v, float4); }

INLINE float2 to_float2(float x, float y) { return (float2){x, y}; }
INLINE int to_ulong2(int x) { return x; }

template <typename T, typename U> INLINE T as_type(U u) { return __builtin_bit_cast(T, u); }
template <typename T> INLINE T min(T a, T b) { return b < a ? b : a; }
template <typename T> INLINE T max(T a, T b) { return a < b ? b : a; }
INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
INLINE float rint(float a) { return __builtin_rintf(a); }
INLINE uint popcount(uint x) { return __builtin_popcount(x); }

enum class mem_flags { mem_none, mem_device, mem_threadgroup };
extern "C" void wait_for_others();
INLINE void threadgroup_barrier(mem_flags) { wait_for_others(); }
INLINE void simdgroup_barrier(mem_flags) { wait_for_others(); }
template <typename T> T simd_sum(T);

// Matrices of simdgroups, of which each thread has two values. What is done with them
// is a word of its own among the instructions.
template <typename T> struct Matrix { T own[2]; };
typedef Matrix<float> simdgroup_float8x8;
typedef Matrix<half> simdgroup_half8x8;
template <typename T, int Rows, int Columns> INLINE Matrix<T> make_filled_simdgroup_matrix(T value) { return {{value, value}}; }
template <typename T> INLINE void simdgroup_load(Matrix<T> &m, threadgroup const T *from, ulong, int = 0, bool = false) {
	float a, b;
	asm volatile("simdgroup.load %0, %1, [%2];" : "=f"(a), "=f"(b) : "l"(from));
	m.own[0] = T(a), m.own[1] = T(b);
}
template <typename T> INLINE void simdgroup_store(Matrix<T> m, threadgroup T *to, ulong) {
	asm volatile("simdgroup.store [%0], %1, %2;" : : "l"(to), "f"(float(m.own[0])), "f"(float(m.own[1])));
}
template <typename T> INLINE void simdgroup_multiply_accumulate(simdgroup_float8x8 &d, const Matrix<T> &a, const Matrix<T> &b, const simdgroup_float8x8 &c) {
	asm volatile("simdgroup.multiply %0, %1, %2;" : "=f"(d.own[0]), "=f"(d.own[1]) : "f"(float(a.own[0])), "f"(float(b.own[0])), "f"(c.own[0]), "f"(c.own[1]));
}
