/* Messages over a private duplicate of an MPI communicator. MPI 3.1. */
#define OMPI_SKIP_MPICXX
#include <mpi.h>

#include "comm/transport/site.h"
#include "comm/transport/transport.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a dt_request points to: taken from a pool, for malloc would cost as much as
 * MPI's own part of a small message. */
typedef struct slot slot;
struct slot {
    MPI_Request request;
    int wanted; /* bytes of a receive; -1 for a send */
    int rank;   /* the other end */
    slot *next;
};

enum { BLOCK_SLOTS = 64 };

typedef struct block block;
struct block {
    block *next;
    slot slots[BLOCK_SLOTS];
};

typedef struct {
    dt_transport base;
    MPI_Comm comm;
    dt_host *hosts;
    uint64_t *nodes;
    slot *spare;
    block *blocks;
    dt_request taking; /* a message that mpi_take has met ... */
    char *taken;       /* ... its memory, */
    int taken_tag;     /* and its tag */
} mpi_transport;

static dt_status
mpi_failed(int code, const char *what, dt_error *err)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        snprintf(text, sizeof text, "unknown error");
    return dt_fail(err, DT_MPI, "%s: %s (MPI error code %d)", what, text, code);
}

static dt_status
mpi_failed_with(const mpi_transport *m, int code, const char *call,
                const char *direction, int rank, dt_error *err)
{
    char what[64 + sizeof(dt_rank_name)];
    snprintf(what, sizeof what, "%s %s %s", call, direction,
             dt_name_rank(&m->base, rank).text);
    return mpi_failed(code, what, err);
}

static bool
is_finalized(void)
{
    int finalized = 0;
    return MPI_Finalized(&finalized) != MPI_SUCCESS || finalized;
}

/* MPI ends the process where a function is called too late, so it is asked first. */
static dt_status
check_running(dt_error *err)
{
    if (is_finalized())
        return dt_fail(err, DT_RUNTIME,
                       "MPI has been finalized: nothing can be sent any more");
    return DT_OK;
}

/* The one place where a count becomes MPI's int. */
static dt_status
count_of(int *out, size_t bytes, dt_error *err)
{
    if (bytes > INT_MAX)
        return dt_fail(err, DT_BUG, "a message of %zu bytes is too long for MPI",
                       bytes);
    *out = (int)bytes;
    return DT_OK;
}

/* --- slots --- */

static dt_status
slot_take(slot **out, mpi_transport *m, dt_error *err)
{
    if (m->spare == NULL) {
        block *b = malloc(sizeof *b);
        if (b == NULL)
            return dt_fail(err, DT_MEMORY, "no memory for %d messages", BLOCK_SLOTS);
        b->next = m->blocks;
        m->blocks = b;
        for (int i = 0; i < BLOCK_SLOTS; i++) {
            b->slots[i].next = m->spare;
            m->spare = &b->slots[i];
        }
    }
    *out = m->spare;
    m->spare = (*out)->next;
    return DT_OK;
}

static void
slot_give(mpi_transport *m, slot *s)
{
    s->next = m->spare;
    m->spare = s;
}

/* --- the table --- */

/* What every message begins with: a slot, and its count as MPI wants it. */
static dt_status
begin_message(slot **out, int *count, mpi_transport *m, size_t bytes, dt_error *err)
{
    DT_TRY(check_running(err));
    DT_TRY(count_of(count, bytes, err));
    return slot_take(out, m, err);
}

/* What it ends with: `code` is what `call` has returned, `wanted` as in a slot. */
static dt_status
end_message(dt_request *out, mpi_transport *m, slot *s, int code, const char *call,
            int wanted, int rank, dt_error *err)
{
    if (code != MPI_SUCCESS) {
        slot_give(m, s);
        return mpi_failed_with(m, code, call, wanted < 0 ? "to" : "from", rank, err);
    }
    s->wanted = wanted;
    s->rank = rank;
    out->handle = s;
    return DT_OK;
}

