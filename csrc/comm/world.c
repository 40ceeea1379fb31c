/* Making and ending worlds: what knows all of comm, and is known by none of it. */
#include "comm/world.h"

#include "comm/run/execute.h"
#include "comm/talk/board.h"
#include "comm/talk/note.h"
#include "comm/talk/resync.h"
#include "comm/talk/settle.h"
#include "comm/way/way.h"
#include "core/facts/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- settings --- */

static dt_status
check_read(dt_check *out, dt_error *err)
{
    const char *text = getenv("DTENSOR_CHECK");
    if (text == NULL || *text == '\0')
        *out = DT_CHECK_CALLS;
    else if (text[1] == '\0' && *text >= '0' && *text <= '2')
        *out = (dt_check)(*text - '0');
    else
        return dt_fail(err, DT_VALUE,
                       "DTENSOR_CHECK must be 0, 1 or 2, it is \"%.40s\"", text);
    return DT_OK;
}

dt_status
dt_cost_read(dt_cost *out, dt_error *err)
{
    const char *text = getenv("DTENSOR_COSTS");
    dt_status status = dt_cost_parse(out, text == NULL ? "" : text, err);
    if (status != DT_OK)
        dt_error_prefix(err, "DTENSOR_COSTS");
    return status;
}

static dt_status
way_read(const dt_way **out, dt_error *err)
{
    const char *text = getenv("DTENSOR_WAY");
    *out = NULL;
    if (text == NULL || *text == '\0')
        return DT_OK;
    *out = dt_way_named(text);
    if (*out == NULL)
        return dt_fail(err, DT_VALUE,
                       "DTENSOR_WAY must be the name of a way, it is \"%.40s\"", text);
    return DT_OK;
}

/* What must be set alike. */
typedef struct {
    int64_t check;
    char way[16];
    uint64_t cost;   /* its hash ... */
    char costs[200]; /* ... and its beginning, as text */
} settings;

/* The same sentence on all ranks: what is compared is known to all of them. */
static dt_status
compare_settings(const dt_world *world, const settings *all, dt_error *err)
{
    const dt_transport *t = world->transport;
    const dt_rank_name first = dt_name_rank(t, 0);
    for (int rank = 1; rank < t->size; rank++) {
        const dt_rank_name other = dt_name_rank(t, rank);
        if (all[rank].check != all[0].check)
            return dt_fail(err, DT_RUNTIME,
                           "DTENSOR_CHECK must be set alike on all ranks: it is "
                           "%" PRId64 " on %s and %" PRId64 " on %s",
                           all[0].check, first.text, all[rank].check, other.text);
        if (memcmp(all[rank].way, all[0].way, sizeof all[0].way) != 0)
            return dt_fail(err, DT_RUNTIME,
                           "DTENSOR_WAY must be set alike on all ranks: it is \"%s\" "
                           "on %s and \"%s\" on %s",
                           all[0].way, first.text, all[rank].way, other.text);
        if (all[rank].cost != all[0].cost)
            return dt_fail(err, DT_RUNTIME,
                           "DTENSOR_COSTS must be set alike on all ranks: it is \"%s\" "
                           "on %s and \"%s\" on %s",
                           all[0].costs, first.text, all[rank].costs, other.text);
    }
    return DT_OK;
}

/* --- start and end --- */

