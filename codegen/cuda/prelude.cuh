#define DEV __device__ __forceinline__

typedef signed char i8;

typedef short i16;

typedef int i32;

typedef long long i64;

typedef unsigned char u8;

typedef unsigned short u16;

typedef unsigned int u32;

typedef unsigned long long u64;

typedef float f32;

typedef double f64;

// Narrow floats and packed words are bits; they are converted before they are computed with.
typedef u16 f16;

typedef u16 bf16;

typedef u8 f8e4m3;

typedef u8 f8e5m2;

typedef u32 word;

// Bits.

DEV u32 bits_f32(f32 x) { return __float_as_uint(x); }

DEV u64 bits_f64(f64 x) { return (u64)__double_as_longlong(x); }

DEV f32 f32_of_bits(u32 x) { return __uint_as_float(x); }

DEV f64 f64_of_bits(u64 x) { return __longlong_as_double((i64)x); }

// Rounds toward zero and notes in the last bit whether anything was lost, so that rounding again to a narrower type is right.
DEV f32 round_odd(f64 x) {
  const f32 f = __double2float_rz(x);
  return (f64)f == x || x != x ? f : f32_of_bits(bits_f32(f) | 1u);
}

// Narrow floats.

DEV f32 f32_of_f16(f16 x) {
  f32 y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}

DEV f32 f32_of_bf16(bf16 x) { return f32_of_bits((u32)x << 16); }

DEV f32 f32_of_f8e5m2(f8e5m2 x) { return f32_of_f16((f16)((u32)x << 8)); }

// Its exponent has 4 bits: read with 5 the value is 2^-8 of what it is.
DEV f32 f32_of_f8e4m3(f8e4m3 x) {
  if ((x & 0x7f) == 0x7f) return f32_of_bits(0x7fc00000u);
  return __fmul_rn(f32_of_f16((f16)((u32)(x & 0x80) << 8 | (u32)(x & 0x7f) << 7)), 256.0f);
}

DEV f16 f16_of_f32(f32 x) {
  f16 y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

DEV bf16 bf16_of_f32(f32 x) {
  bf16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

// Rounds to nearest even in an 8-bit format; what is too large becomes its largest number.
template <int MANT, int BIAS, u32 LARGEST> DEV u8 f8_of_f32(f32 x) {
  if (x != x) return 0x7f;
  const u32 bits = bits_f32(x), abs = bits & 0x7fffffffu, shift = 23 - MANT;
  u32 code;
  if (abs >> 23 <= 127 - BIAS) {  // an addition rounds at the weight of the last bit of a denormal
    const u32 magic = (127 - BIAS + shift + 1) << 23;
    code = bits_f32(__fadd_rn(f32_of_bits(abs), f32_of_bits(magic))) - magic;
  } else {
    code = (abs - ((127 - BIAS) << 23) + (1u << (shift - 1)) - 1 + (abs >> shift & 1)) >> shift;
    if (code > LARGEST) code = LARGEST;
  }
  return (u8)(bits >> 31 << 7 | code);
}

DEV f8e4m3 f8e4m3_of_f32(f32 x) { return f8_of_f32<3, 7, 0x7e>(x); }

DEV f8e5m2 f8e5m2_of_f32(f32 x) { return f8_of_f32<2, 15, 0x7b>(x); }

// Packed words.

DEV word pack_f16x2(f32 lo, f32 hi) {
  word w;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(hi), "f"(lo));
  return w;
}

DEV word pack_bf16x2(f32 lo, f32 hi) {
  word w;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(hi), "f"(lo));
  return w;
}

DEV word pack_bytes(u32 a, u32 b, u32 c, u32 d) { return (a & 0xffu) | (b & 0xffu) << 8 | (c & 0xffu) << 16 | d << 24; }

