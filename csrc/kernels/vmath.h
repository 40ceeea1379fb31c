/* vmath.h: functions of vectors of REAL. levels.h includes it for each instruction set
 * and precision; in the loops they are called by these names.
 *
 * A value of type `vec` has LANES numbers; +, -, *, / and the comparisons work on it as
 * on numbers (a comparison gives an `ivec` of 0 and -1), and numbers stand beside it.
 *
 * Error in units of the last place, as tests/kernels/test_vmath.c holds it:
 *
 *     v_exp 1.1   v_log 1   v_log1p 1.5   v_expm1 2.5   v_tanh 3   v_sigmoid 3
 *     v_erf 3     v_erfc 20   v_normal 20
 *
 * All give what C's functions give for infinities, NaN and subnormal numbers; but
 * v_sigmoid gives 0 for a subnormal one, v_expm1 takes x up to 88 (709) and gives 0 for
 * -0.0, and v_normal and v_erfc give 0 below 1e-38 (1e-308) and lose more bits than that
 * beyond 5 standard deviations: v_erfc up to 4, of float64 8; without a fused multiply-add
 * 7 and 11. The polynomials are those of least error, found by Remez' exchange. */
#ifndef DT_VMATH_NAMES
#define DT_VMATH_NAMES
#define vec K(vec)
#define ivec K(ivec)
#define uvec K(uvec)
#define LANES K(LANES)
#define v_load K(v_load)
#define v_load_part K(v_load_part)
#define v_store K(v_store)
#define v_store_part K(v_store_part)
#define v_splat K(v_splat)
#define v_get K(v_get)
#define v_get_or K(v_get_or)
#define v_put K(v_put)
#define v_part K(v_part)
#define v_select K(v_select)
#define v_abs K(v_abs)
#define v_fold_sum K(v_fold_sum)
#define v_fold_max K(v_fold_max)
#define v_sum K(v_sum)
#define v_max_of K(v_max_of)
#define v_poly K(v_poly)
#define v_power K(v_power)
#define v_exp K(v_exp)
#define v_expm1 K(v_expm1)
#define v_tanh K(v_tanh)
#define v_sigmoid K(v_sigmoid)
#define v_log K(v_log)
#define v_log1p K(v_log1p)
#define v_erf_tail K(v_erf_tail)
#define v_erf K(v_erf)
#define v_erfc K(v_erfc)
#define v_gauss_of K(v_gauss_of)
#define v_gauss K(v_gauss)
#define v_bell K(v_bell)
#define v_tail K(v_tail)
#define v_normal K(v_normal)
#define V_POLY(x, table) v_poly(x, K(table), sizeof K(table) / sizeof(REAL))
#define V_INLINE TARGET static inline __attribute__((always_inline))
#endif

typedef REAL vec __attribute__((vector_size(VECTOR_BYTES)));
#if PRECISION == 32
typedef int32_t ivec __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t uvec __attribute__((vector_size(VECTOR_BYTES)));
#else
typedef int64_t ivec __attribute__((vector_size(VECTOR_BYTES)));
typedef uint64_t uvec __attribute__((vector_size(VECTOR_BYTES)));
#endif
enum { LANES = VECTOR_BYTES / sizeof(REAL) };

/* --- moving --- */

V_INLINE vec
v_load(const REAL *from)
{
    vec x;
    memcpy(&x, from, sizeof x);
    return x;
}

V_INLINE void
v_store(REAL *to, vec x)
{
    memcpy(to, &x, sizeof x);
}

V_INLINE vec
v_splat(REAL x)
{
    return x - (vec){0};
}

/* The first `count` lanes; `fill` in the others. 0 <= count <= LANES. */
V_INLINE vec
v_load_part(const REAL *from, int64_t count, REAL fill)
{
    vec x = v_splat(fill);
    memcpy(&x, from, (size_t)count * sizeof(REAL));
    return x;
}

V_INLINE void
v_store_part(REAL *to, vec x, int64_t count)
{
    memcpy(to, &x, (size_t)count * sizeof(REAL));
}

/* The first `left` lanes, if there are not as many as a vector has: so that one loop
 * goes over an array of any length. */
V_INLINE vec
v_get_or(const REAL *from, int64_t left, REAL fill)
{
    return left >= LANES ? v_load(from) : v_load_part(from, left, fill);
}

V_INLINE vec
v_get(const REAL *from, int64_t left)
{
    return v_get_or(from, left, 0);
}

V_INLINE void
v_put(REAL *to, vec x, int64_t left)
{
    if (left >= LANES)
        v_store(to, x);
    else
        v_store_part(to, x, left);
}

