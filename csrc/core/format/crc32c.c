/* crc32c.c: polynomials over two elements, modulo that of Castagnoli. Bit 31 of a word
 * is the coefficient of x^0, bit 0 that of x^31. */
#include "core/format/crc32c.h"

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static const uint32_t POLYNOMIAL = UINT32_C(0x82f63b78);

static uint32_t
times_x(uint32_t a)
{
    return a & 1 ? a >> 1 ^ POLYNOMIAL : a >> 1;
}

static uint32_t
times(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (uint32_t bit = UINT32_C(1) << 31; bit != 0; bit >>= 1) {
        if (a & bit)
            product ^= b;
        b = times_x(b);
    }
    return product;
}

uint32_t
dt_crc32c_shift(uint32_t crc, uint64_t bytes)
{
    uint32_t power = UINT32_C(1) << 23; /* x^8: one byte */
    for (; bytes != 0; bytes >>= 1) {
        if (bytes & 1)
            crc = times(power, crc);
        power = times(power, power);
    }
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2,crc32"))) static uint32_t
by_instruction(uint32_t crc, const unsigned char *data, size_t bytes)
{
    uint64_t state = crc;
    for (; bytes >= 8; data += 8, bytes -= 8) {
        uint64_t word;
        memcpy(&word, data, 8);
        state = _mm_crc32_u64(state, word);
    }
    crc = (uint32_t)state;
    for (; bytes > 0; data++, bytes--)
        crc = _mm_crc32_u8(crc, *data);
    return crc;
}

static bool
has_instruction(void)
{
    return __builtin_cpu_supports("sse4.2");
}
#else
static uint32_t
by_instruction(uint32_t crc, const unsigned char *data, size_t bytes)
{
    (void)data, (void)bytes;
    return crc;
}

static bool
has_instruction(void)
{
    return false;
}
#endif

enum { LANES = 8, LONG = 4096 };

/* Row k: what a byte becomes when k more bytes have followed it. */
static void
make_table(uint32_t table[LANES][256])
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t a = byte;
        for (int bit = 0; bit < 8; bit++)
            a = times_x(a);
        table[0][byte] = a;
    }
    for (int k = 1; k < LANES; k++)
        for (int byte = 0; byte < 256; byte++) {
            uint32_t a = table[k - 1][byte];
            table[k][byte] = a >> 8 ^ table[0][a & 255];
        }
}

/* Eight bytes at a time, with a table that is made on the stack: two thousand steps,
 * for the core has no memory of its own and long data do not notice. */
static uint32_t
by_table(uint32_t crc, const unsigned char *data, size_t bytes)
{
    uint32_t table[LANES][256];
    make_table(table);
    for (; bytes >= LANES; data += LANES, bytes -= LANES) {
        uint32_t next = 0;
        for (int k = 0; k < LANES; k++) {
            uint32_t byte = data[k] ^ (k < 4 ? crc >> 8 * k & 255 : 0);
            next ^= table[LANES - 1 - k][byte];
        }
        crc = next;
    }
    for (; bytes > 0; data++, bytes--)
        crc = crc >> 8 ^ table[0][(crc ^ *data) & 255];
    return crc;
}

static uint32_t
by_bits(uint32_t crc, const unsigned char *data, size_t bytes)
{
    for (; bytes > 0; data++, bytes--) {
        crc ^= *data;
        for (int bit = 0; bit < 8; bit++)
            crc = times_x(crc);
    }
    return crc;
}

uint32_t
dt_crc32c_portable(uint32_t crc, const void *data, size_t bytes)
{
    return ~(bytes < LONG ? by_bits : by_table)(~crc, data, bytes);
}

uint32_t
dt_crc32c(uint32_t crc, const void *data, size_t bytes)
{
    return has_instruction() ? ~by_instruction(~crc, data, bytes)
                             : dt_crc32c_portable(crc, data, bytes);
}
