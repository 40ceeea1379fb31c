#include "kernels/widen.h"

#include "core/threads/team.h"
#include "kernels/half.h"
#include "kernels/level.h"

#if defined(__x86_64__)
#include "kernels/level_x86.h"
#endif

typedef struct {
    void (*widen[2])(float *out, const uint16_t *x, int64_t count);
    void (*narrow[2])(uint16_t *out, const float *x, int64_t count);
} conversions;

/* Loops of which compilers make vectors: half.h has no branches. */
#define LOOP(name, to, from, convert, target)                                          \
    target static void name(to *restrict out, const from *restrict x, int64_t count)   \
    {                                                                                  \
        for (int64_t i = 0; i < count; i++)                                            \
            out[i] = convert(x[i]);                                                    \
    }

#define LEVEL(set)                                                                     \
    static const conversions set = {                                                   \
        .widen = {widen_float16_##set, widen_bfloat16_##set},                          \
        .narrow = {narrow_float16_##set, narrow_bfloat16_##set},                       \
    };

LOOP(widen_float16_base, float, uint16_t, dt_from_float16, )
LOOP(narrow_float16_base, uint16_t, float, dt_to_float16, )
LOOP(widen_bfloat16_base, float, uint16_t, dt_from_bfloat16, )
LOOP(narrow_bfloat16_base, uint16_t, float, dt_to_bfloat16, )
LEVEL(base)

#if defined(__x86_64__)

/* The processor's own conversions of float16, some at a time; what is left one by one.
 */
#define HARDWARE(set, target, lanes, load, widen, store, loads, narrow, stores)        \
    target static void widen_float16_##set(float *restrict out,                        \
                                           const uint16_t *restrict x, int64_t count)  \
    {                                                                                  \
        int64_t i = 0;                                                                 \
        for (; i + (lanes) <= count; i += (lanes))                                     \
            store(out + i, widen(load((const void *)(x + i))));                        \
        for (; i < count; i++)                                                         \
            out[i] = dt_from_float16(x[i]);                                            \
    }                                                                                  \
                                                                                       \
    target static void narrow_float16_##set(uint16_t *restrict out,                    \
                                            const float *restrict x, int64_t count)    \
    {                                                                                  \
        int64_t i = 0;                                                                 \
        for (; i + (lanes) <= count; i += (lanes))                                     \
            stores((void *)(out + i), narrow(loads(x + i), _MM_FROUND_TO_NEAREST_INT | \
                                                               _MM_FROUND_NO_EXC));    \
        for (; i < count; i++)                                                         \
            out[i] = dt_to_float16(x[i]);                                              \
    }

#define DT_F16C __attribute__((target("avx2,fma,f16c")))

HARDWARE(avx2, DT_F16C, 8, _mm_loadu_si128, _mm256_cvtph_ps, _mm256_storeu_ps,
         _mm256_loadu_ps, _mm256_cvtps_ph, _mm_storeu_si128)
LOOP(widen_bfloat16_avx2, float, uint16_t, dt_from_bfloat16, DT_AVX2)
LOOP(narrow_bfloat16_avx2, uint16_t, float, dt_to_bfloat16, DT_AVX2)
LEVEL(avx2)

HARDWARE(avx512, DT_AVX512, 16, _mm256_loadu_si256, _mm512_cvtph_ps, _mm512_storeu_ps,
         _mm512_loadu_ps, _mm512_cvtps_ph, _mm256_storeu_si256)
LOOP(widen_bfloat16_avx512, float, uint16_t, dt_from_bfloat16, DT_AVX512)
LOOP(narrow_bfloat16_avx512, uint16_t, float, dt_to_bfloat16, DT_AVX512)
LEVEL(avx512)

static const conversions *const TABLE[] = {&base, &avx2, &avx512};
#else
static const conversions *const TABLE[] = {&base};
#endif

enum { EACH = 6 }; /* for dt_team_run */

typedef struct {
    dt_dtype half;
    float *wide;
    uint16_t *narrow;
} conversion;

static void
widen_part(void *work, int64_t begin, int64_t end)
{
    const conversion *c = work;
    TABLE[dt_level()]->widen[c->half == DT_BFLOAT16](c->wide + begin, c->narrow + begin,
                                                     end - begin);
}

static void
narrow_part(void *work, int64_t begin, int64_t end)
{
    const conversion *c = work;
    TABLE[dt_level()]->narrow[c->half == DT_BFLOAT16](c->narrow + begin,
                                                      c->wide + begin, end - begin);
}

void
dt_widen(dt_dtype half, float *out, const uint16_t *x, int64_t count)
{
    conversion c = {half, out, (uint16_t *)(uintptr_t)x};
    dt_team_run(count, EACH, widen_part, &c);
}

void
dt_narrow(dt_dtype half, uint16_t *out, const float *x, int64_t count)
{
    conversion c = {half, (float *)(uintptr_t)x, out};
    dt_team_run(count, EACH, narrow_part, &c);
}

dt_narrowed
dt_narrow_look(dt_dtype half, const uint16_t *out, const float *x, int64_t count)
{
    const uint32_t exponent = half == DT_BFLOAT16 ? 0x7f80 : 0x7c00;
    uint32_t special = 0, tiny = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t found = out[i] & exponent;
        special |= found == exponent;
        tiny |= (found == 0) & (dt_bits_of_float(x[i]) << 1 != 0);
    }
    return (dt_narrowed){special != 0, tiny != 0};
}