DEV word pack_f8e4m3x4(f32 a, f32 b, f32 c, f32 d) {
#if __CUDA_ARCH__ >= 890
  word w;
  asm("{\n.reg .b16 l, h;\ncvt.rn.satfinite.e4m3x2.f32 l, %2, %1;\ncvt.rn.satfinite.e4m3x2.f32 h, %4, %3;\nmov.b32 %0, {l, h};\n}" : "=r"(w) : "f"(a), "f"(b), "f"(c), "f"(d));
  return w;
#else
  return pack_bytes(f8e4m3_of_f32(a), f8e4m3_of_f32(b), f8e4m3_of_f32(c), f8e4m3_of_f32(d));
#endif
}

DEV word pack_f8e5m2x4(f32 a, f32 b, f32 c, f32 d) {
#if __CUDA_ARCH__ >= 890
  word w;
  asm("{\n.reg .b16 l, h;\ncvt.rn.satfinite.e5m2x2.f32 l, %2, %1;\ncvt.rn.satfinite.e5m2x2.f32 h, %4, %3;\nmov.b32 %0, {l, h};\n}" : "=r"(w) : "f"(a), "f"(b), "f"(c), "f"(d));
  return w;
#else
  return pack_bytes(f8e5m2_of_f32(a), f8e5m2_of_f32(b), f8e5m2_of_f32(c), f8e5m2_of_f32(d));
#endif
}

DEV u32 limit_i32(i32 x, i32 lo, i32 hi) { return (u32)(x < lo ? lo : x > hi ? hi : x); }

DEV word pack_i8x4(i32 a, i32 b, i32 c, i32 d) { return pack_bytes(limit_i32(a, -128, 127), limit_i32(b, -128, 127), limit_i32(c, -128, 127), limit_i32(d, -128, 127)); }

DEV word pack_u8x4(i32 a, i32 b, i32 c, i32 d) { return pack_bytes(limit_i32(a, 0, 255), limit_i32(b, 0, 255), limit_i32(c, 0, 255), limit_i32(d, 0, 255)); }

DEV f32 part_f16x2(word w, i32 i) { return f32_of_f16((f16)(w >> 16 * i)); }

DEV f32 part_bf16x2(word w, i32 i) { return f32_of_bf16((bf16)(w >> 16 * i)); }

DEV f32 part_f8e4m3x4(word w, i32 i) { return f32_of_f8e4m3((f8e4m3)(w >> 8 * i)); }

DEV f32 part_f8e5m2x4(word w, i32 i) { return f32_of_f8e5m2((f8e5m2)(w >> 8 * i)); }

DEV i32 part_i8x4(word w, i32 i) { return (i8)(w >> 8 * i); }

DEV i32 part_u8x4(word w, i32 i) { return (u8)(w >> 8 * i); }

