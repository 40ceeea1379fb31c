/* depthwise_loops.h: what depthwise.c compiles for each instruction set (levels.h). */
#define field K(field)
#define put K(put)
#define walk K(walk)
#define put_row K(put_row)
#define put_plane K(put_plane)
#define put_x K(put_x)
#define put_out K(put_out)
#define find_offsets K(find_offsets)
#define put_class K(put_class)
#define find_class K(find_class)
#define tap_sums K(tap_sums)
#define put_grad K(put_grad)

/* --- sums of what is under taps --- */

/* Elements, each the sum over taps of a weight by an element of a sheet. */
typedef struct {
    const REAL *sheet;      /* at the first one */
    const int64_t *offsets; /* from there, of the taps */
    const REAL *weights;
    int64_t taps;
    REAL start;
    int64_t counts[DT_COLUMNS_DIMS];
    int64_t from[2]; /* from a row to the next in the sheet */
    REAL *out;
    int64_t to[DT_COLUMNS_DIMS]; /* from an element to the next in `out` */
} field;

V_INLINE void
put(REAL *to, vec x, int64_t left, int64_t step)
{
    if (step == 1)
        v_put(to, x, left);
    else
        for (int64_t k = 0; k < least(left, LANES); k++)
            to[k * step] = x[k];
}

/* Several vectors at a time, also of more than one row: the sum of one does not wait for
 * that of another, and each weight is read once for all of them. */
TARGET static void
walk(const field *f)
{
    const int64_t *counts = f->counts;
    int64_t a = 0, b = 0, c = 0;
    while (a < counts[0]) {
        const REAL *from[VECTORS];
        REAL *to[VECTORS];
        int64_t left[VECTORS];
        int count = 0;
        for (; count < VECTORS && a < counts[0]; count++) {
            from[count] = f->sheet + a * f->from[0] + b * f->from[1] + c;
            to[count] = f->out + a * f->to[0] + b * f->to[1] + c * f->to[2];
            left[count] = counts[2] - c;
            c = c + LANES < counts[2] ? c + LANES : 0;
            b += c == 0;
            a += b == counts[1];
            b = b == counts[1] ? 0 : b;
        }
        for (int k = count; k < VECTORS; k++)
            from[k] = from[0];
        vec sum[VECTORS];
        for (int k = 0; k < VECTORS; k++)
            sum[k] = v_splat(f->start);
        for (int64_t t = 0; t < f->taps; t++) {
            const int64_t offset = f->offsets[t];
            const vec weight = v_splat(f->weights[t]);
#pragma GCC unroll 8
            for (int k = 0; k < VECTORS; k++)
                sum[k] = V_FMA(weight, v_load(from[k] + offset), sum[k]);
        }
        for (int k = 0; k < count; k++)
            put(to[k], sum[k], left[k], f->to[2]);
    }
}

/* --- planes in sheets --- */

/* A row of x in its phases; zeros around it stay. */
V_INLINE void
put_row(REAL *to, const REAL *x, int64_t count, const sheet *s)
{
    int64_t low = s->before[2], phases = s->phases;
    for (int64_t p = 0; p < least(phases, count); p++) {
        REAL *run = to + (low + p) % phases * s->pitch + (low + p) / phases;
        if (phases == 1)
            memcpy(run, x, (size_t)count * sizeof *x);
        else
            for (int64_t c = p, k = 0; c < count; c += phases, k++)
                run[k] = x[c];
    }
}

/* The rows of a plane of such lengths, as far as the sheet goes, which has `last` elements
 * in a row after the zeros. */
V_INLINE void
put_plane(REAL *to, const REAL *x, const int64_t lengths[DT_COLUMNS_DIMS], int64_t last,
          const sheet *s)
{
    const int64_t *before = s->before, row = s->phases * s->pitch;
    int64_t count = least(lengths[2], last);
    for (int64_t a = 0; a < least(lengths[0], s->rows[0] - before[0]); a++)
        for (int64_t b = 0; b < least(lengths[1], s->rows[1] - before[1]); b++)
            put_row(to + ((before[0] + a) * s->rows[1] + before[1] + b) * row,
                    x + (a * lengths[1] + b) * lengths[2], count, s);
}

V_INLINE void
put_x(REAL *to, const REAL *x, const job *j)
{
    const dt_kernel_dim *d = j->of->dims;
    const int64_t lengths[] = {d[0].length, d[1].length, d[2].length};
    int64_t last =
        (d[2].places - 1) * d[2].stride + (d[2].size - 1) * d[2].dilation + 1;
    put_plane(to, x, lengths, last - d[2].low, &j->sheet);
}

V_INLINE void
put_out(REAL *to, const REAL *out, const job *j)
{
    const dt_kernel_dim *d = j->of->dims;
    const int64_t places[] = {d[0].places, d[1].places, d[2].places};
    put_plane(to, out, places, j->sheet.pitch - SLACK - j->sheet.before[2], &j->sheet);
}

/* --- the convolution --- */

