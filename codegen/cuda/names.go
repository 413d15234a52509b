package cuda

import (
	"strings"
	"sync"
)

// reserved are words that emitted names must not be: those of C++, those that the compiler or its headers define as macros, and
// those of the prelude. Names of functions do no harm: a variable hides them, unless emitted code calls them.
var reserved = sync.OnceValue(func() []string { return append(strings.Fields(reservedWords), preludeNames()...) })

const reservedWords = `
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl concept const
const_cast consteval constexpr constinit continue co_await co_return co_yield decltype default delete do double dynamic_cast else
enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator
or or_eq private protected public register reinterpret_cast requires return short signed sizeof static static_assert static_cast
struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
while xor xor_eq restrict
threadIdx blockIdx blockDim gridDim warpSize main shared_memory shared_base failure
linux unix i386 NULL EOF NAN INFINITY HUGE_VAL BUFSIZ RAND_MAX CHAR_BIT CHAR_MIN CHAR_MAX SCHAR_MIN SCHAR_MAX UCHAR_MAX SHRT_MIN
SHRT_MAX USHRT_MAX INT_MIN INT_MAX UINT_MAX LONG_MIN LONG_MAX ULONG_MAX LLONG_MIN LLONG_MAX ULLONG_MAX PATH_MAX NAME_MAX PIPE_BUF
EXIT_SUCCESS EXIT_FAILURE MB_CUR_MAX MB_LEN_MAX CLOCKS_PER_SEC TIME_UTC FP_NAN FP_INFINITE FP_ZERO FP_SUBNORMAL FP_NORMAL MATH_ERRNO
MATH_ERREXCEPT M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 DOMAIN SING OVERFLOW
UNDERFLOW PLOSS TLOSS X_TLOSS BIG_ENDIAN LITTLE_ENDIAN PDP_ENDIAN BYTE_ORDER FD_SETSIZE NFDBITS WNOHANG WUNTRACED NR_OPEN ARG_MAX
HOST_NAME_MAX LOGIN_NAME_MAX TTY_NAME_MAX SSIZE_MAX DTS_MAX assert isnan isinf isfinite signbit alloca offsetof va_arg va_start va_end
CUDART_VERSION CUDA_VERSION CUDARTAPI
fmodf fmod powf pow fmaf fma fabsf fabs fminf fmin fmaxf fmax atan2f atan2 rsqrtf rsqrt expf exp exp2f exp2 logf log log2f log2 log1pf
log1p expm1f expm1 sinf sin cosf cos tanf tan tanhf tanh sinhf sinh coshf cosh asinf asin acosf acos atanf atan erff erf erfcf erfc
floorf floor ceilf ceil rintf rint truncf trunc copysignf copysign atomicAdd atomicMin atomicMax atomicCAS atomicExch atomicAnd
atomicOr`
