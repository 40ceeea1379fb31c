/* panel_loops.h: what panel.c compiles for each instruction set (levels.h). */
#define line_of K(line_of)
#define subtract_all K(subtract_all)
#define subtract K(subtract)
#define pivot_of K(pivot_of)
#define exchange K(exchange)

static inline REAL *
line_of(const dt_panel *of, int64_t k)
{
    return (REAL *)of->data + k * of->step;
}

/* --- multiples of lines, subtracted --- */

/* Elements `begin` to `end` of line `to` less those of `count` lines, from `first` on,
 * times factors. */
V_INLINE void
subtract_all(const dt_panel *of, int64_t to, int64_t first, int count,
             const REAL *factors, int64_t begin, int64_t end)
{
    REAL *line = line_of(of, to);
    const REAL *from = line_of(of, first);
    vec by[GROUP];
    for (int k = 0; k < count; k++)
        by[k] = v_splat(-factors[k]);
    for (int64_t i = begin; i < end; i += LANES) {
        vec sum = v_get(line + i, end - i);
        for (int k = 0; k < count; k++)
            sum = V_FMA(by[k], v_get(from + k * of->step + i, end - i), sum);
        v_put(line + i, sum, end - i);
    }
}

TARGET static void
subtract(const dt_panel *of, int64_t to, int64_t first, int64_t count,
         const REAL *factors, int64_t begin, int64_t end)
{
    if (count == GROUP)
        subtract_all(of, to, first, GROUP, factors, begin, end);
    else
        for (int k = 0; k < (int)count; k++)
            subtract_all(of, to, first + k, 1, factors + k, begin, end);
}

/* --- elimination --- */

/* The first of the rows from `row` on whose element is the largest, or NaN. */
TARGET static int64_t
pivot_of(const REAL *column, int64_t row, int64_t length)
{
    int64_t best = row;
    REAL most = -1;
    for (int64_t i = row; i < length; i++) {
        REAL size = column[i] < 0 ? -column[i] : column[i];
        if (size > most) {
            most = size;
            best = i;
        } else if (size != size)
            return i;
    }
    return best;
}

static void
exchange(const dt_panel *of, int64_t a, int64_t b)
{
    for (int64_t k = 0; k < of->count && a != b; k++) {
        REAL *column = line_of(of, k), kept = column[a];
        column[a] = column[b];
        column[b] = kept;
    }
}

/* Column `row` is divided by its pivot, and taken from the others of its group. */
TARGET static void
K(reduce)(const dt_panel *of, int64_t row, int64_t group_end)
{
    REAL *column = line_of(of, row);
    REAL pivot = column[row];
    if (pivot == 0)
        return;
    vec by = v_splat(pivot);
    for (int64_t i = row + 1; i < of->length; i += LANES)
        v_put(column + i, v_get(column + i, of->length - i) / by, of->length - i);
    for (int64_t k = row + 1; k < group_end; k++)
        subtract(of, k, row, 1, line_of(of, k) + row, row + 1, of->length);
}

TARGET static void
K(eliminate)(int64_t *pivots, const dt_panel *of)
{
    for (int64_t first = 0; first < of->count; first += GROUP) {
        int64_t end = least(first + GROUP, of->count), count = end - first;
        for (int64_t row = first; row < end; row++) {
            pivots[row] = pivot_of(line_of(of, row), row, of->length);
            exchange(of, row, pivots[row]);
            K(reduce)(of, row, end);
        }
        for (int64_t k = end; k < of->count; k++)
            for (int64_t row = first; row + 1 < end; row++)
                subtract(of, k, row, 1, line_of(of, k) + row, row + 1, end);
        for (int64_t i = end; i < of->length; i += CHUNK)
            for (int64_t k = end; k < of->count; k++)
                subtract(of, k, first, count, line_of(of, k) + first, i,
                         least(i + CHUNK, of->length));
    }
}

/* --- division --- */

TARGET static void
K(divide)(const void *lower, const dt_panel *of)
{
    const int64_t side = of->count;
    for (int64_t i = 0; i < of->length; i += CHUNK) {
        int64_t end = least(i + CHUNK, of->length);
        for (int64_t row = 0; row < side; row++) {
            const REAL *factors = (const REAL *)lower + row * side;
            for (int64_t first = 0; first < row; first += GROUP)
                subtract(of, row, first, least(GROUP, row - first), factors + first, i,
                         end);
            REAL *line = line_of(of, row);
            vec by = v_splat(factors[row]);
            for (int64_t k = i; k < end; k += LANES)
                v_put(line + k, v_get(line + k, end - k) / by, end - k);
        }
    }
}

static const loops K(TABLE) = {K(eliminate), K(divide)};