/* Where in a sheet of x what is under each tap lies, from the place on. */
V_INLINE void
find_offsets(int64_t *offsets, const job *j)
{
    const dt_kernel_dim *d = j->of->dims;
    const sheet *s = &j->sheet;
    for (int64_t a = 0; a < d[0].size; a++)
        for (int64_t b = 0; b < d[1].size; b++)
            for (int64_t c = 0; c < d[2].size; c++) {
                int64_t row = a * d[0].dilation * s->rows[1] + b * d[1].dilation;
                int64_t at = c * d[2].dilation;
                *offsets++ =
                    (row * s->phases + at % s->phases) * s->pitch + at / s->phases;
            }
}

TARGET static void
K(make_out)(void *work, int64_t begin, int64_t end)
{
    const job *j = work;
    const dt_depthwise *of = j->of;
    const dt_kernel_dim *d = of->dims;
    const int64_t row = j->sheet.phases * j->sheet.pitch;
    const int64_t length = d[0].length * d[1].length * d[2].length;
    const int64_t places = d[0].places * d[1].places * d[2].places;
    workspace w;
    cut(&w, j, j->scratch + dt_team_place() * j->room);
    memset(w.plane, 0, (size_t)j->sheet.size * sizeof(REAL));
    find_offsets(w.offsets, j);
    field f = {.sheet = w.plane,
               .offsets = w.offsets,
               .taps = j->taps,
               .counts = {d[0].places, d[1].places, d[2].places},
               .from = {d[0].stride * j->sheet.rows[1] * row, d[1].stride * row},
               .to = {d[1].places * d[2].places, d[2].places, 1}};
    for (int64_t p = begin; p < end; p++) {
        put_x(w.plane, (const REAL *)of->x + p * length, j);
        for (int64_t e = 0; e < of->each; e++) {
            int64_t filter = p % of->channels * of->each + e;
            f.weights = (const REAL *)of->weight + filter * j->taps;
            f.start = of->bias == NULL ? 0 : ((const REAL *)of->bias)[filter];
            f.out = (REAL *)of->out + (p * of->each + e) * places;
            walk(&f);
        }
    }
}

/* --- the gradient of x: elements that are a multiple of the strides apart lie under the
 * same taps, those for which u - tap dilation is a multiple of the stride, where u is the
 * element's number in the padded plane --- */

/* The taps of the elements of a class, of all filters of a channel: `u` is the first one in
 * each dim. */
V_INLINE int64_t
find_class(const workspace *w, const REAL *weight, const int64_t u[DT_COLUMNS_DIMS],
           const job *j)
{
    const dt_kernel_dim *d = j->of->dims;
    const sheet *s = &j->sheet;
    int64_t count = 0;
    for (int64_t e = 0; e < j->of->each; e++)
        for (int64_t a = 0; a < d[0].size; a++) {
            int64_t down = u[0] - a * d[0].dilation;
            if (down % d[0].stride != 0)
                continue;
            for (int64_t b = 0; b < d[1].size; b++) {
                int64_t over = u[1] - b * d[1].dilation;
                if (over % d[1].stride != 0)
                    continue;
                int64_t row = (s->before[0] + down / d[0].stride) * s->rows[1] +
                              s->before[1] + over / d[1].stride;
                for (int64_t c = 0; c < d[2].size; c++) {
                    int64_t at = u[2] - c * d[2].dilation;
                    if (at % d[2].stride != 0)
                        continue;
                    ((REAL *)w->weights)[count] =
                        weight[((e * d[0].size + a) * d[1].size + b) * d[2].size + c];
                    w->offsets[count++] =
                        e * s->size + row * s->pitch + s->before[2] + at / d[2].stride;
                }
            }
        }
    return count;
}

V_INLINE void
put_class(REAL *x, const workspace *w, const REAL *weight,
          const int64_t first[DT_COLUMNS_DIMS], const job *j)
{
    const dt_kernel_dim *d = j->of->dims;
    const int64_t steps[] = {d[1].length * d[2].length, d[2].length, 1};
    field f = {.sheet = w->plane,
               .offsets = w->offsets,
               .weights = w->weights,
               .from = {j->sheet.rows[1] * j->sheet.pitch, j->sheet.pitch},
               .out = x};
    int64_t u[DT_COLUMNS_DIMS];
    for (int k = 0; k < DT_COLUMNS_DIMS; k++) {
        u[k] = d[k].low + first[k];
        f.out += first[k] * steps[k];
        f.counts[k] = (d[k].length - first[k] + d[k].stride - 1) / d[k].stride;
        f.to[k] = d[k].stride * steps[k];
    }
    f.taps = find_class(w, weight, u, j);
    walk(&f);
}

