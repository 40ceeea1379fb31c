/* Without branches and calls, for compilers to make vectors of the loops. */
#include "kernels/random_normal.h"

#include "kernels/half.h"

#include <math.h>

static const uint64_t ONE = UINT64_C(0x3ff0000000000000); /* the bits of 1.0 */

/* 1 + u, where u in [0, 1) has the highest 52 bits of a word. */
static inline double
one_and_more(uint64_t word)
{
    return dt_double_of_bits(ONE | word >> 12);
}

/* The natural logarithm of a normal number x <= 1, by x = 2^e m with m next to 1:
 * ln m = 2 artanh(s), s = (m - 1) / (m + 1), by Taylor's series: |s| < 0.1716, so what
 * is left out is below 2^-60 of it. */
static inline double
logarithm(double x)
{
    const uint64_t root = UINT64_C(0x3fe6a09e667f3bcd); /* of 1/2 */
    const double magic = 0x1p52;
    uint64_t bits = dt_bits_of_double(x);
    uint64_t biased = (bits + (ONE - root)) >> 52;
    double exponent =
        dt_double_of_bits(dt_bits_of_double(magic) | biased) - (magic + 1023);
    double m = dt_double_of_bits(bits + ONE - (biased << 52));
    double s = (m - 1) / (m + 1), z = s * s;
    double sum = 2. / 21;
    sum = sum * z + 2. / 19;
    sum = sum * z + 2. / 17;
    sum = sum * z + 2. / 15;
    sum = sum * z + 2. / 13;
    sum = sum * z + 2. / 11;
    sum = sum * z + 2. / 9;
    sum = sum * z + 2. / 7;
    sum = sum * z + 2. / 5;
    sum = sum * z + 2. / 3;
    return exponent * 0x1.62e42fefa39efp-1 + (2 * s + s * (z * sum));
}

/* Sine and cosine of pi / 2 times x, |x| <= 1/2: Taylor's series, whose factors
 * (pi / 2)^k / k! have alternating signs. What is left out is below 2^-57. */
static inline double
sine(double x)
{
    double z = x * x;
    double sum = 6.0669357311061955e-12;
    sum = sum * z - 6.688035109811468e-10;
    sum = sum * z + 5.692172921967927e-08;
    sum = sum * z - 3.598843235212085e-06;
    sum = sum * z + 0.00016044118478735983;
    sum = sum * z - 0.004681754135318688;
    sum = sum * z + 0.07969262624616705;
    sum = sum * z - 0.6459640975062463;
    return x * 1.5707963267948966 + x * (z * sum);
}

static inline double
cosine(double x)
{
    double z = x * x;
    double sum = 6.565963114979473e-11;
    sum = sum * z - 6.386603083791852e-09;
    sum = sum * z + 4.710874778818172e-07;
    sum = sum * z - 2.5202042373060607e-05;
    sum = sum * z + 0.0009192602748394266;
    sum = sum * z - 0.02086348076335296;
    sum = sum * z + 0.25366950790104803;
    sum = sum * z - 1.2337005501361697;
    return 1 + z * sum;
}

/* bit ? a : b, and a with the sign changed if bit, by bits: a branch would make no
 * vectors. */
static inline double
pick(uint64_t bit, double a, double b)
{
    uint64_t mask = 0 - bit;
    return dt_double_of_bits((dt_bits_of_double(a) & mask) |
                             (dt_bits_of_double(b) & ~mask));
}

static inline double
flip(uint64_t bit, double a)
{
    return dt_double_of_bits(dt_bits_of_double(a) ^ bit << 63);
}

void
dt_random_normals(double *out, const uint64_t *words, int64_t pairs)
{
    const double magic = 0x1.8p52; /* added, it rounds to whole numbers */
    for (int64_t k = 0; k < pairs; k++) {
        double radius = sqrt(-2 * logarithm(2 - one_and_more(words[2 * k])));
        double quarters = 4 * (one_and_more(words[2 * k + 1]) - 1);
        double rounded = quarters + magic;
        uint64_t turn = dt_bits_of_double(rounded);
        double x = quarters - (rounded - magic);
        double s = sine(x), c = cosine(x);
        out[2 * k] = radius * flip((turn + 1) >> 1 & 1, pick(turn & 1, s, c));
        out[2 * k + 1] = radius * flip(turn >> 1 & 1, pick(turn & 1, c, s));
    }
}

void
dt_random_exponentials(double *out, const uint64_t *words, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        out[k] = 0 - logarithm(2 - one_and_more(words[k])); /* not -0.0 */
}