static dt_status
mpi_send(dt_request *out, dt_transport *t, const void *data, size_t bytes, int rank,
         int tag, dt_error *err)
{
    mpi_transport *m = (mpi_transport *)t;
    int count = 0;
    slot *s = NULL;
    DT_TRY(begin_message(&s, &count, m, bytes, err));
    int code = MPI_Isend(data, count, MPI_BYTE, rank, tag, m->comm, &s->request);
    return end_message(out, m, s, code, "MPI_Isend", -1, rank, err);
}

static dt_status
mpi_receive(dt_request *out, dt_transport *t, void *data, size_t bytes, int rank,
            int tag, dt_error *err)
{
    mpi_transport *m = (mpi_transport *)t;
    int count = 0;
    slot *s = NULL;
    DT_TRY(begin_message(&s, &count, m, bytes, err));
    int code = MPI_Irecv(data, count, MPI_BYTE, rank, tag, m->comm, &s->request);
    return end_message(out, m, s, code, "MPI_Irecv", count, rank, err);
}

/* A longer message than wanted is MPI's error, a shorter one is not. */
static dt_status
check_length(const mpi_transport *m, const slot *s, bool at_most,
             const MPI_Status *status, dt_error *err)
{
    int got = 0;
    int code = MPI_Get_count(status, MPI_BYTE, &got);
    if (code != MPI_SUCCESS)
        return mpi_failed_with(m, code, "MPI_Get_count", "from", s->rank, err);
    if (got > s->wanted || (got < s->wanted && !at_most))
        return dt_fail(err, DT_RUNTIME, "%s sent %d bytes where %d were expected",
                       dt_name_rank(&m->base, s->rank).text, got, s->wanted);
    return DT_OK;
}

static dt_status
mpi_test(bool *done, dt_transport *t, dt_request *request, dt_error *err)
{
    mpi_transport *m = (mpi_transport *)t;
    slot *s = request->handle;
    if (s == NULL) {
        *done = true;
        return DT_OK;
    }
    DT_TRY(check_running(err));
    int flag = 0;
    MPI_Status status;
    int code = MPI_Test(&s->request, &flag, &status);
    if (code != MPI_SUCCESS)
        return mpi_failed_with(m, code, "MPI_Test", s->wanted < 0 ? "to" : "from",
                               s->rank, err);
    if (flag) {
        if (s->wanted >= 0)
            DT_TRY(check_length(m, s, request->at_most, &status, err));
        slot_give(m, s);
        request->handle = NULL;
    }
    *done = flag != 0;
    return DT_OK;
}

/* A receive can be taken back until a message has met it. A send cannot: MPI keeps it
 * until it is done, and forgets it then by itself. */
static bool
mpi_cancel(dt_transport *t, dt_request *request)
{
    slot *s = request->handle;
    request->handle = NULL;
    if (s == NULL)
        return true;
    bool ours = true;
    if (!is_finalized() && s->request != MPI_REQUEST_NULL) {
        int flag = 0;
        if (s->wanted >= 0)
            MPI_Cancel(&s->request);
        int code = MPI_Test(&s->request, &flag, MPI_STATUS_IGNORE);
        ours = flag != 0 || (code != MPI_SUCCESS && s->request == MPI_REQUEST_NULL);
        if (!ours && s->request != MPI_REQUEST_NULL)
            MPI_Request_free(&s->request);
    }
    slot_give((mpi_transport *)t, s);
    return ours;
}

static dt_status
mpi_probe(bool *found, int *rank, dt_transport *t, int tag, dt_error *err)
{
    mpi_transport *m = (mpi_transport *)t;
    int flag = 0;
    MPI_Status status;
    DT_TRY(check_running(err));
    int code = MPI_Iprobe(MPI_ANY_SOURCE, tag, m->comm, &flag, &status);
    if (code != MPI_SUCCESS)
        return mpi_failed(code, "MPI_Iprobe", err);
    if (flag)
        *rank = status.MPI_SOURCE;
    *found = flag != 0;
    return DT_OK;
}