TARGET static void
K(make_x)(void *work, int64_t begin, int64_t end)
{
    const job *j = work;
    const dt_depthwise *of = j->of;
    const dt_kernel_dim *d = of->dims;
    const int64_t length = d[0].length * d[1].length * d[2].length;
    const int64_t places = d[0].places * d[1].places * d[2].places;
    workspace w;
    cut(&w, j, j->scratch + dt_team_place() * j->room);
    memset(w.plane, 0, (size_t)(of->each * j->sheet.size) * sizeof(REAL));
    for (int64_t p = begin; p < end; p++) {
        const REAL *weight =
            (const REAL *)of->weight + p % of->channels * of->each * j->taps;
        for (int64_t e = 0; e < of->each; e++)
            put_out((REAL *)w.plane + e * j->sheet.size,
                    (const REAL *)of->out + (p * of->each + e) * places, j);
        int64_t f[DT_COLUMNS_DIMS];
        for (f[0] = 0; f[0] < least(d[0].stride, d[0].length); f[0]++)
            for (f[1] = 0; f[1] < least(d[1].stride, d[1].length); f[1]++)
                for (f[2] = 0; f[2] < least(d[2].stride, d[2].length); f[2]++)
                    put_class((REAL *)of->x + p * length, &w, weight, f, j);
    }
}

/* --- the gradient of the weights --- */

/* Adds the sums over a plane of places of grad by what is under some taps. Beyond the
 * places of a row grad is 0, and what lies under the taps there counts as 0, too: it may be
 * infinite. */
TARGET static void
tap_sums(double *sums, const int64_t *offsets, int taps, const workspace *w,
         const job *j)
{
    const dt_kernel_dim *d = j->of->dims;
    const int64_t row = j->sheet.phases * j->sheet.pitch;
    const int64_t step[] = {d[0].stride * j->sheet.rows[1] * row, d[1].stride * row};
    const int64_t places = d[2].places, whole = places / LANES * LANES;
    const REAL *from[VECTORS], *grad = w->grad;
    vec lane;
    for (int k = 0; k < (int)LANES; k++)
        lane[k] = (REAL)k;
    const ivec in = lane < v_splat((REAL)(places - whole));
    for (int k = 0; k < VECTORS; k++)
        from[k] = (const REAL *)w->plane + offsets[k < taps ? k : 0];
    vec sum[VECTORS];
    for (int k = 0; k < VECTORS; k++)
        sum[k] = v_splat(0);
    int64_t run = 0;
    for (int64_t a = 0; a < d[0].places; a++)
        for (int64_t b = 0; b < d[1].places; b++) {
            const int64_t at = a * step[0] + b * step[1];
            for (int64_t c = 0; c < whole; c += LANES) {
                const vec g = v_load(grad + c);
#pragma GCC unroll 8
                for (int k = 0; k < VECTORS; k++)
                    sum[k] = V_FMA(g, v_load(from[k] + at + c), sum[k]);
            }
            if (whole < places) {
                const vec g = v_load(grad + whole);
#pragma GCC unroll 8
                for (int k = 0; k < VECTORS; k++) {
                    vec x = (vec)(in & (ivec)v_load(from[k] + at + whole));
                    sum[k] = V_FMA(g, x, sum[k]);
                }
            }
            grad += up(places, SLACK);
            run += 1 + whole / LANES;
            if (run < RUN && (a + 1 < d[0].places || b + 1 < d[1].places))
                continue;
            run = 0;
            for (int k = 0; k < VECTORS; k++) {
                if (k < taps)
                    sums[k] += (double)v_sum(sum[k]);
                sum[k] = v_splat(0);
            }
        }
}

V_INLINE void
put_grad(REAL *to, const REAL *grad, const dt_kernel_dim *d)
{
    int64_t places = d[2].places, pitch = up(places, SLACK);
    for (int64_t r = 0; r < d[0].places * d[1].places; r++)
        memcpy(to + r * pitch, grad + r * places, (size_t)places * sizeof *to);
}

TARGET static void
K(make_weight)(void *work, int64_t begin, int64_t end)
{
    const job *j = work;
    const dt_depthwise *of = j->of;
    const dt_kernel_dim *d = of->dims;
    const int64_t length = d[0].length * d[1].length * d[2].length;
    const int64_t rows = d[0].places * d[1].places, places = rows * d[2].places;
    const int64_t all = of->each * j->taps;
    workspace w;
    cut(&w, j, j->scratch + dt_team_place() * j->room);
    memset(w.plane, 0, (size_t)j->sheet.size * sizeof(REAL));
    memset(w.grad, 0, (size_t)(rows * up(d[2].places, SLACK)) * sizeof(REAL));
    find_offsets(w.offsets, j);
    for (int64_t channel = begin; channel < end; channel++) {
        for (int64_t t = 0; t < all; t++)
            w.sums[t] = 0;
        for (int64_t n = 0; n < of->samples; n++) {
            int64_t p = n * of->channels + channel;
            put_x(w.plane, (const REAL *)of->x + p * length, j);
            for (int64_t e = 0; e < of->each; e++) {
                put_grad(w.grad, (const REAL *)of->out + (p * of->each + e) * places,
                         d);
                for (int64_t t = 0; t < j->taps; t += VECTORS)
                    tap_sums(w.sums + e * j->taps + t, w.offsets + t,
                             (int)least(VECTORS, j->taps - t), &w, j);
            }
        }
        for (int64_t t = 0; t < all; t++)
            ((REAL *)of->weight)[channel * all + t] = (REAL)w.sums[t];
    }
}

static const loops K(TABLE) = {{K(make_out), K(make_x), K(make_weight)}};
