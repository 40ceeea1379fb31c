#include "core/layout/turn.h"

/* Whether the part of `from` that is needed says where along a mesh dimension those are
 * who need it: that comes to cut a dimension before all is as fine as it was. */
static bool
told(const dt_layout *from, const dt_layout *to, int m)
{
    if (!dt_placement_cuts(to->placements[m]))
        return false;
    int dim = to->placements[m].dim;
    int64_t parts = 1;
    for (int k = 0; to->dims[dim].mesh_dims[k] != m; k++)
        parts *= to->mesh->shape[to->dims[dim].mesh_dims[k]];
    return parts < from->dims[dim].parts;
}

/* The receivers of a part lie at neighbouring coordinates along the first that takes, so
 * that takes first; what no giver says is said by the last digits of the receiver's own. */
static void
take_turns(dt_turns *out, const dt_layout *from, const dt_layout *to, int dim)
{
    const dt_cut *before = &from->dims[dim], *after = &to->dims[dim];
    const int64_t *lengths = to->mesh->shape;
    int level = 0;
    for (int k = 0; k < after->count; k++) {
        int taker = after->mesh_dims[k];
        if (!dt_placement_whole(from->placements[taker]) || !told(from, to, taker))
            continue;
        while (level < before->count && out->rest[taker] > 1) {
            int giver = before->mesh_dims[level];
            int64_t left = lengths[giver] / out->given[giver];
            if (left < 2 || told(from, to, giver)) {
                level++;
                continue;
            }
            int64_t size = left < out->rest[taker] ? left : out->rest[taker];
            out->turns[out->count++] = (dt_turn){.taker = taker,
                                                 .giver = giver,
                                                 .taker_unit = out->taken[taker],
                                                 .giver_unit = out->given[giver],
                                                 .size = size};
            out->taken[taker] *= size;
            out->given[giver] *= size;
            out->rest[taker] = lengths[taker] / out->taken[taker];
        }
    }
}

void
dt_turns_find(dt_turns *out, const dt_layout *from, const dt_layout *to)
{
    out->count = 0;
    for (int m = 0; m < to->mesh->ndim; m++) {
        out->taken[m] = out->given[m] = 1;
        out->rest[m] = to->mesh->shape[m];
    }
    for (int d = 0; d < to->ndim; d++)
        if (from->dims[d].count > 0 && to->dims[d].count > 0)
            take_turns(out, from, to, d);
}

int64_t
dt_turns_sender(const dt_turns *turns, int mesh_dim, const int64_t *receiver)
{
    int64_t own = receiver[mesh_dim];
    if (turns->taken[mesh_dim] == 1)
        return own;
    int64_t at = own % turns->rest[mesh_dim] * turns->taken[mesh_dim];
    for (int k = 0; k < turns->count; k++) {
        const dt_turn *turn = &turns->turns[k];
        if (turn->taker == mesh_dim)
            at += receiver[turn->giver] / turn->giver_unit % turn->size *
                  turn->taker_unit;
    }
    return at;
}

bool
dt_turns_receivers(dt_constraint *wanted, const dt_turns *turns, const int64_t *sender)
{
    for (int k = 0; k < turns->count; k++) {
        const dt_turn *turn = &turns->turns[k];
        int taker = turn->taker, giver = turn->giver;
        int64_t own = sender[taker] / turns->taken[taker];
        if (own >= turns->rest[taker])
            return false;
        wanted->every[taker] = turns->rest[taker];
        wanted->at[taker] = own;
        if (turn->giver_unit == 1)
            wanted->at[giver] = 0;
        wanted->every[giver] = turns->given[giver];
        wanted->at[giver] +=
            sender[taker] / turn->taker_unit % turn->size * turn->giver_unit;
    }
    return true;
}

bool
dt_turns_same_part(const dt_layout *layout, const int64_t *a, const int64_t *b)
{
    for (int m = 0; m < layout->mesh->ndim; m++)
        if (dt_placement_cuts(layout->placements[m]) && a[m] != b[m])
            return false;
    return true;
}