/* The first `left` lanes of it, 0 in the others. */
V_INLINE vec
v_part(vec x, int64_t left)
{
    if (left >= LANES)
        return x;
    REAL lane[LANES];
    memcpy(lane, &x, sizeof x);
    return v_load_part(lane, left, 0);
}

/* --- choosing: V_MAX(a, b) and V_MIN(a, b) give b where one of them is NaN --- */

V_INLINE vec
v_select(ivec where, vec a, vec b)
{
    return (vec)((where & (ivec)a) | (~where & (ivec)b));
}

V_INLINE vec
v_abs(vec x)
{
#if PRECISION == 32
    return (vec)((ivec)x & INT32_MAX);
#else
    return (vec)((ivec)x & INT64_MAX);
#endif
}

/* --- across lanes, in halves --- */

V_INLINE REAL
v_fold_sum(vec x)
{
    REAL lane[LANES];
    memcpy(lane, &x, sizeof x);
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++)
            lane[k] += lane[k + half];
    return lane[0];
}

V_INLINE REAL
v_fold_max(vec x)
{
    REAL lane[LANES];
    memcpy(lane, &x, sizeof x);
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++)
            lane[k] = lane[k] > lane[k + half] ? lane[k] : lane[k + half];
    return lane[0];
}

V_INLINE REAL
v_sum(vec x)
{
    return V_SUM(x);
}

/* The greatest; any of them where there is NaN. */
V_INLINE REAL
v_max_of(vec x)
{
    return V_TOP(x);
}

/* --- numbers of the functions --- */

#if PRECISION == 32
static const REAL K(EXP)[] = {0.5000000085f, 0.1666652405f, 0.04166622765f,
                              0.008368404656f, 0.001394939104f};
static const REAL K(LOG)[] = {0.6666666655f, 0.4000012309f, 0.2855069897f,
                              0.2333341875f};
static const REAL K(ERF)[] = {1.128379166f,    -0.3761262582f, 0.1128358515f,
                              -0.02685381191f, 0.00518832761f, -0.0008010192794f,
                              7.853858231e-5f};
static const REAL K(TAIL)[] = {0.1093475808f,    -0.1911337885f,   0.125720642f,
                               -0.05876824867f,  0.01627003766f,   -0.0002921332101f,
                               -0.001484320454f, 0.0002033316916f, 0.0001552366529f};
static const REAL K(GAUSS)[] = {0.1249980848f, -0.02083389507f, 0.002618120167f,
                                -0.0002597616009f};
#define TAIL_MIDDLE 3.390625f
#define SQUARE_HIGH 174.6f /* e^(-x/2) is subnormal above */
#define EXP_LOW -104.0f    /* e^x is 0 below, and infinite above EXP_HIGH */
#define EXP_HIGH 89.0f
#define EXPM1_LOW -30.0f /* e^x - 1 is -1 below */
#define EXPM1_HIGH 88.0f
#define LOG2E 0x1.715476p+0f
#define LN2_HIGH 0x1.62ep-1f
#define LN2_LOW 0x1.0bfbe8p-15f
#define MAGIC 0x1.8p23f /* x + MAGIC has round(x) in its last bits */
#define MAGIC_BITS 0x4b400000
#define MANTISSA 23
#define BIAS 127
#define ROOT_HALF_BITS 0x3f3504f3
#define ONE_BITS 0x3f800000
#define NORMAL 0x1p-126f
#else
static const REAL K(EXP)[] = {0.5000000000000006496,      0.16666666666666690477,
                              0.041666666666559715285,    0.0083333333333117516759,
                              0.0013888888936790507312,   0.00019841269908960790608,
                              0.000024801499479203353603, 2.7557222894715703468e-6,
                              2.7628167130281477766e-7,   2.5115998365567200418e-8};
static const REAL K(LOG)[] = {0.66666666666666697486, 0.39999999999897887842,
                              0.28571428626651406864, 0.22222211031749324461,
                              0.18182896207631686,    0.15331497764506818416,
                              0.14619096992012278532};
static const REAL K(ERF)[] = {
    1.1283791670955125737,     -0.37612638903183747605,    0.1128379167095485751,
    -0.026866170645072897031,  0.0052239776247808821549,   -0.00085483269787429198379,
    0.000120553310369217175,   -0.00001492559350735341155, 1.6460972823623673181e-6,
    -1.6350025285488932035e-7, 1.4657880224331206678e-8,   -1.1365667300509383036e-9,
    5.9452637991276417265e-11};
