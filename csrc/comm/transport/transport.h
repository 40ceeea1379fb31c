/* The room comm/transport: how bytes get from rank to rank: MPI, threads of one
 * process, one rank alone.
 *
 * May use: core/facts, core/memory.
 * Begin with: this header, then transport_threads.c. */

/* transport.h: the few functions by which bytes get from one rank to another.
 *
 * Four implementations: MPI (transport_mpi.c), memory that the ranks of a node share
 * (transport_node.c, on top of MPI), ranks that are threads of one process
 * (transport_threads.c), and a rank that is simulated without the others
 * (transport_alone.c). Everything above is the same code for all. Messages between
 * two ranks with one tag arrive in the order in which they were sent. Nothing here
 * waits for another rank or knows what a collective is; but for making and closing an
 * endpoint over MPI, which are collective and have a deadline of their own. */
#ifndef DT_TRANSPORT_H
#define DT_TRANSPORT_H

#include "comm/transport/arena.h"
#include "core/facts/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DT_TAG_LIMIT = 1 << 15, /* tags are 0 .. DT_TAG_LIMIT - 1: MPI guarantees these */
    /* Messages of this tag come behind all that was sent to the rank before them, whatever
     * its tag; dt_transport_table.take alone receives them. */
    DT_FENCE_TAG = DT_TAG_LIMIT - 1,
    /* Bytes of a message that is short: 2 KiB and the words of an agreement, so that parts
     * whose lengths are powers of two go with it. In 34 lines of the cache with its head. */
    DT_SHORT_MOST = 34 * 64 - 16,
};

/* A message under way. Zeroed: none. */
typedef struct {
    void *handle;
    bool
        at_most; /* set before a receive, of a short message: a shorter one does, too */
} dt_request;

enum { DT_HOST_MAX = 64 }; /* bytes of a host's name; of a longer one, the beginning */
typedef char dt_host[DT_HOST_MAX];

typedef struct dt_transport dt_transport;

typedef struct {
    /* Starts a message of at most INT_MAX bytes. `data` must stay until it is done. */
    dt_status (*send)(dt_request *out, dt_transport *t, const void *data, size_t bytes,
                      int rank, int tag, dt_error *err);
    /* Starts to receive a message of exactly `bytes`, or, if out->at_most, of no more. */
    dt_status (*receive)(dt_request *out, dt_transport *t, void *data, size_t bytes,
                         int rank, int tag, dt_error *err);
    /* Says whether a message is done; the handle of a request that is done is NULL. */
    dt_status (*test)(bool *done, dt_transport *t, dt_request *request, dt_error *err);
    /* Gives a message up. True if its memory may be reused at once; else the transport
     * may still touch it and the caller must never free it. The handle is then NULL. */
    bool (*cancel)(dt_transport *t, dt_request *request);
    /* Says whether a message with this tag, of DT_SHORT_MOST bytes at most, has come, from
     * any rank, and from which. */
    dt_status (*probe)(bool *found, int *rank, dt_transport *t, int tag, dt_error *err);
    /* Takes the oldest message that has come from `rank`, whatever its tag, and that no
     * receive waits for. Gives its bytes if they are no more than `room`. */
    dt_status (*take)(bool *taken, int *tag, dt_transport *t, int rank, void *out,
                      size_t room, dt_error *err);
    /* Where in this process memory of another rank can be read, that lies at `address`
     * there; it must stay as it is until that rank is told. NULL: it cannot be. The entry
     * is NULL where no rank's memory can be. */
    const void *(*reach)(dt_transport *t, int rank, const void *address);
    /* Whether ranks that can be reached can read what lies at an address of this one.
     * NULL: they can, wherever it lies. */
    bool (*lends)(dt_transport *t, const void *address);
    /* Copies a box, as dt_copy_box, from any memory of a rank that can be reached; `src` is
     * an address there. Slow for short rows. DT_RUNTIME. NULL: what a rank does not lend
     * cannot be read. */
    dt_status (*fetch)(dt_transport *t, int rank, void *dst, const int64_t *dst_stride,
                       const void *src, const int64_t *src_stride, int ndim,
                       const int64_t *shape, size_t itemsize, dt_error *err);
    const char *reached; /* why it can be, for people: "ranks of one process" */
    bool direct; /* short messages among ranks of a node are stores to memory: those to
                    each cost less than a wait for one more of them */
    /* Gives the processor away for a moment. */
    void (*idle)(dt_transport *t);
    /* Frees what is ours. For MPI this is collective. */
    void (*close)(dt_transport *t);
} dt_transport_table;

