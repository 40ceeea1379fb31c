/* A block of the result is 32 x 32: two by two tiles. A step is 32 terms of its sums:
 * both operands are packed into tiles of 16 lines of 64 bytes, which both instruction
 * sets take. A tile of `a` has 16 rows, a line for each, of 32 terms; one of `b` a line for
 * each pair of terms, in which 16 columns have theirs beside each other.
 *
 * Around it the usual blocks (Goto and van de Geijn, 2008, doi:10.1145/1356052.1356053):
 * packed `b` stays in the second cache, and a panel of `a` in the first. */
#include "kernels/product.h"

#include "kernels/half.h"
#include "kernels/level.h"

#include <string.h>

bool
dt_product_takes(dt_factor x, int64_t rows, int64_t columns)
{
    return x.row == 1 || x.column == 1 || rows <= 1 || columns <= 1;
}

#if defined(__x86_64__) && (defined(__clang__) || __GNUC__ >= 11) /* which know AMX */

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BYTES_AND_WORDS __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define DOT_PRODUCTS                                                                   \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))
#define TILES __attribute__((target("avx512f,amx-tile,amx-bf16")))

enum {
    TILE = 16,           /* lines */
    STEP = 32,           /* terms */
    CELLS = TILE * STEP, /* elements of a packed tile */
    BLOCK = 2 * TILE,    /* rows, and columns */
    DEPTH = 512,         /* terms of a panel */
    COLUMNS = 1024,      /* of packed b */
    ROWS = 1024          /* whose sums are kept until all terms are added */
};

/* --- what the processor has --- */

/* The kernel of the system has to be asked for the registers of AMX, once. */
static bool
tiles_are_allowed(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

static bool has_dots, has_tiles;
static dt_product_way best, used;

/* On an Intel processor with AMX the dot products of AVX512-BF16 took twice the time of
 * float32, so they are for AMD's, where a dot product is said to take as long as a
 * multiply-add of half as many numbers; that was not measured. */
__attribute__((constructor)) static void
find_way(void)
{
    unsigned int a, b, c, d;
    __builtin_cpu_init();
    has_dots = __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & 1u << 5) != 0;
    has_tiles = has_dots && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
                (d & 1u << 22) != 0 && (d & 1u << 24) != 0 && tiles_are_allowed();
    if (has_tiles)
        best = DT_PRODUCT_AMX;
    else if (has_dots && __builtin_cpu_is("amd"))
        best = DT_PRODUCT_AVX512;
    used = best;
}

dt_product_way
dt_product_used(void)
{
    return dt_level() < 2 ? DT_PRODUCT_NONE : used;
}

dt_product_way
dt_product_use(int way)
{
    bool there = way == DT_PRODUCT_NONE || (way == DT_PRODUCT_AVX512 && has_dots) ||
                 (way == DT_PRODUCT_AMX && has_tiles);
    used = there ? (dt_product_way)way : best;
    return dt_product_used();
}

/* --- packing --- */

/* Exchanges rows and columns of 16 x 16 elements of 32 bits: in four rounds, of blocks of
 * 1, 2, 4 and 8. */
BYTES_AND_WORDS static inline void
turn(__m512i row[TILE])
{
    const __m512i lane =
        _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
#pragma GCC unroll 4
    for (int h = 1; h < TILE; h *= 2) {
        const __m512i by = _mm512_set1_epi32(h);
        const __mmask16 odd = _mm512_test_epi32_mask(lane, by);
        const __m512i other = _mm512_set1_epi32(TILE);
        const __m512i low =
            _mm512_mask_add_epi32(lane, odd, lane, _mm512_sub_epi32(other, by));
        const __m512i high = _mm512_mask_blend_epi32(odd, _mm512_add_epi32(lane, by),
                                                     _mm512_add_epi32(lane, other));
#pragma GCC unroll 16
        for (int i = 0; i < TILE; i++)
            if ((i & h) == 0) {
                __m512i first = row[i], second = row[i + h];
                row[i] = _mm512_permutex2var_epi32(first, low, second);
                row[i + h] = _mm512_permutex2var_epi32(first, high, second);
            }
    }
}

