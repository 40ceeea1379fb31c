#include "core/memory/copy_loops.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum {
    LINE = 64,             /* bytes of a cache line */
    AHEAD = 1024,          /* bytes that a stream prefetches ahead */
    PLAIN_BYTES = 1 << 19, /* below it memcpy is best everywhere */
    STREAM_RUN = 1024,     /* from it a run streams well even where it splits lines */
    BLOCK_LINES = 8        /* lines along either edge of a block of crossed sides */
};

#if defined(__SSE2__)

static inline void
move_line(char *to, const char *from, bool stream)
{
    __m128i v[4];
    for (int i = 0; i < 4; i++)
        v[i] = _mm_loadu_si128((const __m128i *)(const void *)from + i);
    for (int i = 0; i < 4; i++)
        if (stream)
            _mm_stream_si128((__m128i *)(void *)to + i, v[i]);
        else
            _mm_storeu_si128((__m128i *)(void *)to + i, v[i]);
}

/* What other threads see next must not overtake the streamed lines. */
static inline void
end_stream(void)
{
    _mm_sfence();
}

/* From sizes that a cache still holds glibc writes past the caches, in four streams at
 * once: half as fast on some machines as one loop through the caches. */
void
dt_loop_run(void *to, const void *from, size_t bytes)
{
    size_t done = 0;
    if (bytes >= PLAIN_BYTES)
        for (; done + LINE <= bytes; done += LINE)
            move_line((char *)to + done, (const char *)from + done, false);
    memcpy((char *)to + done, (const char *)from + done, bytes - done);
}

#else

static inline void
move_line(char *to, const char *from, bool stream)
{
    (void)stream;
    memcpy(to, from, LINE);
}

static inline void
end_stream(void)
{
}

