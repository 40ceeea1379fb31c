#include "comm/run/watch.h"

#include "comm/run/run.h"

void
dt_run_watch(dt_run *run)
{
    run->watched = true;
}

static void
add_round(dt_deed *out, int64_t *sent, const dt_run *run, const dt_round *round)
{
    for (int64_t k = 0; k < round->send_count; k++) {
        const dt_stream *stream = &round->sends[k];
        int64_t bytes = 0;
        for (int p = 0; p < stream->count; p++) {
            const dt_part *part = &stream->parts[p];
            bytes += part->piece->elements * (int64_t)part->lane->itemsize;
        }
        out->bytes += bytes;
        sent[run->task.group->ranks[stream->place]] += bytes;
    }
    out->messages += round->send_count;
}

int
dt_run_deed(dt_deed *out, int64_t *sent, const dt_run *run, int at)
{
    while (at < run->leg && run->legs[at].is_local)
        at++;
    if (at >= run->leg)
        return 0;
    const dt_leg *first = &run->legs[at];
    *out = (dt_deed){.kind = first->round.kind, .begin = first->begin};
    do { /* a second round belongs to the call that the first one counts as */
        add_round(out, sent, run, &run->legs[at].round);
        out->end = run->legs[at].end;
        at++;
    } while (at < run->leg && !run->legs[at].is_local && !run->legs[at].round.counts);
    return at;
}
