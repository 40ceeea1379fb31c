/* Ranks with different values find the calls in which these part. */
#include "comm/talk/walk.h"
#include "ranks.h"

/* A chain of values, each made of the one before by the same call: 405 of 305, that of 205,
 * and so on. 105 and 107 are made by different calls, 5 and 7 nobody remembers. */
static void
testify(dt_testimony *out, uint64_t lineage, bool traced)
{
    uint64_t depth = lineage / 100, kind = lineage % 100;
    out->lineage = lineage;
    out->traced = traced;
    out->known = traced && depth > 0;
    out->call = depth > 1 ? depth : kind;
    out->count = 2;
    out->kinds = 1; /* the first operand is a number */
    out->operands[1] = lineage - 100;
    snprintf(out->text, sizeof out->text, "f%d", (int)kind);
    snprintf(out->place, sizeof out->place, "a.c:%d", kind == 7 ? 2 : 1);
}

typedef struct {
    uint64_t depth; /* of the values that differ */
    int untraced;   /* a rank that has no value */
    dt_error got[RANKS_MAX];
} parting;

static void
part(dt_transport *t, void *data)
{
    parting *p = data;
    dt_world *world = world_over(t);
    dt_call call = call_of("f(x)", DT_OK);
    dt_call next = call_of("g(x)", DT_OK);
    dt_error err = {.status = DT_OK};
    p->got[t->rank].status = DT_OK;
    world->testify = testify;
    call.lineage = p->depth * 100 + (t->rank == 1 ? 7 : 5);
    call.traced = t->rank != p->untraced;
    CHECK(dt_agree(all_of(world), &call, false, &p->got[t->rank]) == DT_PARTED);
    CHECK(dt_agree(all_of(world), &next, false, &err) == DT_OK);
    dt_world_close(world);
}

static void
ranks_walk_back_to_the_calls_in_which_their_values_part(void)
{
    for (int n = 2; n <= 5; n++)
        for (uint64_t depth = 1; depth <= 9; depth += 4) {
            parting p = {.depth = depth, .untraced = n > 3 ? 3 : -1};
            on_ranks(n, part, &p);
            for (int rank = 0; rank < n; rank++)
                CHECK(strcmp(p.got[rank].message, p.got[0].message) == 0);
            if (n == 3)
                CHECK(strcmp(p.got[0].message,
                             "the ranks have different values in f(x) #1: "
                             "ranks 0, 2 differ from rank 1, at a.c:1 on ranks 0, "
                             "2, at a.c:2 on rank 1; they part here: ranks 0, 2 "
                             "computed f5, rank 1 computed f7") == 0);
            if (n == 5)
                CHECK(strstr(p.got[0].message, "ranks 0, 2, 4 computed f5") != NULL);
        }
}

static void
what_nobody_remembers_is_said_to_be_so(void)
{
    parting p = {.depth = 0, .untraced = -1};
    on_ranks(4, part, &p);
    for (int rank = 0; rank < 4; rank++)
        CHECK(strstr(p.got[rank].message, "not among the last 4096") != NULL);
}

DT_MAIN(TEST(ranks_walk_back_to_the_calls_in_which_their_values_part),
        TEST(what_nobody_remembers_is_said_to_be_so))