void
dt_loop_run(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

#endif

/* Streams the lines of one run and prefetches up to AHEAD bytes of the next: a machine
 * prefetches along a run by itself, but not from its end to the start of another. */
static void
stream_run(char *to, const char *from, size_t bytes, const char *next)
{
    size_t head = -(uintptr_t)to % LINE;
    memcpy(to, from, head);
    size_t done = head;
    for (; done + LINE + AHEAD <= bytes; done += LINE) {
        __builtin_prefetch(from + done + AHEAD);
        move_line(to + done, from + done, true);
    }
    for (; done + LINE <= bytes; done += LINE, next += LINE) {
        __builtin_prefetch(next);
        move_line(to + done, from + done, true);
    }
    memcpy(to + done, from + done, bytes - done);
}

void
dt_loop_run_streamed(void *to, const void *from, size_t bytes)
{
    stream_run(to, from, bytes, (const char *)from + bytes);
    end_stream();
}

#define ROWS(name, move)                                                               \
    static inline void name(char *to, const char *from, dt_axis outer, dt_axis inner,  \
                            size_t run)                                                \
    {                                                                                  \
        (void)run;                                                                     \
        for (; outer.count > 0; outer.count--, to += outer.to, from += outer.from) {   \
            char *t = to;                                                              \
            const char *f = from;                                                      \
            for (int64_t i = 0; i < inner.count; i++, t += inner.to, f += inner.from)  \
                move;                                                                  \
        }                                                                              \
    }

/* A width that the compiler knows makes memcpy a load and a store. */
#define EXACTLY(width) memcpy(t, f, width)

/* From `width` to twice of it: two moves that overlap. */
#define FROM(width)                                                                    \
    {                                                                                  \
        char tail[width];                                                              \
        memcpy(tail, f + run - (width), width);                                        \
        memcpy(t, f, width);                                                           \
        memcpy(t + run - (width), tail, width);                                        \
    }

ROWS(rows_1, EXACTLY(1))
ROWS(rows_2, EXACTLY(2))
ROWS(rows_3, FROM(2))
ROWS(rows_4, EXACTLY(4))
ROWS(rows_5, FROM(4))
ROWS(rows_8, EXACTLY(8))
ROWS(rows_9, FROM(8))
ROWS(rows_16, EXACTLY(16))
ROWS(rows_17, FROM(16))
ROWS(rows_32, EXACTLY(32))
ROWS(rows_33, FROM(32))
ROWS(rows_64, EXACTLY(64))
ROWS(rows_any, dt_loop_run(t, f, run))
ROWS(rows_streamed, stream_run(t, f, run, f + inner.from))

static dt_loop *const SHORT_ROWS[LINE + 1] = {
    [0] = rows_any, [1] = rows_1,          [2] = rows_2,   [3] = rows_3,
    [4] = rows_4,   [5 ... 7] = rows_5,    [8] = rows_8,   [9 ... 15] = rows_9,
    [16] = rows_16, [17 ... 31] = rows_17, [32] = rows_32, [33 ... 63] = rows_33,
    [64] = rows_64,
};

dt_loop *
dt_loop_rows(size_t run)
{
    return run <= LINE ? SHORT_ROWS[run] : rows_any;
}

void
dt_loop_streamed(char *to, const char *from, dt_axis outer, dt_axis inner, size_t run)
{
    rows_streamed(to, from, outer, inner, run);
    end_stream();
}

/* A line that is streamed in parts costs more than it saves, unless most are whole. */
bool
dt_loop_streams(const char *to, dt_axis outer, dt_axis inner, size_t run)
{
    uint64_t bits =
        (uintptr_t)to | (uint64_t)outer.to | (uint64_t)inner.to | (uint64_t)run;
    return run >= STREAM_RUN || bits % LINE == 0;
}

/* Where the sides cross, a tile is what one line of either side is wide: it is read and
 * written in whole lines. Within it, squares of 16 bytes are transposed in registers:
 * each step shuffles the index of an element by one bit, and after log2(VECTOR) steps
 * row and column have changed places. */
typedef void tile(char *to, int64_t to_stride, const char *from, int64_t from_stride);

#if defined(__SSE2__)
#define SQUARE(width, low, high)                                                       \
    static inline void square_##width(char *to, int64_t to_stride, const char *from,   \
                                      int64_t from_stride)                             \
    {                                                                                  \
        enum { VECTOR = 16 / width };                                                  \
        __m128i x[VECTOR], y[VECTOR];                                                  \
        for (int i = 0; i < VECTOR; i++)                                               \
            memcpy(&x[i], from + i * from_stride, 16);                                 \
        for (int step = 1; step < VECTOR; step *= 2) {                                 \
            for (int i = 0; i < VECTOR / 2; i++) {                                     \
                y[2 * i] = low(x[i], x[i + VECTOR / 2]);                               \
                y[2 * i + 1] = high(x[i], x[i + VECTOR / 2]);                          \
            }                                                                          \
            memcpy(x, y, sizeof x);                                                    \
        }                                                                              \
        for (int i = 0; i < VECTOR; i++)                                               \
            memcpy(to + i * to_stride, &x[i], 16);                                     \
    }
#else
#define SQUARE(width, low, high)                                                       \
    static inline void square_##width(char *to, int64_t to_stride, const char *from,   \
                                      int64_t from_stride)                             \
    {                                                                                  \
        for (int i = 0; i < 16 / width; i++)                                           \
            for (int j = 0; j < 16 / width; j++)                                       \
                memcpy(to + j * to_stride + i * width,                                 \
                       from + i * from_stride + j * width, width);                     \
    }
#endif

#define TILE(width)                                                                    \
    static void tile_##width(char *to, int64_t to_stride, const char *from,            \
                             int64_t from_stride)                                      \
    {                                                                                  \
        for (int i = 0; i < LINE / width; i += 16 / width)                             \
            for (int j = 0; j < LINE / width; j += 16 / width)                         \
                square_##width(to + j * to_stride + i * width, to_stride,              \
                               from + i * from_stride + j * width, from_stride);       \
    }

SQUARE(1, _mm_unpacklo_epi8, _mm_unpackhi_epi8)
SQUARE(2, _mm_unpacklo_epi16, _mm_unpackhi_epi16)
SQUARE(4, _mm_unpacklo_epi32, _mm_unpackhi_epi32)
SQUARE(8, _mm_unpacklo_epi64, _mm_unpackhi_epi64)

static inline void
square_16(char *to, int64_t to_stride, const char *from, int64_t from_stride)
{
    (void)to_stride;
    (void)from_stride;
    memcpy(to, from, 16);
}

