/* half.h: floating numbers as bits; float16 and bfloat16 to float32 and back, rounding to nearest, ties
 * to even. Bit for bit what F16C does, also for subnormal numbers; a NaN keeps its sign
 * and the high bits of its payload, and gets quiet. */
#ifndef DT_HALF_H
#define DT_HALF_H

#include <stdint.h>
#include <string.h>

static inline float
dt_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t
dt_bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double
dt_double_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t
dt_bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Every case is computed and one chosen, so that compilers make vectors of it. */
static inline float
dt_from_float16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = half & 0x7fff;
    uint32_t normal = (rest << 13) + (UINT32_C(112) << 23); /* bias 127 for 15 */
    uint32_t small = dt_bits_of_float((float)(int32_t)rest * 0x1p-24f);
    uint32_t special = (rest << 13) | (rest > 0x7c00 ? 0x7fc00000 : 0x7f800000);
    uint32_t bits = rest < 0x400 ? small : rest < 0x7c00 ? normal : special;
    return dt_float_of_bits(sign | bits);
}

static inline uint16_t
dt_to_float16(float value)
{
    uint32_t bits = dt_bits_of_float(value);
    uint32_t sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    uint32_t normal = (rest + 0xfff + (rest >> 13 & 1) - (UINT32_C(112) << 23)) >> 13;
    /* 0.5f has the last place of a subnormal float16: the addition rounds. */
    uint32_t small = dt_bits_of_float(dt_float_of_bits(rest) + 0.5f) - 0x3f000000;
    uint32_t special = rest > 0x7f800000 ? 0x7e00 | (rest >> 13 & 0x3ff) : 0x7c00;
    uint32_t half = rest < 0x38800000 ? small : rest < 0x477ff000 ? normal : special;
    return (uint16_t)(sign | half);
}

static inline float
dt_from_bfloat16(uint16_t half)
{
    return dt_float_of_bits((uint32_t)half << 16);
}

static inline uint16_t
dt_to_bfloat16(float value)
{
    uint32_t bits = dt_bits_of_float(value);
    uint32_t nearest = bits + 0x7fff + (bits >> 16 & 1);
    uint32_t nan = bits | 0x400000;
    return (uint16_t)(((bits & 0x7fffffff) > 0x7f800000 ? nan : nearest) >> 16);
}

#endif