/* A part of a matrix: so many lines, the rows of `a` or the columns of `b`, of so many
 * terms. */
typedef struct {
    const uint16_t *data;
    int64_t line, term; /* distances */
    int64_t lines, terms;
} strip;

/* The first `count` of 32. */
static inline uint32_t
first_of(int64_t count)
{
    return count >= 32 ? UINT32_MAX : count <= 0 ? 0 : (UINT32_C(1) << count) - 1;
}

/* Packs a tile; what is not there is 0. Lines that are contiguous are read as such, else
 * pairs of terms of 16 lines. One of both is what `a` wants, the other one what `b` does;
 * else they are exchanged. */
BYTES_AND_WORDS static void
pack_tile(uint16_t *out, const strip *from, bool of_b)
{
    __m512i row[TILE];
    bool by_line = from->term == 1;
    if (by_line) {
        const __mmask32 there = first_of(from->terms);
#pragma GCC unroll 16
        for (int i = 0; i < TILE; i++)
            row[i] = i < from->lines
                         ? _mm512_maskz_loadu_epi16(there, from->data + i * from->line)
                         : _mm512_setzero_si512();
    } else {
        const __mmask16 there = (__mmask16)first_of(from->lines);
#pragma GCC unroll 16
        for (int p = 0; p < TILE; p++) {
            const uint16_t *at = from->data + 2 * p * from->term;
            __m256i low = _mm256_setzero_si256(), high = low;
            if (2 * p < from->terms)
                low = _mm256_maskz_loadu_epi16(there, at);
            if (2 * p + 1 < from->terms)
                high = _mm256_maskz_loadu_epi16(there, at + from->term);
            row[p] =
                _mm512_or_si512(_mm512_cvtepu16_epi32(low),
                                _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
        }
    }
    if (by_line == of_b)
        turn(row);
#pragma GCC unroll 16
    for (int i = 0; i < TILE; i++)
        _mm512_store_si512(out + i * STEP, row[i]);
}

/* Packs both tiles of a step of a panel. Of one term, or one line, the distance to the next
 * does not matter. */
BYTES_AND_WORDS static void
pack_step(uint16_t *out, const strip *from, int64_t line, int64_t term, bool of_b)
{
    for (int half = 0; half < 2; half++, line += TILE) {
        strip tile = {.data = from->data,
                      .line = from->line,
                      .term = from->terms <= 1 ? 1 : from->term,
                      .lines = from->lines - line,
                      .terms = from->terms - term};
        if (tile.lines > 0)
            tile.data += line * from->line + term * from->term;
        pack_tile(out + half * CELLS, &tile, of_b);
    }
}

/* Panels of 32 lines, one behind another: in each both tiles of a step, then those of the
 * next one. They are made in the order in which memory is read. */
static void
pack(uint16_t *out, const strip *from, bool of_b)
{
    int64_t panels = (from->lines + BLOCK - 1) / BLOCK;
    int64_t steps = (from->terms + STEP - 1) / STEP;
    if (from->term == 1)
        for (int64_t k = 0; k < panels * steps; k++)
            pack_step(out + 2 * CELLS * k, from, k / steps * BLOCK, k % steps * STEP,
                      of_b);
    else
        for (int64_t k = 0; k < panels * steps; k++) {
            int64_t panel = k % panels, step = k / panels;
            pack_step(out + 2 * CELLS * (panel * steps + step), from, panel * BLOCK,
                      step * STEP, of_b);
        }
}

/* --- a block --- */

/* Sums of a block, `pitch` elements from one row to the next. They are set to, or what is
 * there is added to, the products of so many steps; of the second 16 rows only where
 * `tall`. */
typedef void multiply(float *sums, int64_t pitch, const uint16_t *a, const uint16_t *b,
                      int64_t steps, bool tall, bool adds);

TILES static void
multiply_amx(float *sums, int64_t pitch, const uint16_t *a, const uint16_t *b,
             int64_t steps, bool tall, bool adds)
{
    int64_t row = pitch * (int64_t)sizeof *sums;
    float *below = sums + TILE * pitch;
    if (adds) {
        _tile_loadd(0, sums, row);
        _tile_loadd(1, sums + TILE, row);
        _tile_loadd(2, below, row);
        _tile_loadd(3, below + TILE, row);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (int64_t s = 0; s < steps; s++, a += 2 * CELLS, b += 2 * CELLS) {
        _tile_loadd(4, a, 64);
        _tile_loadd(6, b, 64);
        _tile_loadd(7, b + CELLS, 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        if (tall) {
            _tile_loadd(5, a + CELLS, 64);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        }
    }
    _tile_stored(0, sums, row);
    _tile_stored(1, sums + TILE, row);
    _tile_stored(2, below, row);
    _tile_stored(3, below + TILE, row);
}

/* Eight rows of a block. */
DOT_PRODUCTS static inline void
multiply_rows(float *sums, int64_t pitch, const uint16_t *a, const uint16_t *b,
              int64_t steps, bool adds)
{
    enum { AT_ONCE = 8 };
    __m512 sum[AT_ONCE][2];
#pragma GCC unroll 8
    for (int i = 0; i < AT_ONCE; i++)
        for (int half = 0; half < 2; half++)
            sum[i][half] = adds ? _mm512_loadu_ps(sums + i * pitch + half * TILE)
                                : _mm512_setzero_ps();
    for (int64_t s = 0; s < steps; s++, a += 2 * CELLS, b += 2 * CELLS)
        for (int p = 0; p < TILE; p++) {
            __m512bh left = (__m512bh)_mm512_load_si512(b + p * STEP);
            __m512bh right = (__m512bh)_mm512_load_si512(b + CELLS + p * STEP);
#pragma GCC unroll 8
            for (int i = 0; i < AT_ONCE; i++) {
                int32_t pair;
                memcpy(&pair, a + i * STEP + 2 * p, sizeof pair);
                __m512bh x = (__m512bh)_mm512_set1_epi32(pair);
                sum[i][0] = _mm512_dpbf16_ps(sum[i][0], x, left);
                sum[i][1] = _mm512_dpbf16_ps(sum[i][1], x, right);
            }
        }
#pragma GCC unroll 8
    for (int i = 0; i < AT_ONCE; i++)
        for (int half = 0; half < 2; half++)
            _mm512_storeu_ps(sums + i * pitch + half * TILE, sum[i][half]);
}

DOT_PRODUCTS static void
multiply_avx512(float *sums, int64_t pitch, const uint16_t *a, const uint16_t *b,
                int64_t steps, bool tall, bool adds)
{
    for (int i = 0; i < (tall ? BLOCK : TILE); i += 8)
        multiply_rows(sums + i * pitch, pitch, a + i / TILE * CELLS + i % TILE * STEP,
                      b, steps, adds);
}

TILES static void
set_tiles(bool on)
{
    static const struct {
        uint8_t palette, start, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } SHAPE = {.palette = 1,
               .bytes = {64, 64, 64, 64, 64, 64, 64, 64},
               .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
    if (on)
        _tile_loadconfig(&SHAPE);
    else
        _tile_release();
}

/* --- all blocks --- */

static int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t
up(int64_t count, int64_t unit)
{
    return (count + unit - 1) / unit * unit;
}

/* Memory of a call: packed b, a panel of a, and sums: those of a block where all terms are
 * added at once. */
typedef struct {
    uint16_t *b, *a;
    float *sums;
    int64_t pitch;
} room;

static size_t
cut(room *r, const dt_product *p, char *scratch)
{
    int64_t depth = up(least(p->k, DEPTH), STEP);
    int64_t columns = up(least(p->n, COLUMNS), BLOCK);
    int64_t rows = p->k > DEPTH ? up(least(p->m, ROWS), BLOCK) : BLOCK;
    r->pitch = p->k > DEPTH ? columns : BLOCK;
    size_t b = (size_t)(depth * columns) * sizeof *r->b;
    size_t a = (size_t)(depth * BLOCK) * sizeof *r->a;
    r->b = (uint16_t *)(void *)scratch;
    r->a = (uint16_t *)(void *)(scratch + b);
    r->sums = (float *)(void *)(scratch + b + a);
    return b + a + (size_t)(rows * r->pitch) * sizeof *r->sums;
}

size_t
dt_product_scratch(const dt_product *p)
{
    room r;
    return cut(&r, p, NULL);
}

/* Adds the bias to the sums of a block, and rounds them. */
BYTES_AND_WORDS static void
finish(const dt_product *p, int64_t i, int64_t j, float *sums, int64_t pitch)
{
    int64_t rows = least(BLOCK, p->m - i), columns = least(BLOCK, p->n - j);
    for (int64_t r = 0; r < rows; r++, sums += pitch) {
        int64_t at = (i + r) * p->out_row + j;
        const uint16_t *bias = p->bias.data;
        if (bias != NULL) {
            bias += (i + r) * p->bias.row + j * p->bias.column;
            for (int64_t c = 0; c < columns; c++)
                sums[c] += dt_from_bfloat16(bias[c * p->bias.column]);
        }
        if (p->wide)
            memcpy((float *)p->out + at, sums, (size_t)columns * sizeof *sums);
        else
            for (int64_t c = 0; c < columns; c++)
                ((uint16_t *)p->out)[at + c] = dt_to_bfloat16(sums[c]);
    }
}

/* Rows from `i` to before `end`, columns j and on, terms t and on: a panel of 32 rows at a
 * time. */
static void
add_terms(const dt_product *p, const room *r, multiply *by, int64_t i, int64_t end,
          int64_t j, int64_t t)
{
    int64_t columns = least(COLUMNS, p->n - j), terms = least(DEPTH, p->k - t);
    int64_t steps = (terms + STEP - 1) / STEP;
    bool last = t + terms == p->k, kept = p->k > DEPTH;
    float *sums = r->sums;
    for (; i < end; i += BLOCK, sums += kept ? BLOCK * r->pitch : 0) {
        strip rows = {.data = p->a.data + i * p->a.row + t * p->a.column,
                      .line = p->a.row,
                      .term = p->a.column,
                      .lines = least(BLOCK, end - i),
                      .terms = terms};
        pack(r->a, &rows, false);
        for (int64_t c = 0; c < columns; c += BLOCK) {
            float *at = sums + (kept ? c : 0);
            by(at, r->pitch, r->a, r->b + c * steps * STEP, steps, rows.lines > TILE,
               t > 0);
            if (last)
                finish(p, i, j + c, at, r->pitch);
        }
    }
}

void
dt_product_run(const dt_product *p, void *scratch)
{
    bool amx = dt_product_used() == DT_PRODUCT_AMX;
    room r;
    cut(&r, p, scratch);
    if (amx)
        set_tiles(true);
    for (int64_t j = 0; j < p->n; j += COLUMNS)
        for (int64_t i = 0; i < p->m; i += ROWS)
            for (int64_t t = 0; t == 0 || t < p->k; t += DEPTH) {
                if (i == 0 || p->k > DEPTH) {
                    strip columns = {.data = p->b.data + t * p->b.row + j * p->b.column,
                                     .line = p->b.column,
                                     .term = p->b.row,
                                     .lines = least(COLUMNS, p->n - j),
                                     .terms = least(DEPTH, p->k - t)};
                    pack(r.b, &columns, true);
                }
                add_terms(p, &r, amx ? multiply_amx : multiply_avx512, i,
                          least(i + ROWS, p->m), j, t);
            }
    if (amx)
        set_tiles(false);
}

#else

dt_product_way
dt_product_used(void)
{
    return DT_PRODUCT_NONE;
}

dt_product_way
dt_product_use(int way)
{
    (void)way;
    return DT_PRODUCT_NONE;
}

size_t
dt_product_scratch(const dt_product *p)
{
    (void)p;
    return 0;
}

void
dt_product_run(const dt_product *p, void *scratch)
{
    (void)p;
    (void)scratch;
}

#endif
