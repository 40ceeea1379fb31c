/* What combinations cost at least, without making their plans.
 *
 * A step takes the time of its busiest rank, so not less than that of rank 0. Where all
 * cuts are chunks, rank 0 alone has element 0 of what its coordinates cut, and sends:
 *
 *   S(i) -> R      n - 1 messages: element 0 of all to each other coordinate
 *   P -> R, P(o)   n - 1 messages: its addend
 *   P -> S(j)      a message to coordinate 1, if that has a part
 *   S(i) -> S(j)   a message, if j was whole: of what it has of j, others get a part.
 *                  It may be the same for several mesh dimensions
 *
 * and receives at least what it gets and did not have. Where an operand replicates along
 * another mesh dimension, replicas may take turns (core/layout/turn.h), and rank 0 may send
 * none of what is sharded; and they may share out what is summed. */
#include "core/rule/search.h"

double
dt_bound_seconds(const dt_search *s, int64_t messages)
{
    return DT_SURELY * s->least.latency * (double)messages;
}

/* --- of one operand on one mesh dimension --- */

/* A word that is cut by chunks of the whole dimension. */
static bool
is_plain(const dt_search *s, const dt_bound_word *word)
{
    return word->before == 1 && (word->rest == 1 || word->length % s->mesh->size == 0);
}

/* Coordinate 1 of n has a part however the other mesh dimensions cut. */
static bool
has_second(const dt_search *s, int64_t length, int64_t n)
{
    return length > s->mesh->size || length > s->mesh->size / n;
}

static bool
is_cut(const dt_layout *layout, int dim)
{
    const dt_cut *cut = &layout->dims[dim];
    for (int k = 0; k < cut->count; k++)
        if (layout->mesh->shape[cut->mesh_dims[k]] > 1)
            return true;
    return false;
}

/* Whether an operand replicates along a mesh dimension: one that comes to cut a dimension
 * that is cut, where it is known what the mesh dimensions become. */
static bool
takes_turns(const dt_search *s, int k, const int *codes)
{
    const dt_layout *layout = s->operands[k];
    for (int m = 0; m < s->mesh->ndim; m++) {
        if (s->mesh->shape[m] == 1 || !dt_placement_whole(layout->placements[m]))
            continue;
        if (codes == NULL ||
            (codes[m] >= 0 && is_cut(layout, s->binding->words[codes[m]].dim)))
            return true;
    }
    return false;
}

/* Adds what operand `k` needs to become what `code` says; `turns`: takes_turns. */
static void
add_bound(dt_row_bound *out, const dt_search *s, int k, int m, int code, bool turns)
{
    const dt_layout *layout = s->operands[k];
    dt_placement p = layout->placements[m];
    const dt_bound_word *word = code >= 0 ? &s->binding->words[code] : NULL;
    int64_t n = s->mesh->shape[m];
    bool split = word != NULL && is_plain(s, word) && has_second(s, word->length, n);
    bool counts = n > 1 && s->bounded[k];
    switch (p.kind) {
    case DT_REPLICATE:
        out->moved += code != DT_CODE_WHOLE;
        break;
    case DT_PARTIAL:
        if (code == DT_CODE_PARTIAL - (int)p.op)
            break;
        out->moved += 2;
        out->barred = out->barred || code <= DT_CODE_PARTIAL;
        if (counts)
            out->messages += word == NULL ? n - 1 : split;
        break;
    case DT_SHARD:
        if (word != NULL && word->dim == p.dim)
            break;
        out->moved += 2;
        out->barred = out->barred || code <= DT_CODE_PARTIAL;
        if (counts && !turns && code == DT_CODE_WHOLE)
            out->messages += n - 1;
        if (counts && !turns && split && !is_cut(layout, word->dim))
            out->shared++;
        break;
    }
}

/* Addends come from addends: what is whole joins those of another operand, and is not
 * made Partial for its own sake. */
static bool
has_addends(const dt_search *s, const dt_row *row, int m)
{
    for (int k = 0; k < s->binding->operand_count; k++) {
        dt_placement p = s->operands[k]->placements[m];
        if (dt_placement_pending(p) && dt_row_code(s, row, k) <= DT_CODE_PARTIAL)
            return true;
    }
    return false;
}

/* The bounds above hold for an operand: not empty, chunks now, and no operand has other
 * cuts that it might take over. */
