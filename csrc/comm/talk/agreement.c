#include "comm/talk/agreement.h"

#include <inttypes.h>
#include <string.h>

dt_status
dt_agreement_hear(bool *on, dt_agreement *a, dt_request *request, void *data,
                  size_t bytes, int place, int phase, dt_error *err)
{
    dt_group *group = a->task.group;
    uint64_t number = 0;
    while (number < a->number) {
        if (request->handle == NULL)
            DT_TRY(dt_post_receive(request, group, data, bytes, place, phase, err));
        DT_TRY(dt_test(on, group, request, err));
        if (!*on)
            return DT_OK;
        memcpy(&number, data, sizeof number);
    }
    return DT_OK;
}

dt_status
dt_agreement_hear_now(bool *on, dt_agreement *a, void *data, size_t bytes, int place,
                      int phase, dt_error *err)
{
    uint64_t number;
    DT_TRY(dt_agreement_hear(on, a, &a->receive_text, data, bytes, place, phase, err));
    if (!*on)
        return DT_OK;
    memcpy(&number, data, sizeof number);
    if (number != a->number)
        return dt_fail(
            err, DT_RUNTIME, "%s has left %s #%" PRIu64,
            dt_name_rank(a->task.group->world->transport, a->task.group->ranks[place])
                .text,
            a->call->what, dt_count_in(a->number));
    return DT_OK;
}

dt_status
dt_agreement_say(bool *on, dt_agreement *a, const void *data, size_t bytes, int place,
                 int phase, dt_error *err)
{
    dt_group *group = a->task.group;
    if (!a->said)
        DT_TRY(dt_post_send(&a->send, group, data, bytes, place, phase, err));
    a->said = true;
    DT_TRY(dt_test(on, group, &a->send, err));
    if (*on)
        a->said = false;
    return DT_OK;
}

dt_status
dt_agreement_tell_all(bool *on, dt_agreement *a, const void *data, size_t bytes,
                      int phase, dt_agreement_stage *next, dt_error *err)
{
    const dt_group *group = a->task.group;
    for (*on = true; *on && a->place < group->size; a->place += *on)
        if (a->place != group->index)
            DT_TRY(dt_agreement_say(on, a, data, bytes, a->place, phase, err));
    if (*on)
        a->stage = next;
    return DT_OK;
}

dt_status
dt_agreement_hear_verdict(bool *on, dt_agreement *a, dt_error *err)
{
    return dt_agreement_hear_now(on, a, &a->verdict, sizeof a->verdict, 0,
                                 DT_PHASE_VERDICT, err);
}
