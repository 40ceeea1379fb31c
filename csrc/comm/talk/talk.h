/* The room comm/talk: groups, tasks and waiting; how ranks agree, share small data
 * and tell each other what is wrong.
 *
 * May use: core, comm/transport.
 * Begin with: this header, then wait.c and agree.c. */

/* talk.h: a world of ranks, groups of them, and the one function that waits. */
#ifndef DT_TALK_H
#define DT_TALK_H

#include "comm/transport/transport.h"
#include "core/plan/cost.h"
#include "core/plan/plan.h"

typedef struct dt_world dt_world;
typedef struct dt_group dt_group;
typedef struct dt_task dt_task;
typedef struct dt_notes dt_notes;
typedef struct dt_fences dt_fences;
typedef struct dt_run dt_run;
struct dt_way;
struct dt_trail;

/* Something that takes several messages. Tasks of one group run one after the other in
 * the order in which they were started, which is the same on all its ranks. */
struct dt_task {
    /* Does what can be done without waiting; sets *done at the end. After an error it
     * is not called again. */
    dt_status (*advance)(bool *done, dt_task *task, dt_error *err);
    /* Gives up: cancels messages. Called once where the task fails, also where
     * `advance` has said so itself or was never called. */
    void (*abandon)(dt_task *task);
    dt_group *group;
    const char *what; /* the user's call, for messages; lives as long as the task */
    /* below: group.c's and wait.c's own */
    dt_task *next;
    uint64_t number; /* of the task in its group; 0 until it runs */
    bool queued, begun, finished;
    bool moved;      /* it has posted messages other than an agreement's */
    uint64_t faults; /* failures that this rank had noted when it was started ... */
    uint64_t steps;  /* ... and steps of its trail */
    dt_error error;  /* status DT_OK if it ended well */
};

/* A kernel that failed on this rank, and is not settled: settle.h. */
typedef struct {
    uint64_t number;  /* of the failure on this rank, from 1 */
    uint64_t lineage; /* of the call; `local`: its name on the trail */
    bool local;       /* no DTensor was in it */
    dt_error error;
} dt_failure;

/* What the ranks that an agreement has heard of have said, taken together: agree.c's. */
typedef struct {
    uint64_t number;
    uint64_t oldest; /* the smallest number with which one of them came */
    uint64_t hash_min, hash_max;
    uint64_t detail_min, detail_max;
    uint64_t fault_min, fault_max;     /* of the failures that are not settled */
    uint64_t lineage_min, lineage_max; /* of the traced ones: else min > max */
    int64_t failed; /* the lowest place with a local error; INT64_MAX: none */
} dt_summary;

/* What an agreement sends: a summary, and the blocks of those that it has heard of, where
 * its call gives each rank a block of all. */
enum { DT_FREIGHT_MOST = DT_SHORT_MOST - sizeof(dt_summary) };
typedef struct {
    dt_summary sum;
    unsigned char freight[DT_FREIGHT_MOST];
} dt_parcel;

enum { DT_FAILURES_KEPT = 4 };

struct dt_group {
    dt_world *world;
    int size;
    int index;              /* one's own place, -1 if not a member */
    const int *ranks;       /* `size` ranks of the world, in the order of the group */
    const int64_t *by_rank; /* the places in ascending order of their ranks */
    int tag;                /* the first of DT_GROUP_TAGS tags of the group's own */
    uint64_t started;       /* number of the task that ran last: epoch, count from 1 */
    uint64_t reached;       /* number of the last one that was not given up here */
    int failure_count;      /* failures that are not settled */
    dt_failure failures[DT_FAILURES_KEPT]; /* the first of them, oldest first */
    uint64_t more;                         /* a hash of those behind them; 0: none */
    uint64_t mark;     /* steps of the trail, where its ranks agreed last */
    uint64_t arrivals; /* arrays that came to its ranks: ext/types/lineage.c's ... */
    uint64_t ended; /* ... since the task of this number, which a failure has ended */
    /* below: group.c's and wait.c's own */
    dt_task *first, *last;
    dt_group *next, *next_active;
    dt_group *queue; /* whose tasks this group's stand in line with: its own, or those
                        of an older group that has the same tags */
    uint64_t hash;   /* of the ranks */
    bool direct;     /* dt_world_direct */
    double rested;   /* when its last task ended, on a coarse clock */
    uint64_t settled_from, settled_to; /* tasks that settle.c has ended alone */
    dt_parcel early; /* of a later agreement, met in one that others had ended ... */
    int early_round; /* ... in this round: agree.c's */
    bool listed;
};

/* Numbers of tasks begin anew with each epoch (resync.h): all that is about a task of an
 * older one has a smaller number. People are told the count alone. */
static inline uint64_t
dt_first_number(uint64_t epoch)
{
    return epoch << 32;
}

static inline uint64_t
dt_count_in(uint64_t number)
{
    return number & UINT32_MAX;
}

/* The tags of a group: which messages each `phase` of dt_post_send is for. */
enum {
    DT_PHASE_DATA = 0,   /* 8 of them: number & 7 of the task */
    DT_PHASE_AGREE = 8,  /* 4 */
    DT_PHASE_NOTE = 12,  /* 1 */
    DT_PHASE_SHARE = 13, /* 3 */
    DT_GROUP_TAGS = 16,
};

