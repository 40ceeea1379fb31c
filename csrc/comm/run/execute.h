/* The room comm/run: plans are prepared and run; what they move is counted and can
 * be watched.
 *
 * May use: core, kernels, comm/transport, comm/talk, comm/way.
 * Begin with: this header, then prepare.c and execute.c. */

/* execute.h: runs plans.
 *
 * Messages are slices of up to 1 MiB that are packed, sent, received and unpacked
 * (or summed) while they are in the cache; what is contiguous on both sides goes in one
 * message without a copy. Addends are combined by one tree (kernels/reduce.h), so every
 * rank gets the same bits. */
#ifndef DT_EXECUTE_H
#define DT_EXECUTE_H

#include "comm/talk/agree.h"

/* One array to move. A rank outside plan->from's mesh has src NULL, one outside
 * plan->to's has dst NULL. */
typedef struct {
    const dt_plan *plan;
    const void *src;           /* local array, only read */
    const int64_t *src_stride; /* in bytes, one per tensor dimension; copied */
    void *dst; /* room for the part of plan->to, in C order, aligned to 64 bytes */
} dt_transfer;

/* Prepares moves that go together: step by step, one message per pair of ranks. All
 * memory is taken here. `group` has all ranks of all meshes of the plans.
 *
 * Cannot fail: whatever goes wrong on this rank, call->local included, is kept and
 * agreed on when the task runs, so that all ranks fail alike. Returns NULL only if
 * there is no memory for the run itself.
 *
 * `scratch`  bytes of pack buffers at most; 0: a default of 12 MiB. */
dt_run *dt_run_make(dt_group *group, const dt_transfer *moves, int count,
                    int64_t scratch, const dt_call *call);

/* A run of one move by a plan that is kept to be used again, whose call had this hash; NULL:
 * there is none. The other one prepares it, as dt_run_make, for a call that differs from
 * that one in its arrays and lineage, or has failed here before (`local`, or NULL). False:
 * not all ranks can read these arrays, or there is no memory; the run is kept. */
dt_run *dt_run_take(dt_group *group, const dt_plan *plan, uint64_t hash);
bool dt_run_again(dt_run *run, const dt_transfer *move, uint64_t lineage, bool traced,
                  const dt_error *local);

dt_task *dt_run_task(dt_run *run); /* to be started and waited for */
void dt_run_free(dt_run *run);     /* ended, or never started */

/* True after a failure that left messages under way which may still touch the moves'
 * memory: src and dst must then never be freed. */
bool dt_run_poisoned(const dt_run *run);

/* Frees the runs that a world keeps to use them again; before it is closed. */
void dt_world_forget_runs(dt_world *world);

/* Does a move of which dt_plan_local(plan) is true at once, alone. DT_MEMORY. */
dt_status dt_run_local(const dt_transfer *move, int64_t rank, dt_error *err);

#endif