static dt_status
make_group_of_all(dt_world *world, dt_error *err)
{
    int size = world->transport->size;
    int64_t *ranks = malloc((size_t)size * sizeof *ranks);
    if (ranks == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for %d ranks", size);
    for (int rank = 0; rank < size; rank++)
        ranks[rank] = rank;
    dt_status status = dt_world_group(&world->all, world, ranks, size, err);
    free(ranks);
    return status;
}

/* All that is not the transport. */
static void
world_free(dt_world *world)
{
    dt_notes_free(world->notes);
    for (dt_group *next; world->groups != NULL; world->groups = next) {
        next = world->groups->next;
        free(world->groups);
    }
    free(world->spare);
    dt_fences_free(world->fences);
    dt_board_free(world->board);
    free(world);
}

/* Room for what all ranks say when a world begins. */
typedef struct {
    settings *settings;
    dt_node_card *cards;
    unsigned char *votes; /* can map the memory of the ranks of its node, can fetch */
} greetings;

enum { MAPPED = 1, FETCHED = 2 };

static const char BEGINNING[] = "the start of dtensor";

/* Whether all ranks that have neighbours on their node offer them memory. */
static bool
all_offer(const dt_node_card *cards, int size)
{
    bool any = false;
    for (int rank = 0; rank < size; rank++) {
        if (cards[rank].door == 0 && !cards[rank].lonely)
            return false;
        any = any || cards[rank].door != 0;
    }
    return any;
}

/* Ranks that see each other's memory use it, all of them or none. */
static dt_status
join_node(dt_world *world, greetings *g, dt_error *err)
{
    dt_transport *near = NULL, *far = world->transport;
    if (far->size == 1 || far->alone || far->table->reach != NULL)
        return DT_OK;
    dt_node_card card;
    dt_node_offer(&card, far);
    DT_TRY(dt_share(g->cards, world->all, &card, sizeof card, BEGINNING, err));
    if (!all_offer(g->cards, far->size))
        return DT_OK;
    unsigned char vote = 0, together = MAPPED | FETCHED;
    if (dt_node_make(&near, far, g->cards, NULL) == DT_OK)
        vote = dt_node_fetches(near) ? MAPPED | FETCHED : MAPPED;
    dt_status status =
        dt_share(g->votes, world->all, &vote, sizeof vote, BEGINNING, err);
    for (int rank = 0; rank < far->size && status == DT_OK; rank++)
        together &= g->votes[rank];
    if (near != NULL && (status != DT_OK || !(together & MAPPED))) {
        dt_node_unmake(near);
    } else if (near != NULL) {
        world->transport = near;
        world->all->direct = dt_world_direct(world, NULL, far->size);
        if (!(together & FETCHED))
            dt_node_no_fetch(near);
    }
    return status;
}

/* The first words between the ranks: that all are there, made of the same program and
 * prepared, and how they are set. */
static dt_status
greet(dt_world *world, const dt_error *local, greetings *g, dt_error *err)
{
    static const char version[] = "dtensor protocol 2";
    dt_call call = {.hash = dt_hash(0, version, sizeof version), .local = *local};
    snprintf(call.what, sizeof call.what, "%s", BEGINNING);
    DT_TRY(dt_agree(world->all, &call, true, err));

    settings own = {.check = world->check, .cost = world->cost.hash};
    dt_cost_print(own.costs, sizeof own.costs, &world->cost);
    if (world->way != NULL)
        snprintf(own.way, sizeof own.way, "%s", world->way->name);
    DT_TRY(dt_share(g->settings, world->all, &own, sizeof own, BEGINNING, err));
    DT_TRY(compare_settings(world, g->settings, err));
    return join_node(world, g, err);
}

static dt_status
world_start(dt_world *world, dt_error *err)
{
    size_t size = (size_t)world->transport->size;
    DT_TRY(make_group_of_all(world, err));
    DT_TRY(dt_notes_make(&world->notes, world, err));
    DT_TRY(dt_fences_make(&world->fences, world->transport->size, err));
    dt_error local = {.status = DT_OK};
    if (dt_timeout_read(&world->timeout, &local) == DT_OK &&
        check_read(&world->check, &local) == DT_OK &&
        dt_cost_read(&world->cost, &local) == DT_OK)
        way_read(&world->way, &local);
    greetings g = {.settings = calloc(size, sizeof *g.settings),
                   .cards = calloc(size, sizeof *g.cards),
                   .votes = calloc(size, sizeof *g.votes)};
    if (g.settings == NULL || g.cards == NULL || g.votes == NULL)
        dt_fail(&local, DT_MEMORY, "no memory for the settings of the ranks");
    dt_status status = greet(world, &local, &g, err);
    free(g.settings);
    free(g.cards);
    free(g.votes);
    world->all->started = world->all->reached =
        0; /* the user's first call is number 1 */
    return status;
}

dt_status
dt_world_make(dt_world **out, dt_transport *transport, dt_error *err)
{
    dt_world *world = calloc(1, sizeof *world);
    if (world == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for a world of %d ranks",
                       transport->size);
    world->transport = transport;
    world->timeout = DT_TIMEOUT_DEFAULT;
    snprintf(world->limit, sizeof world->limit, "DTENSOR_TIMEOUT");
    world->check = DT_CHECK_CALLS;
    world->cost = DT_COST_DEFAULT;
    dt_status status = dt_board_make(&world->board, transport, err);
    if (status == DT_OK) {
        world->counters = world->board->counters;
        status = world_start(world, err);
    }
    if (status != DT_OK) {
        world_free(world);
        return status;
    }
    dt_cost_find_nodes(&world->cost, world->transport->nodes, world->transport->size);
    *out = world;
    return DT_OK;
}

void
dt_world_close(dt_world *world)
{
    if (world == NULL)
        return;
    dt_give_up_all(world, "its world was closed");
    dt_world_forget_runs(world);
    if (world->transport->size > 1 && !world->transport->alone && !world->broken)
        dt_notes_farewell(world->notes);
    dt_transport *transport = world->transport;
    world_free(world);
    transport->table->close(transport);
}