/* What this rank did in steps of one kind. */
typedef struct {
    int64_t calls, bytes, messages; /* bytes and messages that it sent */
    double seconds;                 /* predicted: of a world that is `alone` */
} dt_counter;

/* What the ranks compare: DTENSOR_CHECK. */
typedef enum {
    DT_CHECK_NOTHING,
    DT_CHECK_CALLS,  /* every collective call, before data move (the default) */
    DT_CHECK_ARRAYS, /* also plain arrays that operators take for replicated */
} dt_check;

/* What became of the call of a lineage on this rank. */
typedef enum { DT_NOT_MADE, DT_SUCCEEDED, DT_FAILED } dt_made;
typedef dt_made dt_made_here(uint64_t lineage);
/* Says which call made a value on this rank, and where its program is; called while it
 * waits. walk.h */
struct dt_testimony;
typedef void dt_testify_here(struct dt_testimony *out, uint64_t lineage, bool traced);
/* Says where its program is: "train.py:42", or nothing; called while it waits. */
typedef void dt_place_here(char *out, size_t room);

struct dt_world {
    dt_transport *transport;
    dt_cost cost;
    dt_counter *counters;   /* by kind, since the world was made; execute.c's */
    struct dt_board *board; /* in which they lie, and what others may look at */
    dt_run *kept_runs;      /* execute.c's */
    double timeout; /* seconds that a wait may take; DTENSOR_TIMEOUT, default 300 */
    char limit[64]; /* what has set the timeout, for the sentence of a wait in vain */
    dt_check check; /* DTENSOR_CHECK */
    const struct dt_way *way; /* DTENSOR_WAY, for tests: where it fits; NULL: any */
    /* Called every 50 ms of waiting, for signals; DT_INTERRUPTED ends the wait. */
    dt_status (*poll)(void *data);
    /* Called before and after a wait of more than some microseconds; may be NULL. */
    void (*let_go)(void *data, bool waits);
    void *poll_data;          /* of both */
    dt_made_here *made;       /* of this rank's journal; NULL: it has none */
    dt_testify_here *testify; /* the same; NULL on all ranks: none */
    dt_place_here *place;     /* of this rank's program; NULL: it has none */
    struct dt_trail *trail;   /* the caller's; NULL: none. trail.h */
    int local_failures;       /* since ranks agreed without one: settle.c's */
    uint64_t faults;          /* failures that this rank has noted: settle.c's */
    /* below: group.c's and wait.c's own */
    dt_group *groups;
    dt_group *active; /* groups that have tasks */
    dt_group *all;    /* the group of all ranks */
    dt_notes *notes;
    void *spare;       /* agree.c: an agreement to use again */
    dt_fences *fences; /* resync.c's */
    uint64_t epoch;    /* how often ranks have begun anew */
    bool
        left; /* the epoch: this rank waits for the others to do so; it sends nothing */
    uint64_t messages_sent, bytes_sent; /* by dt_post_send, agreements too */
    bool broken; /* a task failed half way: what is under way is unknown */
    dt_error broken_by;
};

/* The group of these ranks in this order, made at first use without communication and
 * kept until the world closes; equal lists give the same group. NULL means all. Its
 * tags depend on the ranks alone. DT_VALUE for a rank there is not. DT_MEMORY. */
dt_status dt_world_group(dt_group **out, dt_world *world, const int64_t *ranks,
                         int64_t count, dt_error *err);

/* The place of a rank of the world in the group, -1 if it is not a member. */
int dt_group_place(const dt_group *group, int64_t rank);

/* Whether so many ranks, NULL: the first ones, are few and on one node, where short
 * messages cost so little that each agrees with each, in one round. */
bool dt_world_direct(const dt_world *world, const int64_t *ranks, int64_t count);

/* Enters a task; it runs when a rank waits, for this or any other task of the world. */
dt_status dt_start(dt_task *task, dt_error *err);

/* Makes progress on all groups until this task has ended, and tells its error. The one
 * place that waits: yields, calls poll, and after `timeout` seconds without an end
 * fails with DT_RUNTIME, a sentence that names the call and the ranks that did not
 * come. */
dt_status dt_wait(dt_task *task, dt_error *err);

/* After so many seconds of waiting the others are told of it. */
double dt_late_seconds(const dt_world *world);

/* One round of progress on everything that was started; never waits. */
void dt_progress(dt_world *world);

/* Ends all tasks of the world with DT_RUNTIME: their calls were given up because of
 * `reason`. */
void dt_give_up_all(dt_world *world, const char *reason);

/* Messages of a task. `phase` (0 .. DT_GROUP_TAGS - 1) keeps kinds of messages apart;
 * `place` is a place in the group. Counts what is sent. */
dt_status dt_post_send(dt_request *out, dt_group *group, const void *data, size_t bytes,
                       int place, int phase, dt_error *err);
dt_status dt_post_receive(dt_request *out, dt_group *group, void *data, size_t bytes,
                          int place, int phase, dt_error *err);
dt_status dt_test(bool *done, dt_group *group, dt_request *request, dt_error *err);
bool dt_cancel(dt_group *group, dt_request *request);

#endif