/* Receives a message of any tag and any length; a long one may take several calls, in
 * which no other is looked for. */
static dt_status
mpi_take(bool *taken, int *tag, dt_transport *t, int rank, void *out, size_t room,
         dt_error *err)
{
    mpi_transport *m = (mpi_transport *)t;
    *taken = false;
    if (m->taking.handle == NULL) {
        int flag = 0, bytes = 0;
        MPI_Status status;
        DT_TRY(check_running(err));
        int code = MPI_Iprobe(rank, MPI_ANY_TAG, m->comm, &flag, &status);
        if (code == MPI_SUCCESS && flag)
            code = MPI_Get_count(&status, MPI_BYTE, &bytes);
        if (code != MPI_SUCCESS)
            return mpi_failed(code, "MPI_Iprobe", err);
        if (!flag)
            return DT_OK;
        m->taken = malloc((size_t)bytes + 1);
        if (m->taken == NULL)
            return dt_fail(err, DT_MEMORY, "no memory for a message of %d bytes",
                           bytes);
        m->taken_tag = status.MPI_TAG;
        if (mpi_receive(&m->taking, t, m->taken, (size_t)bytes, rank, status.MPI_TAG,
                        err) != DT_OK) {
            free(m->taken);
            return DT_MPI;
        }
    }
    const slot *s = m->taking.handle;
    size_t bytes = (size_t)s->wanted;
    if (s->rank != rank)
        return DT_OK;
    DT_TRY(mpi_test(taken, t, &m->taking, err));
    if (*taken) {
        if (bytes <= room)
            memcpy(out, m->taken, bytes);
        *tag = m->taken_tag;
        free(m->taken);
    }
    return DT_OK;
}

static void
mpi_idle(dt_transport *t)
{
    (void)t;
    sched_yield();
}

/* At the end of MPI. */
static int
free_closed(MPI_Comm self, int keyval, void *closed, void *none)
{
    (void)self, (void)keyval, (void)none;
    mpi_transport *m = closed;
    MPI_Comm_free(&m->comm);
    free(m);
    return MPI_SUCCESS;
}

/* Messages may still be under way, of a rank that closes later. MPI would give them to
 * the next communicator that gets the number of this one, so it is kept to the end: as
 * an attribute of MPI_COMM_SELF, whose attributes go first there. */
static void
mpi_close(dt_transport *t)
{
    mpi_transport *m = (mpi_transport *)t;
    for (block *next; m->blocks != NULL; m->blocks = next) {
        next = m->blocks->next;
        free(m->blocks);
    }
    free(m->hosts);
    free(m->nodes);
    m->hosts = NULL;
    m->nodes = NULL;
    int keyval = MPI_KEYVAL_INVALID;
    if (is_finalized())
        free(m);
    else if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_closed, &keyval,
                                    NULL) == MPI_SUCCESS) {
        MPI_Comm_set_attr(MPI_COMM_SELF, keyval, m);
        MPI_Comm_free_keyval(&keyval);
    }
}

static const dt_transport_table mpi_table = {
    .send = mpi_send,
    .receive = mpi_receive,
    .test = mpi_test,
    .cancel = mpi_cancel,
    .probe = mpi_probe,
    .take = mpi_take,
    .idle = mpi_idle,
    .close = mpi_close,
};

/* --- making --- */

/* Waits for a collective of MPI, but not for ever. */
static dt_status
finish(MPI_Request *request, const char *call, double timeout, dt_error *err)
{
    double deadline = dt_now() + timeout;
    for (int done = 0;;) {
        int code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS)
            return mpi_failed(code, call, err);
        if (done)
            return DT_OK;
        sched_yield();
        if (dt_now() > deadline)
            return dt_fail(
                err, DT_RUNTIME,
                "%s was given up after %g s: not all ranks of the communicator came to "
                "what makes their world, such as init_device_mesh; a larger "
                "DTENSOR_TIMEOUT waits longer",
                call, timeout);
    }
}