struct dt_transport {
    const dt_transport_table *table;
    int size;            /* ranks */
    int rank;            /* one's own */
    bool oversubscribed; /* more ranks than processors here: yield early */
    bool shared_memory;  /* all ranks are on one node */
    int neighbours;      /* ranks on its node, itself included; 0: not known */
    /* By rank: which node it is on, the same for ranks that reach each other or could.
     * NULL where all are on one, or that is not known. */
    const uint64_t *nodes;
    const dt_host *hosts; /* by rank: the name of its host. NULL where all have one */
    bool alone; /* the other ranks are not there, and count as doing what this one does:
                   what is agreed on or shared is its own, and moves are counted only */
};

/* n endpoints of one group of ranks in this process; out[i] belongs to rank i and is
 * used by one thread at a time. Closing the last one frees the group. DT_MEMORY. */
dt_status dt_threads_make(dt_transport **out, int n, dt_error *err);

/* Tells every rank of the group of threads that one has failed: from now on every call
 * of the table fails with DT_RUNTIME and this sentence. */
void dt_threads_abort(dt_transport *t, const char *sentence);

/* Rank `rank` of `size` ranks of which it is the only one. DT_VALUE, DT_MEMORY. */
dt_status dt_alone_make(dt_transport **out, int size, int rank, dt_error *err);

/* transport_mpi.c, the only file that includes mpi.h. `handle` is the communicator's
 * Fortran handle (MPI_Comm_c2f); it is duplicated, which is collective over it.
 * DT_MPI, DT_MEMORY. */
dt_status dt_mpi_make(dt_transport **out, int handle, dt_error *err);

/* transport_node.c: ranks of one node that are processes. What a rank tells the others of
 * its memory. Then a transport over another one, made of what all have told, by rank; ranks
 * of other nodes are left to that one, which it owns. DT_RUNTIME where a rank's memory
 * cannot be mapped, DT_MEMORY: the other one is as it was, and so it is after `unmake`. */
typedef struct {
    dt_arena_card arena;
    uint64_t door, door_bytes; /* where others write their messages; 0: nowhere */
    uint32_t slots;            /* for one of them */
    bool lonely;               /* there is no other rank on its node */
} dt_node_card;
void dt_node_offer(dt_node_card *out, const dt_transport *t);
dt_status dt_node_make(dt_transport **out, dt_transport *far, const dt_node_card *cards,
                       dt_error *err);
void dt_node_unmake(dt_transport *t);

/* Whether this rank can fetch from all ranks of its node; where not all ranks can, none is
 * to. */
bool dt_node_fetches(const dt_transport *t);
void dt_node_no_fetch(dt_transport *t);

/* transport_late.c, for tests: the k-th message that this rank sends from now on (k = 1 is
 * the next) leaves `seconds` late, and what follows it to the same rank with the same
 * tag behind it; 0: none. DT_MEMORY. The other: how many are left until then. */
dt_status dt_late_at(dt_transport *t, long k, double seconds, dt_error *err);
long dt_late_left(const dt_transport *t);

/* Whether other ranks can read what lies at an address of this one, where they can reach
 * anything of it. */
static inline bool
dt_lends(dt_transport *t, const void *address)
{
    return t->table->lends == NULL || t->table->lends(t, address);
}

/* A rank as sentences name it: "rank 2", in jobs of several hosts "rank 2 (on host b)". */
typedef struct {
    char text[DT_HOST_MAX + 32];
} dt_rank_name;
dt_rank_name dt_name_rank(const dt_transport *t, int rank);

double dt_now(void); /* seconds of a monotonic clock */

/* The seconds that a wait may take: DTENSOR_TIMEOUT, or DT_TIMEOUT_DEFAULT where it is
 * not set. DT_VALUE unless it is a positive number. */
dt_status dt_timeout_read(double *out, dt_error *err);
#define DT_TIMEOUT_DEFAULT 300.0

/* The version string of the MPI library that is linked: at most `size` bytes. */
void dt_mpi_version(char *out, size_t size);

/* The most elements that one message may carry: INT_MAX, or less for tests. */
extern int64_t dt_count_limit;

#endif
