/* Two all-gathers: of the failures that each rank keeps, at most SHOWN of them, and of what
 * each rank knows of all of these. Every rank comes to the same verdict from the same
 * table. */
#include "comm/talk/settle.h"
#include "comm/talk/agree.h"
#include "comm/talk/note.h"
#include "core/facts/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 4 };

struct dt_failure {
    dt_failure *next; /* older ones last */
    uint64_t lineage;
    dt_error error;
};

/* What a rank tells of its failures. */
typedef struct {
    int32_t count;
    int32_t status[SHOWN];
    uint64_t lineage[SHOWN];
    char text[SHOWN][400];
} confession;

/* What a rank knows of all failures: by place, then by the order in its list. */
typedef struct {
    unsigned char known[SHOWN];
} answer;

void
dt_note_failure(dt_group *group, uint64_t lineage, const dt_error *error)
{
    if (group->faults == 0)
        dt_notes_tell_failure(group->world->notes, group, lineage, error);
    group->faults = dt_mix(group->faults, lineage) | 1;
    int count = 0;
    dt_failure **end = &group->failures;
    for (; *end != NULL; end = &(*end)->next)
        count++;
    *end = count < SHOWN ? calloc(1, sizeof **end) : NULL;
    if (*end != NULL) {
        (*end)->lineage = lineage;
        (*end)->error = *error;
    }
}

void
dt_settled(dt_group *group)
{
    group->faults = 0;
    while (group->failures != NULL) {
        dt_failure *gone = group->failures;
        group->failures = gone->next;
        free(gone);
    }
}

static void
confess(confession *out, const dt_group *group)
{
    memset(out, 0, sizeof *out);
    for (const dt_failure *f = group->failures; f != NULL; f = f->next) {
        int k = out->count++;
        out->status[k] = (int32_t)f->error.status;
        out->lineage[k] = f->lineage;
        snprintf(out->text[k], sizeof out->text[k], "%.399s", f->error.message);
    }
}

/* Looks for the first failure of a call that some rank says it succeeded in. */
static dt_status
judge(const dt_group *group, const confession *all, const answer *answers,
      dt_error *err)
{
    size_t size = (size_t)group->size;
    for (size_t place = 0; place < size; place++)
        for (int k = 0; k < all[place].count && k < SHOWN; k++)
            for (size_t other = 0; other < size; other++)
                if (answers[other * size + place].known[k] == DT_SUCCEEDED)
                    return dt_fail(err, (dt_status)all[place].status[k],
                                   "rank %d failed in %s", group->ranks[place],
                                   all[place].text[k]);
    return DT_OK;
}

static dt_status
share_all(dt_group *group, confession *all, answer *mine, answer *answers,
          const char *what, dt_error *err)
{
    confession own;
    size_t size = (size_t)group->size;
    dt_made_here *made = group->world->made;
    confess(&own, group);
    DT_TRY(dt_share(all, group, &own, sizeof own, what, err));
    for (size_t place = 0; place < size; place++)
        for (int k = 0; k < SHOWN && k < all[place].count; k++)
            mine[place].known[k] =
                (unsigned char)(made == NULL ? DT_NOT_MADE
                                             : made(all[place].lineage[k]));
    DT_TRY(dt_share(answers, group, mine, size * sizeof *mine, what, err));
    return judge(group, all, answers, err);
}

dt_status
dt_settle(dt_group *group, const char *what, dt_error *err)
{
    size_t size = (size_t)group->size;
    confession *all = calloc(size, sizeof *all);
    answer *mine = calloc(size, sizeof *mine);
    answer *answers = calloc(size * size, sizeof *answers);
    dt_status status =
        all == NULL || mine == NULL || answers == NULL
            ? dt_fail(err, DT_MEMORY, "%s: no memory to hear which ranks failed", what)
            : share_all(group, all, mine, answers, what, err);
    free(all);
    free(mine);
    free(answers);
    dt_settled(group);
    return status;
}
