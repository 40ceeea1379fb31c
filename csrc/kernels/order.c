#include "kernels/order.h"

#include <stddef.h>
#include <string.h>

/* An element becomes an unsigned number that is ordered as it is, with its index below:
 * no two of these are equal, and their order is that of a stable sort. */
typedef unsigned __int128 wide_key;
typedef uint64_t key;

enum { INDEX_BITS = 32 }; /* of `key`; of a wide one twice as many */

bool
dt_order_has(dt_dtype dtype)
{
    return dt_dtype_size(dtype) <= 8 && dt_dtype_kind(dtype) != 'c';
}

static bool
is_wide(const dt_line *line)
{
    return dt_dtype_size(line->dtype) > 4 || line->length >> (INDEX_BITS - 1) != 0;
}

size_t
dt_order_scratch(const dt_line *line)
{
    return 2 * (size_t)line->length * (is_wide(line) ? sizeof(wide_key) : sizeof(key));
}

/* --- numbers as keys --- */

/* Of a float of so many bits, of which the largest finite one is followed by infinity
 * and then by NaN. */
static inline uint64_t
of_float(uint64_t bits, int width, uint64_t infinity)
{
    uint64_t sign = (uint64_t)1 << (width - 1), all = sign | (sign - 1);
    if ((bits & (sign - 1)) > infinity)
        return all;
    if ((bits & (sign - 1)) == 0)
        return sign;
    return bits & sign ? ~bits & all : bits | sign;
}

#define READ(name, type, number)                                                       \
    static inline uint64_t name(const char *from)                                      \
    {                                                                                  \
        type x;                                                                        \
        memcpy(&x, from, sizeof x);                                                    \
        return (number);                                                               \
    }

READ(of_bool, uint8_t, x != 0)
READ(of_uint8, uint8_t, x)
READ(of_uint16, uint16_t, x)
READ(of_uint32, uint32_t, x)
READ(of_uint64, uint64_t, x)
READ(of_int8, uint8_t, x ^ 0x80u)
READ(of_int16, uint16_t, x ^ 0x8000u)
READ(of_int32, uint32_t, x ^ 0x80000000u)
READ(of_int64, uint64_t, x ^ (uint64_t)1 << 63)
READ(of_float16, uint16_t, of_float(x, 16, 0x7C00))
READ(of_bfloat16, uint16_t, of_float(x, 16, 0x7F80))
READ(of_float32, uint32_t, of_float(x, 32, 0x7F800000))
READ(of_float64, uint64_t, of_float(x, 64, (uint64_t)0x7FF << 52))

static uint64_t
most_of(dt_dtype dtype)
{
    return UINT64_MAX >> (64 - 8 * dt_dtype_size(dtype));
}

#define FILL(read)                                                                     \
    for (int64_t k = 0; k < n; k++)                                                    \
        keys[k] = (read(from + k * line->step) ^ flip) * one | (uint64_t)k;            \
    break

/* What is equal to the last one comes after it. */
#define PICK(read)                                                                     \
    for (int64_t k = count; k < n; k++) {                                              \
        uint64_t own = read(from + k * line->step) ^ flip;                             \
        if (own < last) {                                                              \
            K(take_in)(keys, count, (KEY)own << BITS | (uint64_t)k);                   \
            last = (uint64_t)(keys[count - 1] >> BITS);                                \
        }                                                                              \
    }                                                                                  \
    break

#define FOR_DTYPES(action)                                                             \
    case DT_BOOL:                                                                      \
        action(of_bool);                                                               \
    case DT_INT8:                                                                      \
        action(of_int8);                                                               \
    case DT_INT16:                                                                     \
        action(of_int16);                                                              \
    case DT_INT32:                                                                     \
        action(of_int32);                                                              \
    case DT_INT64:                                                                     \
        action(of_int64);                                                              \
    case DT_UINT8:                                                                     \
        action(of_uint8);                                                              \
    case DT_UINT16:                                                                    \
        action(of_uint16);                                                             \
    case DT_UINT32:                                                                    \
        action(of_uint32);                                                             \
    case DT_UINT64:                                                                    \
        action(of_uint64);                                                             \
    case DT_FLOAT16:                                                                   \
        action(of_float16);                                                            \
    case DT_BFLOAT16:                                                                  \
        action(of_bfloat16);                                                           \
    case DT_FLOAT32:                                                                   \
        action(of_float32);                                                            \
    case DT_FLOAT64:                                                                   \
        action(of_float64);                                                            \
    default: /* the others have no keys */                                             \
        break;

#define NAME_OF(name, suffix) name##_##suffix

/* --- the order of keys --- */

enum { SHORT = 24, FEW = 32, RADIX_BITS = 8, RADIX = 1 << RADIX_BITS };

#define KEY key
#define BITS INDEX_BITS
#define K(name) NAME_OF(name, narrow)
#include "kernels/order_loops.h"
#undef KEY
#undef BITS
#undef K

#define KEY wide_key
#define BITS (2 * INDEX_BITS)
#define K(name) NAME_OF(name, wide)
#include "kernels/order_loops.h"

void
dt_order_first(int64_t *out, int64_t out_step, const void *x, const dt_line *line,
               int64_t count, void *scratch)
{
    (is_wide(line) ? first_wide : first_narrow)(out, out_step, x, line, count, scratch);
}

int64_t
dt_order_at(const void *x, const dt_line *line, int64_t place, bool nan, void *scratch)
{
    return (is_wide(line) ? at_wide : at_narrow)(x, line, place, nan, scratch);
}

int64_t
dt_order_mode(const void *x, const dt_line *line, void *scratch)
{
    return (is_wide(line) ? mode_wide : mode_narrow)(x, line, scratch);
}