static const REAL K(TAIL)[] = {
    0.076919304975006295913,    -0.14345755526401197375,     0.11606881188600329391,
    -0.080883877264127260072,   0.047855352284169985943,     -0.023413900487695820029,
    0.0089913705505910068229,   -0.0023788443566565008896,   0.00021955073761340913403,
    0.00013427684325774326768,  -0.000060427482765090058181, 9.6130609635518558643e-7,
    6.6444212169226608366e-6,   -1.2700747983192285108e-6,   -6.750787030252151522e-7,
    2.4334347298123126811e-7,   7.7107263721684651846e-8,    -3.916270728551823623e-8,
    -1.0994110822266441447e-8,  5.684739073301518258e-9,     1.8241872293120964093e-9,
    -5.6810414771620411396e-10, -2.3100808028541857005e-10};
static const REAL K(GAUSS)[] = {
    0.12500000000000016240,     -0.020833333333333363096,
    0.0026041666666599822053,   -0.00026041666666599223987,
    0.000021701388963735167675, -0.0000015500992116375617662,
    9.6880857340638100012e-8,   -5.3822700966241608336e-9,
    2.6980631963165505631e-10,  -1.2263671076937109579e-11};
#define TAIL_MIDDLE 5.0
#define SQUARE_HIGH 1416.7
#define EXP_LOW -746.0
#define EXP_HIGH 710.0
#define EXPM1_LOW -50.0
#define EXPM1_HIGH 709.0
#define LOG2E 0x1.71547652b82fep+0
#define LN2_HIGH 0x1.62e42fee00000p-1
#define LN2_LOW 0x1.a39ef35793c76p-33
#define MAGIC 0x1.8p52
#define MAGIC_BITS 0x4338000000000000
#define MANTISSA 52
#define BIAS 1023
#define ROOT_HALF_BITS 0x3fe6a09e667f3bcd
#define ONE_BITS 0x3ff0000000000000
#define NORMAL 0x1p-1022
#endif

/* --- functions --- */

/* c[0] + c[1] x + ... + c[count - 1] x^(count - 1). */
V_INLINE vec
v_poly(vec x, const REAL *c, int count)
{
    vec sum = v_splat(c[count - 1]);
    for (int k = count - 2; k >= 0; k--)
        sum = V_FMA(sum, x, v_splat(c[k]));
    return sum;
}

/* e^x = 2^n e^r, |r| <= ln 2 / 2: returns e^r - 1 = r + r^2 q(r). The product n
 * LN2_HIGH is exact also where it is not fused. (Of NaN, n is anything: it is computed
 * with as an unsigned number, which may wrap.) */
V_INLINE vec
v_power(uvec *n, vec x)
{
    vec shifted = V_FMA(x, v_splat(LOG2E), v_splat(MAGIC));
    vec whole = shifted - MAGIC;
    vec r = V_FMA(whole, v_splat(-LN2_HIGH), x);
    r = V_FMA(whole, v_splat(-LN2_LOW), r);
    *n = (uvec)shifted - MAGIC_BITS;
    return V_FMA(r * r, V_POLY(r, EXP), r);
}

/* 2^n is multiplied in two halves, for n is as low as -1076 and as high as 1025. What is
 * 0 is made so, since a product that underflows takes many times as long; softmax with a
 * mask has many. */
V_INLINE vec
v_exp(vec x)
{
    uvec n;
    ivec small = (ivec)(x < v_splat(EXP_LOW));
    x = V_MIN(v_splat(EXP_HIGH), (vec)((ivec)x & ~small));
    vec e = v_power(&n, x) + 1;
    uvec half = ((n + 4 * BIAS) >> 1) - BIAS; /* of n, plus BIAS */
    uvec rest = n - half + 2 * BIAS;
    vec y = e * (vec)(half << MANTISSA) * (vec)(rest << MANTISSA);
    return (vec)((ivec)y & ~small);
}

/* e^x - 1; an x above 88 (709) counts as that. */
V_INLINE vec
v_expm1(vec x)
{
    uvec n;
    vec e = v_power(&n, V_MIN(v_splat(EXPM1_HIGH), V_MAX(v_splat(EXPM1_LOW), x)));
    vec power = (vec)((n + BIAS) << MANTISSA);
    return V_FMA(power, e, power - 1);
}

V_INLINE vec
v_tanh(vec x)
{
    ivec sign = (ivec)x & (ivec)v_splat((REAL)-0.0);
    vec e = v_expm1(V_MIN(v_splat(EXPM1_HIGH), 2 * v_abs(x)));
    return (vec)((ivec)(e / (e + 2)) | sign);
}

V_INLINE vec
v_sigmoid(vec x)
{
    return 1 / (1 + v_exp(-x));
}

