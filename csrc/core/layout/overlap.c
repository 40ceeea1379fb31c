/* Along one dim: the parts of another layout that a part meets, and the segments that both
 * have. Chunks are found by arithmetic, lists of ranges by merging two ascending lists;
 * parts whose coordinates are not the wanted ones are stepped over, a level of the cut at a
 * time. */
#include "core/layout/overlap.h"

#include <stdlib.h>

typedef struct {
    const dt_layout *mine, *other;
    const dt_constraint *wanted;
    dt_bump *memory; /* NULL: segments are not needed */
    bool failed;     /* no memory */
} search;

/* The segments that two ascending lists have in common, as places in either list. */
static int64_t
common_segments(dt_segment *out, int64_t *total, const dt_range *a, int64_t a_count,
                const dt_range *b, int64_t b_count)
{
    int64_t count = 0, a_before = 0, b_before = 0;
    *total = 0;
    for (int64_t i = 0, j = 0; i < a_count && j < b_count;) {
        int64_t a_end = a[i].start + a[i].size, b_end = b[j].start + b[j].size;
        int64_t start = a[i].start > b[j].start ? a[i].start : b[j].start;
        int64_t end = a_end < b_end ? a_end : b_end;
        if (start < end) {
            if (out != NULL)
                out[count] = (dt_segment){.offset = a_before + start - a[i].start,
                                          .theirs = b_before + start - b[j].start,
                                          .size = end - start};
            count++;
            *total += end - start;
        }
        if (a_end <= b_end) {
            a_before += a[i++].size;
        } else {
            b_before += b[j++].size;
        }
    }
    return count;
}

static void
add_overlap(dt_overlaps *list, search *s, int dim, int64_t part, const dt_range *mine,
            int64_t mine_count, dt_range *theirs)
{
    int64_t count = dt_layout_ranges(theirs, s->other, dim, part);
    int64_t total;
    int64_t segments = common_segments(NULL, &total, mine, mine_count, theirs, count);
    if (total == 0)
        return;
    if (list->count == list->room) {
        int64_t room = list->room > 0 ? 2 * list->room : 8;
        dt_overlap *items = realloc(list->items, sizeof *items * (size_t)room);
        if (items == NULL) {
            s->failed = true;
            return;
        }
        list->items = items;
        list->room = room;
    }
    dt_overlap *item = &list->items[list->count++];
    *item = (dt_overlap){.part = part, .size = total, .count = segments};
    for (int64_t i = 0; i < count; i++)
        item->theirs += theirs[i].size;
    if (s->memory == NULL)
        return;
    item->segments = dt_bump_take(s->memory, (size_t)segments, sizeof(dt_segment));
    if (item->segments == NULL)
        s->failed = true;
    else
        common_segments(item->segments, &total, mine, mine_count, theirs, count);
}

/* Whether the coordinates of a part are among the wanted ones; if not, *next is the
 * first part behind it that can be. */
static bool
part_wanted(int64_t *next, const search *s, const dt_cut *cut, int64_t part)
{
    const dt_mesh *mesh = s->other->mesh;
    int64_t radix = cut->parts, rest = part;
    for (int k = 0; k < cut->count; k++) {
        int m = cut->mesh_dims[k];
        radix /= mesh->shape[m];
        int64_t digit = rest / radix;
        rest %= radix;
        int64_t every = s->wanted->every[m], at = s->wanted->at[m];
        if (every == 0 || digit % every == at)
            continue;
        int64_t wanted = digit - digit % every + at;
        wanted += wanted < digit ? every : 0;
        if (wanted > mesh->shape[m])
            wanted = mesh->shape[m];
        *next = part - digit * radix - rest + wanted * radix;
        return false;
    }
    return true;
}

static void
find_overlaps(dt_overlaps *out, search *s, int dim, int64_t my_part)
{
    const dt_cut *cut = &s->other->dims[dim];
    size_t limit = (size_t)dt_layout_range_limit(s->mine, dim);
    size_t their_limit = (size_t)dt_layout_range_limit(s->other, dim);
    dt_range few[2];
    dt_range *mine = few;
    if (limit + their_limit > 2)
        mine = malloc(sizeof *mine * (limit + their_limit));
    if (mine == NULL) {
        s->failed = true;
        return;
    }
    dt_range *theirs = mine + limit;
    int64_t count = dt_layout_ranges(mine, s->mine, dim, my_part);
    int64_t end = mine[count - 1].start + mine[count - 1].size;
    dt_range span = {.start = mine[0].start, .size = end - mine[0].start};
    int64_t part = 0, last = -1;
    if (span.size > 0)
        dt_layout_parts_over(&part, &last, s->other, dim, span);
    while (part <= last && !s->failed) {
        int64_t next = part + 1;
        if (part_wanted(&next, s, cut, part))
            add_overlap(out, s, dim, part, mine, count, theirs);
        part = next;
    }
    if (mine != few)
        free(mine);
}

bool
dt_overlaps_find(dt_overlaps *out, dt_bump *memory, const dt_layout *mine,
                 const dt_layout *other, const dt_constraint *wanted, int dim,
                 int64_t my_part)
{
    search s = {.mine = mine, .other = other, .wanted = wanted, .memory = memory};
    find_overlaps(out, &s, dim, my_part);
    return !s.failed;
}

static int64_t
filled_below(const dt_layout *layout, const dt_cut *cut, int level, int64_t length)
{
    if (length == 0)
        return 0;
    if (level == cut->count)
        return 1;
    int m = cut->mesh_dims[level];
    int64_t count = dt_placement_parts(layout->placements[m], layout->mesh->shape[m]);
    int64_t chunk = dt_chunk(length, count, 0).size;
    return length / chunk * filled_below(layout, cut, level + 1, chunk) +
           filled_below(layout, cut, level + 1, length % chunk);
}

int64_t
dt_parts_filled(const dt_layout *layout, int dim)
{
    return filled_below(layout, &layout->dims[dim], 0, layout->shape[dim]);
}