static void
find_bounded(dt_search *s)
{
    bool chunks = true;
    for (int k = 0; k < s->binding->operand_count && chunks; k++)
        for (int d = 0; d < s->operands[k]->ndim; d++) {
            const dt_cut *cut = &s->operands[k]->dims[d];
            chunks = chunks && cut->cuts == NULL && !cut->strided;
        }
    for (int k = 0; k < s->binding->operand_count; k++) {
        s->bounded[k] = chunks;
        for (int d = 0; d < s->operands[k]->ndim; d++)
            s->bounded[k] = s->bounded[k] && s->operands[k]->shape[d] > 0;
    }
}

/* --- of rows --- */

static bool
comes_before(const dt_row_bound *a, const dt_row_bound *b)
{
    if (a->barred != b->barred)
        return b->barred;
    if (a->messages != b->messages)
        return a->messages < b->messages;
    return a->moved < b->moved;
}

/* Sorts the rows of a mesh dimension; a few, mostly in order. */
static void
sort_rows(int *order, const dt_row_bound *bounds, int count)
{
    for (int i = 0; i < count; i++) {
        const dt_row_bound *b = &bounds[i];
        int at = i;
        for (; at > 0; at--) {
            const dt_row_bound *a = &bounds[order[at - 1]];
            if (!comes_before(b, a))
                break;
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
}

dt_status
dt_search_bounds(dt_search *s)
{
    int operands = s->binding->operand_count, rows = s->row_count, ndim = s->mesh->ndim;
    size_t cells = (size_t)rows * (size_t)ndim;
    s->bounded = dt_bump_take(&s->bump, (size_t)operands, sizeof *s->bounded);
    s->bounds = dt_bump_take(&s->bump, cells, sizeof *s->bounds);
    s->order = dt_bump_take(&s->bump, cells, sizeof *s->order);
    if (s->bounded == NULL || s->bounds == NULL || s->order == NULL)
        return dt_search_no_memory(s);
    find_bounded(s);
    s->rest[ndim] = 0;
    for (int m = ndim - 1; m >= 0; m--) {
        dt_row_bound *bounds = &s->bounds[m * rows];
        for (int r = 0; r < rows; r++) {
            for (int k = 0; k < operands; k++)
                add_bound(&bounds[r], s, k, m, dt_row_code(s, &s->rows[r], k),
                          takes_turns(s, k, NULL));
            if (s->rows[r].kind == DT_ROW_PARTIAL && !has_addends(s, &s->rows[r], m))
                bounds[r].barred = true;
        }
        int *order = &s->order[m * rows];
        sort_rows(order, bounds, rows);
        s->rest[m] = s->rest[m + 1] + bounds[order[0]].messages;
    }
    return DT_OK;
}

/* --- of combinations --- */

/* Elements that rank 0 has: before, after, both, and at least of what is reduced. */
typedef struct {
    int64_t after, kept, common;
} own_part;

static int64_t
first_chunk(int64_t length, int64_t count)
{
    return count == 1 ? length : length / count + (length % count != 0);
}

static void
own_dim(own_part *part, const dt_search *s, int k, int dim, const int *codes)
{
    const dt_layout *layout = s->operands[k];
    int64_t before = 1, after = 1, common = 1;
    for (int m = 0; m < s->mesh->ndim; m++) {
        dt_placement p = layout->placements[m];
        bool was = dt_placement_cuts_dim(p, dim);
        bool is = codes[m] >= 0 && s->binding->words[codes[m]].dim == dim;
        int64_t n = s->mesh->shape[m];
        before *= was ? n : 1;
        after *= is ? n : 1;
        common *= was || is ? n : 1;
    }
    int64_t length = layout->shape[dim];
    int64_t kept = first_chunk(length, before);
    int64_t taken = first_chunk(length, after);
    part->after *= taken;
    part->kept *= kept < taken ? kept : taken;
    part->common *= first_chunk(length, common);
}

/* Seconds in which rank 0 receives what it lacks, adds, and copies the rest. Of what it
 * keeps alone it adds up all addends; or else, of what all are to have, all addends of a
 * chunk, over all mesh dimensions at once, which are as many elements as the whole has.
 */
static double
own_seconds(const dt_search *s, int k, const int *codes)
{
    const dt_layout *layout = s->operands[k];
    bool changed = false, all = false;
    int64_t addends = 0, replicas = 1;
    for (int m = 0; m < s->mesh->ndim; m++) {
        dt_placement p = layout->placements[m];
        if (codes[m] >= 0 && !is_plain(s, &s->binding->words[codes[m]]))
            return 0;
        replicas *= dt_placement_whole(p) ? s->mesh->shape[m] : 1;
        if (s->mesh->shape[m] == 1 || dt_code_keeps(s, codes[m], p))
            continue;
        changed = true;
        if (dt_placement_pending(p) && codes[m] >= 0)
            addends += s->mesh->shape[m];
        all = all || (dt_placement_pending(p) && codes[m] < 0);
    }
    if (!changed || dt_search_only_cuts(s, k, codes))
        return 0;
    own_part part = {1, 1, 1};
    for (int d = 0; d < layout->ndim; d++)
        own_dim(&part, s, k, d, codes);
    double size = (double)dt_dtype_size(layout->dtype);
    double wire = size / s->least.bandwidth, copy = size / s->cost->copy;
    addends = addends > 0 ? addends : all;
    if (addends > 0)
        return wire * (double)part.after +
               copy * (double)(addends * part.common) / (double)replicas;
    return wire * (double)(part.after - part.kept) +
           (wire < copy ? wire : copy) * (double)part.kept;
}

double
dt_bound_combination(const dt_search *s, double enough)
{
    int codes[DT_MESH_MAX_NDIM];
    double least = 0;
    for (int k = 0; k < s->binding->operand_count && least <= enough; k++) {
        if (!s->bounded[k])
            continue;
        dt_row_bound sum = {0};
        for (int m = 0; m < s->mesh->ndim; m++)
            codes[m] = dt_row_code(s, &s->rows[s->row[m]], k);
        bool turns = takes_turns(s, k, codes);
        for (int m = 0; m < s->mesh->ndim; m++)
            add_bound(&sum, s, k, m, codes[m], turns);
        if (sum.moved > 0)
            least += dt_bound_seconds(s, sum.messages + (sum.shared > 0)) +
                     DT_SURELY * own_seconds(s, k, codes);
    }
    return least;
}

/* --- of moves --- */

/* Elements that a part of `to` has, and how many of them a part of `from` has too. */
static void
common_elements(int64_t *after, int64_t *kept, const dt_layout *from,
                const dt_layout *to, const int64_t *coordinate)
{
    *after = *kept = 1;
    for (int d = 0; d < to->ndim; d++) {
        dt_range a, b;
        dt_layout_ranges(&a, from, d, dt_layout_part(from, d, coordinate));
        dt_layout_ranges(&b, to, d, dt_layout_part(to, d, coordinate));
        int64_t start = a.start > b.start ? a.start : b.start;
        int64_t end =
            a.start + a.size < b.start + b.size ? a.start + a.size : b.start + b.size;
        *after *= b.size;
        *kept *= end > start ? end - start : 0;
    }
}

/* The ranks that dt_step_seconds looks at receive what they did not have, and in the
 * last step receive or copy all that they get. */
double
dt_bound_move(const dt_search *s, const dt_layout *from, const dt_layout *to)
{
    if (from->mesh != to->mesh)
        return 0;
    for (int d = 0; d < to->ndim; d++)
        if (from->dims[d].strided || to->dims[d].strided)
            return 0;
    if (dt_layout_nested(from, to) && dt_layout_nested(to, from))
        return 0;
    const dt_mesh *mesh = to->mesh;
    double size = (double)dt_dtype_size(to->dtype);
    double wire = size / s->least.bandwidth, copy = size / s->cost->copy, most = 0;
    int64_t sample[] = {0, mesh->size > 1 ? 1 : 0, mesh->size > 2 ? mesh->size - 2 : 0};
    for (int k = 0; k < 3; k++) {
        int64_t coordinate[DT_MESH_MAX_NDIM], after, kept;
        dt_mesh_coordinate(coordinate, mesh, sample[k]);
        common_elements(&after, &kept, from, to, coordinate);
        double seconds =
            wire * (double)(after - kept) + (wire < copy ? wire : copy) * (double)kept;
        most = seconds > most ? seconds : most;
    }
    return DT_SURELY * most;
}
