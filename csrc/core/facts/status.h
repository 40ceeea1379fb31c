/* The room core/facts: errors, element types, placements, meshes, the one hash:
 * what is known of arrays and ranks before there is a layout.
 *
 * May use: libc.
 * Begin with: mesh.h, then placement.h. */

/* status.h: how a C function says that it failed.
 *
 * A function that can fail returns dt_status and takes `dt_error *err` last; a
 * function without `err` cannot fail. On failure its outputs are untouched and
 * `err` holds one sentence for the user. `err` may be NULL. */
#ifndef DT_STATUS_H
#define DT_STATUS_H

/* Chosen by what Python raises; ext/base/error.c has the table. */
typedef enum {
    DT_OK,
    DT_VALUE,
    DT_TYPE,
    DT_INDEX,
    DT_KEY,
    DT_RUNTIME,
    DT_ASSERTION,
    DT_NOT_IMPLEMENTED,
    DT_MEMORY,
    DT_FLOATING_POINT,
    DT_MPI,
    DT_INTERRUPTED, /* a signal handler raised: the exception is already set */
    DT_PARTED,      /* the ranks make the same call with different values */
    DT_BUG,
    DT_CALLERS, /* from here on: the caller's own, which only it tells apart */
} dt_status;

typedef struct {
    dt_status status;
    char message[1024];
} dt_error;

/* Writes the sentence into `err` and returns `status`, so that a check is one line:
 *
 *     return dt_fail(err, DT_VALUE, "cannot shard a dimension of length %d", n);
 */
dt_status dt_fail(dt_error *err, dt_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "`context`: " before the sentence that `err` holds. */
void dt_error_prefix(dt_error *err, const char *context);

/* Passes a failure on. */
#define DT_TRY(call)                                                                   \
    do {                                                                               \
        dt_status try_status_ = (call);                                                \
        if (try_status_ != DT_OK)                                                      \
            return try_status_;                                                        \
    } while (0)

#endif