DEV word min_f16x2(word a, word b) {
  word r;
  asm("min.NaN.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

DEV word min_num_f16x2(word a, word b) {
  word r;
  asm("min.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

DEV word max_f16x2(word a, word b) {
  word r;
  asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

DEV word max_num_f16x2(word a, word b) {
  word r;
  asm("max.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

DEV word min_bf16x2(word a, word b) {
  word r;
  asm("min.NaN.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

DEV word min_num_bf16x2(word a, word b) {
  word r;
  asm("min.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

DEV word max_bf16x2(word a, word b) {
  word r;
  asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

DEV word max_num_bf16x2(word a, word b) {
  word r;
  asm("max.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

// Arithmetic of floats.

DEV bool is_nan(f32 x) { return x != x; }
DEV bool is_nan(f64 x) { return x != x; }

DEV bool is_inf(f32 x) { return fabsf(x) == f32_of_bits(0x7f800000u); }
DEV bool is_inf(f64 x) { return fabs(x) == f64_of_bits(0x7ff0000000000000ull); }

DEV f32 float_min(f32 a, f32 b) {
  f32 r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
DEV f64 float_min(f64 a, f64 b) { return a != a || b != b ? a + b : fmin(a, b); }

DEV f32 float_max(f32 a, f32 b) {
  f32 r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
DEV f64 float_max(f64 a, f64 b) { return a != a || b != b ? a + b : fmax(a, b); }

template <class T> DEV T float_sign(T x) { return x > T(0) ? T(1) : x < T(0) ? T(-1) : x != x ? x : T(0); }

// The quotient of two f32 is far enough from whole numbers for f64 to tell on which side it lies.
DEV f32 float_floordiv(f32 a, f32 b) { return (f32)floor(__ddiv_rn((f64)a, (f64)b)); }
DEV f64 float_floordiv(f64 a, f64 b) { return floor(__ddiv_rn(a, b)); }

DEV f32 float_mod(f32 a, f32 b) {
  const f32 r = fmodf(a, b);
  return r == 0.0f ? copysignf(0.0f, b) : (r < 0.0f) != (b < 0.0f) ? __fadd_rn(r, b) : r;
}
DEV f64 float_mod(f64 a, f64 b) {
  const f64 r = fmod(a, b);
  return r == 0.0 ? copysign(0.0, b) : (r < 0.0) != (b < 0.0) ? __dadd_rn(r, b) : r;
}

DEV f32 exp2_fast(f32 x) {
  f32 y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

DEV f32 rsqrt_fast(f32 x) {
  f32 y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Arithmetic of integers: it wraps, and is 0 where it has no value.

DEV i32 int_div(i32 a, i32 b) { return b == 0 ? 0 : b == -1 ? (i32)(0u - (u32)a) : a / b; }
DEV u32 int_div(u32 a, u32 b) { return b == 0 ? 0 : a / b; }
DEV i64 int_div(i64 a, i64 b) { return b == 0 ? 0 : b == -1 ? (i64)(0ull - (u64)a) : a / b; }
DEV u64 int_div(u64 a, u64 b) { return b == 0 ? 0 : a / b; }

DEV i32 int_rem(i32 a, i32 b) { return b == 0 || b == -1 ? 0 : a % b; }
DEV u32 int_rem(u32 a, u32 b) { return b == 0 ? 0 : a % b; }
DEV i64 int_rem(i64 a, i64 b) { return b == 0 || b == -1 ? 0 : a % b; }
DEV u64 int_rem(u64 a, u64 b) { return b == 0 ? 0 : a % b; }

DEV i32 int_floordiv(i32 a, i32 b) { return int_div(a, b) - (int_rem(a, b) != 0 && (int_rem(a, b) < 0) != (b < 0)); }
DEV u32 int_floordiv(u32 a, u32 b) { return int_div(a, b); }
DEV i64 int_floordiv(i64 a, i64 b) { return int_div(a, b) - (int_rem(a, b) != 0 && (int_rem(a, b) < 0) != (b < 0)); }
DEV u64 int_floordiv(u64 a, u64 b) { return int_div(a, b); }

DEV i32 int_mod(i32 a, i32 b) { return int_rem(a, b) + (int_rem(a, b) != 0 && (int_rem(a, b) < 0) != (b < 0) ? b : 0); }
DEV u32 int_mod(u32 a, u32 b) { return int_rem(a, b); }
DEV i64 int_mod(i64 a, i64 b) { return int_rem(a, b) + (int_rem(a, b) != 0 && (int_rem(a, b) < 0) != (b < 0) ? b : 0); }
DEV u64 int_mod(u64 a, u64 b) { return int_rem(a, b); }

DEV u64 power(u64 a, u64 n) {
  u64 out = 1;
  for (; n != 0; n >>= 1, a *= a)
    if (n & 1) out *= a;
  return out;
}

DEV i32 int_pow(i32 a, i32 n) { return n < 0 ? 0 : (i32)power((u64)a, (u64)n); }
DEV u32 int_pow(u32 a, u32 n) { return (u32)power(a, n); }
DEV i64 int_pow(i64 a, i64 n) { return n < 0 ? 0 : (i64)power((u64)a, (u64)n); }
DEV u64 int_pow(u64 a, u64 n) { return power(a, n); }

DEV i32 int_abs(i32 a) { return a < 0 ? (i32)(0u - (u32)a) : a; }
DEV u32 int_abs(u32 a) { return a; }
DEV i64 int_abs(i64 a) { return a < 0 ? (i64)(0ull - (u64)a) : a; }
DEV u64 int_abs(u64 a) { return a; }

template <class T> DEV T int_sign(T a) { return a > T(0) ? T(1) : a == T(0) ? T(0) : T(-1); }

template <class T> DEV T int_min(T a, T b) { return b < a ? b : a; }

template <class T> DEV T int_max(T a, T b) { return a < b ? b : a; }

DEV i32 int_shl(i32 a, i64 n) { return n < 0 || n > 31 ? 0 : (i32)((u32)a << n); }
DEV u32 int_shl(u32 a, i64 n) { return n < 0 || n > 31 ? 0 : a << n; }
DEV i64 int_shl(i64 a, i64 n) { return n < 0 || n > 63 ? 0 : (i64)((u64)a << n); }
DEV u64 int_shl(u64 a, i64 n) { return n < 0 || n > 63 ? 0 : a << n; }

DEV i32 int_shr(i32 a, i64 n) { return n < 0 || n > 31 ? 0 : a >> n; }
DEV u32 int_shr(u32 a, i64 n) { return n < 0 || n > 31 ? 0 : a >> n; }
DEV i64 int_shr(i64 a, i64 n) { return n < 0 || n > 63 ? 0 : a >> n; }
DEV u64 int_shr(u64 a, i64 n) { return n < 0 || n > 63 ? 0 : a >> n; }

DEV i32 int_popcount(i32 a) { return __popc((u32)a); }
DEV u32 int_popcount(u32 a) { return (u32)__popc(a); }
DEV i64 int_popcount(i64 a) { return __popcll((u64)a); }
DEV u64 int_popcount(u64 a) { return (u64)__popcll(a); }

DEV i32 pow2_floor(i32 a) { return a < 2 ? 1 : 1 << (31 - __clz(a)); }
DEV i64 pow2_floor(i64 a) { return a < 2 ? 1 : 1ll << (63 - __clzll(a)); }

DEV i32 pow2_ceil(i32 a) { return a < 2 ? 1 : (i32)(1u << (32 - __clz(a - 1))); }
DEV i64 pow2_ceil(i64 a) { return a < 2 ? 1 : (i64)(1ull << (64 - __clzll(a - 1))); }

// Truncates and limits; NaN is 0. The ends that a float cannot hold are those of the next one, which is beyond.
template <class T> DEV T saturate(f64 x, T lo, T hi) { return x != x ? T(0) : x <= (f64)lo ? lo : x >= (f64)hi ? hi : (T)x; }

template <class T> DEV T limit(i64 x, T lo, T hi) { return x < (i64)lo ? lo : x > (i64)hi ? hi : (T)x; }

// Philox-4x32-10: key is the seed; the counter the low words of up to four indices; each further four are xor-ed into the block,
// which is permuted again.
struct philox_block { u32 c[4]; };

DEV void philox_rounds(philox_block &b, u32 k0, u32 k1) {
  for (int round = 0; round < 10; round++) {
    const u32 h0 = __umulhi(b.c[0], 0xD2511F53u), l0 = b.c[0] * 0xD2511F53u, h1 = __umulhi(b.c[2], 0xCD9E8D57u), l1 = b.c[2] * 0xCD9E8D57u;
    b.c[0] = h1 ^ b.c[1] ^ k0;
    b.c[1] = l1;
    b.c[2] = h0 ^ b.c[3] ^ k1;
    b.c[3] = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

template <class... Index> DEV f32 philox_rand(i64 seed, Index... index) {
  const i64 at[] = {index..., 0};
  const int n = sizeof...(index);
  philox_block b = {{0, 0, 0, 0}};
#pragma unroll
  for (int i = 0; i == 0 || i < n; i += 4) {
#pragma unroll
    for (int j = i; j < i + 4; j++)
      if (j < n) b.c[j - i] ^= (u32)at[j];
    philox_rounds(b, (u32)seed, (u32)((u64)seed >> 32));
  }
  return __fmul_rn((f32)(b.c[0] >> 8), 5.9604644775390625e-8f);
}

// Memory.

// Elements that are read or written as one access.
template <class T, int N> struct __align__(sizeof(T) * N) vec { T at[N]; };

template <class T> DEV T load_volatile(const T *p) { return *(const volatile T *)p; }

template <class T> DEV void store_volatile(T *p, T x) { *(volatile T *)p = x; }

template <class T> DEV T load_relaxed(const T *p) {
  if (sizeof(T) == 8) {
    u64 b;
    asm volatile("ld.relaxed.gpu.b64 %0, [%1];" : "=l"(b) : "l"(p) : "memory");
    return *(T *)&b;
  }
  u32 b;
  asm volatile("ld.relaxed.gpu.b32 %0, [%1];" : "=r"(b) : "l"(p) : "memory");
  return *(T *)&b;
}

template <class T> DEV T load_acquire(const T *p) {
  if (sizeof(T) == 8) {
    u64 b;
    asm volatile("ld.acquire.gpu.b64 %0, [%1];" : "=l"(b) : "l"(p) : "memory");
    return *(T *)&b;
  }
  u32 b;
  asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(b) : "l"(p) : "memory");
  return *(T *)&b;
}

template <class T> DEV void store_relaxed(T *p, T x) {
  if (sizeof(T) == 8)
    asm volatile("st.relaxed.gpu.b64 [%0], %1;" ::"l"(p), "l"(*(u64 *)&x) : "memory");
  else
    asm volatile("st.relaxed.gpu.b32 [%0], %1;" ::"l"(p), "r"(*(u32 *)&x) : "memory");
}

template <class T> DEV void store_release(T *p, T x) {
  if (sizeof(T) == 8)
    asm volatile("st.release.gpu.b64 [%0], %1;" ::"l"(p), "l"(*(u64 *)&x) : "memory");
  else
    asm volatile("st.release.gpu.b32 [%0], %1;" ::"l"(p), "r"(*(u32 *)&x) : "memory");
}

// Combines in place where there is no instruction for it; the result is what was there.
template <int SIZE> struct bits_of;
template <> struct bits_of<4> { typedef u32 type; };
template <> struct bits_of<8> { typedef u64 type; };

template <class T, class F> DEV T atomic_wide(T *p, T x, F combine) {
  typedef typename bits_of<sizeof(T)>::type B;
  B old = *(volatile B *)p;
  for (;;) {
    const T next = combine(*(T *)&old, x);
    const B was = atomicCAS((B *)p, old, *(const B *)&next);
    if (was == old) return *(const T *)&was;
    old = was;
  }
}

// The same for elements narrower than what can be compared and swapped.
template <class T, class F> DEV T atomic_narrow(T *p, T x, F combine) {
  u32 *const w = (u32 *)((u64)p & ~3ull);
  const u32 shift = 8 * (u32)((u64)p & 3), mask = (sizeof(T) == 1 ? 0xffu : 0xffffu) << shift;
  u32 old = *(volatile u32 *)w;
  for (;;) {
    const T now = (T)(old >> shift);
    const u32 next = (old & ~mask) | ((u32)combine(now, x) << shift & mask), was = atomicCAS(w, old, next);
    if (was == old) return now;
    old = was;
  }
}

// What a failed check leaves: the failure of the first thread in launch order. count is 0 where there is none.
struct gkc_failure { u32 lock, count; i64 thread; i32 code, args; i64 arg[4]; };

DEV void gkc_fail(gkc_failure *f, i32 code, i32 args, i64 a, i64 b, i64 c, i64 d) {
  const i64 thread = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  for (bool done = false; !done;) {
    if (atomicCAS(&f->lock, 0u, 1u) != 0) continue;
    __threadfence();
    if (*(volatile u32 *)&f->count == 0 || thread < *(volatile i64 *)&f->thread) {
      f->thread = thread;
      f->code = code;
      f->args = args;
      f->arg[0] = a;
      f->arg[1] = b;
      f->arg[2] = c;
      f->arg[3] = d;
    }
    f->count++;
    __threadfence();
    atomicExch(&f->lock, 0u);
    done = true;
  }
}

// Caches.

#define EVICT_NORMAL 0x1000000000000000ull
#define EVICT_FIRST 0x12F0000000000000ull
#define EVICT_LAST 0x14F0000000000000ull

template <class T> DEV T load_stream(const T *p) {
  T out;
  if constexpr (sizeof(T) == 16) {
    u32 *const r = (u32 *)&out;
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "l"(p) : "memory");
  } else if constexpr (sizeof(T) == 8) {
    asm volatile("ld.global.L1::no_allocate.u64 %0, [%1];" : "=l"(*(u64 *)&out) : "l"(p) : "memory");
  } else if constexpr (sizeof(T) == 4) {
    asm volatile("ld.global.L1::no_allocate.u32 %0, [%1];" : "=r"(*(u32 *)&out) : "l"(p) : "memory");
  } else {
    out = *p;
  }
  return out;
}

template <class T> DEV T load_kept(const T *p, u64 policy) {
  T out;
  if constexpr (sizeof(T) == 16) {
    u32 *const r = (u32 *)&out;
    asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "l"(p), "l"(policy) : "memory");
  } else if constexpr (sizeof(T) == 8) {
    asm volatile("ld.global.L2::cache_hint.u64 %0, [%1], %2;" : "=l"(*(u64 *)&out) : "l"(p), "l"(policy) : "memory");
  } else if constexpr (sizeof(T) == 4) {
    asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(*(u32 *)&out) : "l"(p), "l"(policy) : "memory");
  } else {
    out = *p;
  }
  return out;
}

template <class T> DEV T load_first(const T *p) { return load_kept(p, EVICT_FIRST); }

template <class T> DEV T load_last(const T *p) { return load_kept(p, EVICT_LAST); }

template <class T> DEV T load_vector_volatile(const T *p) {
  T out;
  if constexpr (sizeof(T) == 16) {
    u32 *const r = (u32 *)&out;
    asm volatile("ld.volatile.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "l"(p) : "memory");
  } else if constexpr (sizeof(T) == 8) {
    asm volatile("ld.volatile.u64 %0, [%1];" : "=l"(*(u64 *)&out) : "l"(p) : "memory");
  } else {
    static_assert(sizeof(T) == 4, "a vector is 4, 8 or 16 bytes");
    asm volatile("ld.volatile.u32 %0, [%1];" : "=r"(*(u32 *)&out) : "l"(p) : "memory");
  }
  return out;
}

template <class T> DEV void store_stream(T *p, T x) {
  if constexpr (sizeof(T) == 16) {
    const u32 *const r = (const u32 *)&x;
    asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
  } else if constexpr (sizeof(T) == 8) {
    asm volatile("st.global.cs.u64 [%0], %1;" ::"l"(p), "l"(*(u64 *)&x) : "memory");
  } else if constexpr (sizeof(T) == 4) {
    asm volatile("st.global.cs.u32 [%0], %1;" ::"l"(p), "r"(*(u32 *)&x) : "memory");
  } else {
    *p = x;
  }
}

template <class T> DEV void store_kept(T *p, T x, u64 policy) {
  if constexpr (sizeof(T) == 16) {
    const u32 *const r = (const u32 *)&x;
    asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(p), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(policy) : "memory");
  } else if constexpr (sizeof(T) == 8) {
    asm volatile("st.global.L2::cache_hint.u64 [%0], %1, %2;" ::"l"(p), "l"(*(u64 *)&x), "l"(policy) : "memory");
  } else if constexpr (sizeof(T) == 4) {
    asm volatile("st.global.L2::cache_hint.u32 [%0], %1, %2;" ::"l"(p), "r"(*(u32 *)&x), "l"(policy) : "memory");
  } else {
    *p = x;
  }
}

template <class T> DEV void store_first(T *p, T x) { store_kept(p, x, EVICT_FIRST); }

template <class T> DEV void store_last(T *p, T x) { store_kept(p, x, EVICT_LAST); }

// Shared memory, and that of other blocks of the cluster.

DEV u32 shared_address(const void *p) { return (u32)__cvta_generic_to_shared(p); }

template <class T> DEV T *peer(T *p, u32 rank) {
  T *q;
  asm("mapa.u64 %0, %1, %2;" : "=l"(q) : "l"(p), "r"(rank));
  return q;
}

DEV u32 peer_address(u32 address, u32 rank) {
  u32 q;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(q) : "r"(address), "r"(rank));
  return q;
}

DEV i32 cluster_rank() {
  i32 r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}

// Values that the compiler must not look through, and moments that it must not move.

DEV f32 pin(f32 x) {
  asm volatile("" : "+f"(x)::"memory");
  return x;
}
DEV f64 pin(f64 x) {
  asm volatile("" : "+d"(x)::"memory");
  return x;
}
DEV i32 pin(i32 x) {
  asm volatile("" : "+r"(x)::"memory");
  return x;
}
DEV u32 pin(u32 x) {
  asm volatile("" : "+r"(x)::"memory");
  return x;
}
DEV i64 pin(i64 x) {
  asm volatile("" : "+l"(x)::"memory");
  return x;
}
DEV u64 pin(u64 x) {
  asm volatile("" : "+l"(x)::"memory");
  return x;
}
DEV i16 pin(i16 x) {
  asm volatile("" : "+h"(x)::"memory");
  return x;
}
DEV u16 pin(u16 x) {
  asm volatile("" : "+h"(x)::"memory");
  return x;
}
DEV i8 pin(i8 x) { return (i8)pin((i32)x); }
DEV u8 pin(u8 x) { return (u8)pin((u32)x); }
DEV bool pin(bool x) { return pin((u32)x) != 0; }

DEV u32 clock_cycles() {
  u32 c;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory");
  return c;
}

DEV bool elect(u32 mask) {
#if __CUDA_ARCH__ >= 900
  u32 p;
  asm volatile("{\n.reg .pred q;\nelect.sync _|q, %1;\nselp.u32 %0, 1, 0, q;\n}" : "=r"(p) : "r"(mask));
  return p != 0;
#else
  return (threadIdx.x & 31u) == (u32)(__ffs((int)mask) - 1);
#endif
}

// Barriers.

DEV void named_sync(u32 id, u32 threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }

DEV void named_arrive(u32 id, u32 threads) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory"); }

DEV void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }

DEV void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

DEV void mbar_init(u32 bar, u32 count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory"); }

DEV void mbar_arrive(u32 bar) { asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared::cta.b64 state, [%0];\n}" ::"r"(bar) : "memory"); }

// No .release.cluster: that form fences all memory of the device, and who arrives has only read.
DEV void mbar_arrive_peer(u32 bar, u32 rank) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(peer_address(bar, rank)) : "memory");
}

DEV void mbar_expect(u32 bar, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}

DEV void mbar_expect_peer(u32 bar, u32 rank, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cluster.b64 _, [%0], %1;" ::"r"(peer_address(bar, rank)), "r"(bytes) : "memory");
}

DEV void mbar_wait(u32 bar, u32 parity) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra AGAIN;\n}" ::"r"(bar), "r"(parity) : "memory");
#else
  asm volatile("{\n.reg .pred done;\nAGAIN:\nmbarrier.test_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra AGAIN;\n}" ::"r"(bar), "r"(parity) : "memory");
#endif
}

// Fences, queues and dependent launches.

DEV void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

DEV void fence_async_global() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

DEV void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

DEV void fence_wgmma() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

DEV void cp_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int GROUPS> DEV void cp_wait() { asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory"); }

DEV void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

template <int GROUPS> DEV void bulk_wait() { asm volatile("cp.async.bulk.wait_group %0;" ::"n"(GROUPS) : "memory"); }

template <int GROUPS> DEV void bulk_waitread() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(GROUPS) : "memory"); }

DEV void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

template <int GROUPS> DEV void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(GROUPS) : "memory"); }

DEV void grid_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

DEV void grid_release() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

template <int REGISTERS> DEV void registers_up() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS)); }

template <int REGISTERS> DEV void registers_down() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS)); }

// Copies by one thread; of what is not copied zeros are stored.

template <int AT = 0> DEV void cp_4(u32 to, const void *from, u32 bytes) {
  asm volatile("cp.async.ca.shared::cta.global [%0 + %3], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes), "n"(AT) : "memory");
}

template <int AT = 0> DEV void cp_8(u32 to, const void *from, u32 bytes) {
  asm volatile("cp.async.ca.shared::cta.global [%0 + %3], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(bytes), "n"(AT) : "memory");
}

template <int AT = 0> DEV void cp_16(u32 to, const void *from, u32 bytes) {
  asm volatile("cp.async.cg.shared::cta.global [%0 + %3], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes), "n"(AT) : "memory");
}

// What the driver makes of a global array for the copy engine.
struct __align__(64) tensor_map { u64 opaque[16]; };

DEV void prefetch_map(const tensor_map *m) { asm volatile("prefetch.tensormap [%0];" ::"l"(m) : "memory"); }

// Descriptors of tiles of 128-byte rows with the 128-byte swizzle.

DEV u64 desc_k(u32 address) { return 0x4000004000010000ull | (u64)((address & 0x3FFFF) >> 4); }

DEV u64 desc_mn(u32 address, u32 slab) { return 0x4000004000000000ull | (u64)((slab & 0x3FFFF) >> 4) << 16 | (u64)((address & 0x3FFFF) >> 4); }

// Matrices of 8x8 elements of 16 bits.

template <int AT = 0> DEV void ldmatrix(u32 from, u32 &a) { asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1 + %2];" : "=r"(a) : "r"(from), "n"(AT) : "memory"); }
template <int AT = 0> DEV void ldmatrix(u32 from, u32 &a, u32 &b) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2 + %3];" : "=r"(a), "=r"(b) : "r"(from), "n"(AT) : "memory");
}
template <int AT = 0> DEV void ldmatrix(u32 from, u32 &a, u32 &b, u32 &c, u32 &d) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4 + %5];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(from), "n"(AT) : "memory");
}

template <int AT = 0> DEV void ldmatrix_trans(u32 from, u32 &a) { asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1 + %2];" : "=r"(a) : "r"(from), "n"(AT) : "memory"); }
template <int AT = 0> DEV void ldmatrix_trans(u32 from, u32 &a, u32 &b) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2 + %3];" : "=r"(a), "=r"(b) : "r"(from), "n"(AT) : "memory");
}
template <int AT = 0> DEV void ldmatrix_trans(u32 from, u32 &a, u32 &b, u32 &c, u32 &d) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4 + %5];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(from), "n"(AT) : "memory");
}

DEV void stmatrix(u32 to, u32 a) { asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(to), "r"(a) : "memory"); }
DEV void stmatrix(u32 to, u32 a, u32 b) { asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(to), "r"(a), "r"(b) : "memory"); }
DEV void stmatrix(u32 to, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

DEV void stmatrix_trans(u32 to, u32 a) { asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(to), "r"(a) : "memory"); }
DEV void stmatrix_trans(u32 to, u32 a, u32 b) { asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(to), "r"(a), "r"(b) : "memory"); }
DEV void stmatrix_trans(u32 to, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}
