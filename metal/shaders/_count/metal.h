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

// float4(x), which clang takes for another type of the same bits.
INLINE float4 to_float4(float x) { return (float4){x, x, x, x}; }
INLINE float4 to_float4(int x) { return to_float4(float(x)); }
INLINE float4 to_float4(float x, float y, float z, float w) { return (float4){x, y, z, w}; }
template <typename T> INLINE float4 to_float4(T v) { return __builtin_convertvector(v, float4); }

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
