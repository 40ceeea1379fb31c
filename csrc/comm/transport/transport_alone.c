/* One rank of a world in which the others are not there: for simulations.
 *
 * Agreements and shares never come here (transport.h, `alone`), and moves are counted
 * instead of made (count.h). What asks for a message all the same is told that there is
 * nobody. */
#include "comm/transport/transport.h"

#include <stdlib.h>

static dt_status
nobody(dt_error *err)
{
    return dt_fail(err, DT_NOT_IMPLEMENTED,
                   "this rank is simulated: there is nobody to exchange data with");
}

static dt_status
alone_send(dt_request *out, dt_transport *t, const void *data, size_t bytes, int rank,
           int tag, dt_error *err)
{
    (void)out, (void)t, (void)data, (void)bytes, (void)rank, (void)tag;
    return nobody(err);
}

static dt_status
alone_receive(dt_request *out, dt_transport *t, void *data, size_t bytes, int rank,
              int tag, dt_error *err)
{
    (void)out, (void)t, (void)data, (void)bytes, (void)rank, (void)tag;
    return nobody(err);
}

static dt_status
alone_test(bool *done, dt_transport *t, dt_request *request, dt_error *err)
{
    (void)t, (void)request, (void)err;
    *done = true;
    return DT_OK;
}

static bool
alone_cancel(dt_transport *t, dt_request *request)
{
    (void)t, (void)request;
    return true;
}

static dt_status
alone_probe(bool *found, int *rank, dt_transport *t, int tag, dt_error *err)
{
    (void)rank, (void)t, (void)tag, (void)err;
    *found = false;
    return DT_OK;
}

static dt_status
alone_take(bool *taken, int *tag, dt_transport *t, int rank, void *out, size_t room,
           dt_error *err)
{
    (void)tag, (void)t, (void)rank, (void)out, (void)room, (void)err;
    *taken = false;
    return DT_OK;
}

static void
alone_idle(dt_transport *t)
{
    (void)t;
}

static void
alone_close(dt_transport *t)
{
    free(t);
}

dt_status
dt_alone_make(dt_transport **out, int size, int rank, dt_error *err)
{
    static const dt_transport_table table = {
        .send = alone_send,
        .receive = alone_receive,
        .test = alone_test,
        .cancel = alone_cancel,
        .probe = alone_probe,
        .take = alone_take,
        .idle = alone_idle,
        .close = alone_close,
    };
    if (size < 1 || rank < 0 || rank >= size)
        return dt_fail(err, DT_VALUE, "rank %d of %d ranks cannot be", rank, size);
    dt_transport *t = malloc(sizeof *t);
    if (t == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for a simulated rank");
    *t = (dt_transport){
        .table = &table,
        .size = size,
        .rank = rank,
        .shared_memory = false,
        .alone = true,
    };
    *out = t;
    return DT_OK;
}
