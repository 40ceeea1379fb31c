#include "comm/run/watch.h"

#include "comm/run/run.h"

void
dt_run_watch(dt_run *run)
{
    run->watched = true;
}

static void
add_round(dt_event *out, int64_t *sent, const dt_group *group, const dt_round *round)
{
    for (int64_t k = 0; k < round->send_count; k++) {
        int64_t bytes = round->sends[k].bytes;
        out->bytes += bytes;
        sent[group->ranks[round->sends[k].place]] += bytes;
    }
}

int
dt_run_event(dt_event *out, int64_t *sent, const dt_run *run, int at)
{
    while (at < run->leg && run->legs[at].leg.steps[0]->kind == DT_STEP_LOCAL)
        at++;
    if (at >= run->leg)
        return 0;
    const dt_run_leg *ended = &run->legs[at];
    const dt_leg *leg = &ended->leg;
    *out = (dt_event){.kind = leg->steps[0]->kind,
                      .begin = ended->begin,
                      .end = ended->end,
                      .messages = leg->messages};
    for (int k = 0; k < leg->sent_count; k++) {
        out->bytes += leg->sent[k].bytes;
        sent[leg->group->ranks[leg->sent[k].place]] += leg->sent[k].bytes;
    }
    for (int k = 0; leg->sent == NULL && k < leg->round_count; k++)
        add_round(out, sent, leg->group, &leg->rounds[k]);
    return at + 1;
}