TILE(1)
TILE(2)
TILE(4)
TILE(8)
TILE(16)

static tile *const TILES[17] = {
    [1] = tile_1, [2] = tile_2, [4] = tile_4, [8] = tile_8, [16] = tile_16,
};

static tile *
tile_for(dt_axis outer, dt_axis inner, size_t run)
{
    bool contiguous = inner.to == (int64_t)run && outer.from == (int64_t)run;
    return contiguous && run <= 16 ? TILES[run] : NULL;
}

static int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* In a block that the cache holds the order does not matter, the loop's length does. */
static void
move_rest(char *to, const char *from, dt_axis outer, dt_axis inner, size_t run)
{
    bool swap = outer.count > inner.count;
    dt_loop_rows(run)(to, from, swap ? inner : outer, swap ? outer : inner, run);
}

static void
move_block(char *to, const char *from, dt_axis outer, dt_axis inner, size_t run)
{
    tile *move = tile_for(outer, inner, run);
    if (move == NULL) {
        move_rest(to, from, outer, inner, run);
        return;
    }
    int64_t edge = LINE / (int64_t)run;
    int64_t rows = outer.count / edge * edge, columns = inner.count / edge * edge;
    for (int64_t row = 0; row < rows; row += edge)
        for (int64_t column = 0; column < columns; column += edge)
            move(to + row * outer.to + column * inner.to, outer.to,
                 from + row * outer.from + column * inner.from, inner.from);

    dt_axis right = inner, below = outer;
    right.count -= columns;
    below.count -= rows;
    outer.count = rows;
    move_rest(to + columns * inner.to, from + columns * inner.from, outer, right, run);
    move_rest(to + rows * outer.to, from + rows * outer.from, below, inner, run);
}

void
dt_loop_crossed(char *to, const char *from, dt_axis outer, dt_axis inner, size_t run)
{
    int64_t edge = BLOCK_LINES * (LINE / (int64_t)run);
    for (int64_t row = 0; row < outer.count; row += edge)
        for (int64_t column = 0; column < inner.count; column += edge) {
            dt_axis rows = outer, columns = inner;
            rows.count = least(edge, outer.count - row);
            columns.count = least(edge, inner.count - column);
            move_block(to + row * outer.to + column * inner.to,
                       from + row * outer.from + column * inner.from, rows, columns,
                       run);
        }
}

/* Goes along the source within a strip of tiles: it is read in EDGE streams, and the
 * lines written are complete in any order. */
static void
stream_strip(char *to, const char *from, dt_axis outer, dt_axis inner, size_t run)
{
    _Alignas(LINE) char buffer[LINE * LINE];
    tile *move = tile_for(outer, inner, run);
    int64_t edge = LINE / (int64_t)run, rows = outer.count / edge * edge;
    for (int64_t row = 0; row < rows; row += edge) {
        move(buffer, LINE, from + row * outer.from, inner.from);
        for (int64_t i = 0; i < edge; i++)
            move_line(to + (row + i) * outer.to, buffer + LINE * i, true);
    }
    outer.count -= rows;
    inner.count = edge;
    dt_loop_crossed(to + rows * outer.to, from + rows * outer.from, outer, inner, run);
}

void
dt_loop_crossed_streamed(char *to, const char *from, dt_axis outer, dt_axis inner,
                         size_t run)
{
    size_t head = -(uintptr_t)to % LINE;
    if (tile_for(outer, inner, run) == NULL || head % run != 0 ||
        outer.to % LINE != 0) {
        dt_loop_crossed(to, from, outer, inner, run);
        return;
    }
    int64_t edge = LINE / (int64_t)run;
    int64_t column = least((int64_t)(head / run), inner.count);
    dt_axis part = inner;
    part.count = column;
    dt_loop_crossed(to, from, outer, part, run);
    for (; column + edge <= inner.count; column += edge)
        stream_strip(to + column * inner.to, from + column * inner.from, outer, inner,
                     run);
    part.count = inner.count - column;
    dt_loop_crossed(to + column * inner.to, from + column * inner.from, outer, part,
                    run);
    end_stream();
}
