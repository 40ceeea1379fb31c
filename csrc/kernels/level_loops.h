/* level_loops.h: what levels.h includes for each instruction set, which it describes by
 * TARGET, VECTOR_BYTES, SET and, unless compilers know it, V_X86: LOOPS in float32 and
 * in float64. */
#if VECTOR_BYTES == 16
#define V_FMA(a, b, c) ((a) * (b) + (c))
#define V_MAX(a, b) v_select((a) > (b), a, b)
#define V_MIN(a, b) v_select((a) < (b), a, b)
#define V_SUM(x) v_fold_sum(x)
#define V_TOP(x) v_fold_max(x)
#else
#define V_FMA(a, b, c) V_X86(fmadd)(a, b, c)
#define V_MAX(a, b) V_X86(max)(a, b)
#define V_MIN(a, b) V_X86(min)(a, b)
#define V_SUM(x) K(dt_add)(x)
#define V_TOP(x) K(dt_max)(x)
#endif

#define REAL float
#define PRECISION 32
#define V_SUFFIX ps
#include "kernels/vmath.h"
#include LOOPS
#undef REAL
#undef PRECISION
#undef V_SUFFIX

#define REAL double
#define PRECISION 64
#define V_SUFFIX pd
#include "kernels/vmath.h"
#include LOOPS
#undef REAL
#undef PRECISION
#undef V_SUFFIX

#undef V_FMA
#undef V_MAX
#undef V_MIN
#undef V_SUM
#undef V_TOP
#undef V_X86
#undef TARGET
#undef VECTOR_BYTES
#undef SET
