#include "kernels/level.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static int best, used;

/* Asked once, for in a virtual machine the question takes microseconds. */
__attribute__((constructor)) static void
find_level(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("f16c"))
        best = 1;
    if (best == 1 && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw"))
        best = 2;
#endif
    used = best;
}

int
dt_level(void)
{
    return used;
}

int
dt_level_set(int level)
{
    used = level < 0 || level > best ? best : level;
    return used;
}