/* x = 2^n (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), and with s = f / (2 + f)
 * log(1 + f) = f - f^2/2 + s (f^2/2 + s^2 q(s^2)). */
V_INLINE vec
v_log(vec x)
{
    const REAL up = (REAL)(INT64_C(1) << (MANTISSA + 2));
    ivec tiny = x < NORMAL;
    uvec bits = (uvec)v_select(tiny, x * up, x);
    uvec biased = (bits + (ONE_BITS - ROOT_HALF_BITS)) >> MANTISSA;
    vec f = (vec)(bits - ((biased - BIAS) << MANTISSA)) - 1;
    uvec n = biased - BIAS - (uvec)(tiny & (MANTISSA + 2));
    vec power = (vec)(n + MAGIC_BITS) - MAGIC;
    vec s = f / (f + 2), square = s * s, half = (REAL)0.5 * f * f;
    vec rest =
        V_FMA(power, v_splat(LN2_LOW), s * (half + square * V_POLY(square, LOG)));
    vec y = V_FMA(power, v_splat(LN2_HIGH), f - (half - rest));
    y = v_select(x == v_splat((REAL)INFINITY), x, y);
    y = v_select(x == 0, v_splat((REAL)-INFINITY), y);
    return v_select(x >= 0, y, v_splat((REAL)NAN));
}

/* log(1 + x) for 0 <= x <= 1, and NaN: what 1 + x has lost is added. */
V_INLINE vec
v_log1p(vec x)
{
    vec up = 1 + x;
    return v_log(up) + (x - (up - 1)) / up;
}

/* e^(-(square + lost)/2); 0 where that is subnormal. As v_power, with u = -2r, to which is
 * added what the square has lost. */
V_INLINE vec
v_gauss_of(vec square, vec lost)
{
    vec shifted = V_FMA(square, v_splat((REAL)-0.5 * LOG2E), v_splat(MAGIC));
    vec whole = shifted - MAGIC;
    vec u = V_FMA(whole, v_splat(2 * (REAL)M_LN2), square) + lost;
    vec slope = V_FMA(u, V_POLY(u, GAUSS), v_splat((REAL)-0.5));
    vec e = V_FMA(u, slope, v_splat(1));
    uvec power = ((uvec)shifted - MAGIC_BITS + BIAS) << MANTISSA;
    return v_select(square > SQUARE_HIGH, v_splat(0), e * (vec)power);
}

/* e^(-a^2/2), and e^(-a^2). */
V_INLINE vec
v_gauss(vec a)
{
    vec square = a * a;
    return v_gauss_of(square, V_FMA(a, a, -square));
}

V_INLINE vec
v_bell(vec a)
{
    vec square = a * a;
    return v_gauss_of(2 * square, 2 * V_FMA(a, a, -square));
}

/* P(X > a) of the normal distribution for a >= 0, divided by e^(-a^2/2). */
V_INLINE vec
v_tail(vec a)
{
    a = V_MIN(v_splat(40), a); /* NaN stays */
    return V_POLY((a - TAIL_MIDDLE) / (a + TAIL_MIDDLE), TAIL);
}

/* P(X <= x) of the normal distribution; *e = e^(-x^2/2). */
V_INLINE vec
v_normal(vec *e, vec x)
{
    vec a = v_abs(x);
    *e = v_gauss(a);
    vec tail = v_tail(a) * *e;
    return v_select(x > 0, 1 - tail, tail);
}

/* 1 - erf(a) for a >= 0. */
V_INLINE vec
v_erf_tail(vec a)
{
    return 2 * v_tail((REAL)M_SQRT2 * a) * v_bell(a);
}

V_INLINE vec
v_erf(vec x)
{
    vec a = v_abs(x), small = x * V_POLY(x * x, ERF), tail = v_erf_tail(a);
    ivec sign = (ivec)x & (ivec)v_splat((REAL)-0.0);
    return v_select(a < 1, small, (vec)((ivec)(1 - tail) | sign));
}

V_INLINE vec
v_erfc(vec x)
{
    vec tail = v_erf_tail(v_abs(x));
    return v_select(x > 0, tail, 2 - tail);
}

#undef TAIL_MIDDLE
#undef SQUARE_HIGH
#undef EXP_LOW
#undef EXP_HIGH
#undef EXPM1_LOW
#undef EXPM1_HIGH
#undef LOG2E
#undef LN2_HIGH
#undef LN2_LOW
#undef MAGIC
#undef MAGIC_BITS
#undef MANTISSA
#undef BIAS
#undef ROOT_HALF_BITS
#undef ONE_BITS
#undef NORMAL