/* What this process is called where it runs. */
static void
name_host(char out[MPI_MAX_PROCESSOR_NAME])
{
    int length = 0;
    if (MPI_Get_processor_name(out, &length) != MPI_SUCCESS)
        out[0] = '\0';
}

/* The duplicate, ready for use, and what is known of the other ranks. */
static dt_status
duplicate(mpi_transport *m, MPI_Comm comm, dt_site *sites, double timeout,
          dt_error *err)
{
    MPI_Request request;
    int code = MPI_Comm_idup(comm, &m->comm, &request);
    if (code != MPI_SUCCESS)
        return mpi_failed(code, "MPI_Comm_idup", err);
    DT_TRY(finish(&request, "MPI_Comm_idup", timeout, err));
    code = MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
    if (code != MPI_SUCCESS)
        return mpi_failed(code, "MPI_Comm_set_errhandler", err);

    char name[MPI_MAX_PROCESSOR_NAME];
    name_host(name);
    dt_site *own = &sites[m->base.size];
    dt_site_find(own, name);
    code = MPI_Iallgather(own, sizeof *own, MPI_BYTE, sites, sizeof *own, MPI_BYTE,
                          m->comm, &request);
    if (code != MPI_SUCCESS)
        return mpi_failed(code, "MPI_Iallgather", err);
    DT_TRY(finish(&request, "MPI_Iallgather", timeout, err));
    dt_sites_judge(&m->base, m->hosts, m->nodes, sites);
    return DT_OK;
}

static dt_status
check_communicator(MPI_Comm comm, int *size, int *rank, dt_error *err)
{
    int inter = 0;
    if (comm == MPI_COMM_NULL)
        return dt_fail(err, DT_VALUE, "the communicator is MPI.COMM_NULL");
    int code = MPI_Comm_test_inter(comm, &inter);
    if (code == MPI_SUCCESS && inter)
        return dt_fail(err, DT_VALUE,
                       "the communicator joins two groups: it must be an Intracomm");
    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(comm, size);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_rank(comm, rank);
    return code == MPI_SUCCESS ? DT_OK : mpi_failed(code, "MPI_Comm_rank", err);
}

dt_status
dt_mpi_make(dt_transport **out, int handle, dt_error *err)
{
    int initialized = 0;
    if (MPI_Initialized(&initialized) != MPI_SUCCESS || !initialized)
        return dt_fail(err, DT_RUNTIME, "MPI has not been initialized");
    DT_TRY(check_running(err));
    MPI_Comm comm = MPI_Comm_f2c(handle);
    int size = 0, rank = 0;
    DT_TRY(check_communicator(comm, &size, &rank, err));
    /* A value that is no number is told by dt_world_make, on all ranks. */
    double timeout = DT_TIMEOUT_DEFAULT;
    dt_timeout_read(&timeout, NULL);

    mpi_transport *m = calloc(1, sizeof *m);
    dt_site *sites = malloc(((size_t)size + 1) * sizeof *sites);
    dt_host *hosts = malloc((size_t)size * sizeof *hosts);
    uint64_t *nodes = malloc((size_t)size * sizeof *nodes);
    if (m == NULL || sites == NULL || hosts == NULL || nodes == NULL) {
        free(m);
        free(sites);
        free(hosts);
        free(nodes);
        return dt_fail(err, DT_MEMORY, "no memory for a communicator of %d ranks",
                       size);
    }
    m->base = (dt_transport){.table = &mpi_table, .size = size, .rank = rank};
    m->hosts = hosts;
    m->nodes = nodes;
    /* After a failure MPI may still write to m and sites: they are left to it. */
    DT_TRY(duplicate(m, comm, sites, timeout, err));
    free(sites);
    *out = &m->base;
    return DT_OK;
}

void
dt_mpi_version(char *out, size_t size)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS)
        text[0] = '\0';
    snprintf(out, size, "%s", text);
}
