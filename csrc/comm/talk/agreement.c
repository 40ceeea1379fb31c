#include "comm/talk/agreement.h"

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
