#include "comm/transport/fetch.h"

#include "core/facts/dtype.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

enum { ROWS = 512 /* of one call of the system, which takes 1024 */ };

typedef struct {
    pid_t pid;
    struct iovec to[ROWS], from[ROWS];
    int to_count, from_count;
    size_t bytes;
} batch;

/* Adds bytes to a list, to its last row if they lie behind it. */
static void
add(struct iovec *rows, int *count, char *at, size_t bytes)
{
    struct iovec *last = *count > 0 ? &rows[*count - 1] : NULL;
    if (last != NULL && (char *)last->iov_base + last->iov_len == at)
        last->iov_len += bytes;
    else
        rows[(*count)++] = (struct iovec){at, bytes};
}

static dt_status
flush(batch *b, dt_error *err)
{
    if (b->bytes == 0)
        return DT_OK;
    ssize_t got = process_vm_readv(b->pid, b->to, (unsigned long)b->to_count, b->from,
                                   (unsigned long)b->from_count, 0);
    if (got != (ssize_t)b->bytes)
        return dt_fail(err, DT_RUNTIME, "%zu bytes of process %d could not be read: %s",
                       b->bytes, (int)b->pid,
                       got < 0 ? strerror(errno) : "some are not there");
    b->to_count = b->from_count = 0;
    b->bytes = 0;
    return DT_OK;
}

dt_status
dt_fetch_box(int64_t pid, void *dst, const int64_t *dst_stride, const void *src,
             const int64_t *src_stride, int ndim, const int64_t *shape, size_t itemsize,
             dt_error *err)
{
    batch b = {.pid = (pid_t)pid};
    int64_t at[DT_MAX_NDIM] = {0};
    size_t run = itemsize;
    while (ndim > 0 && dst_stride[ndim - 1] == (int64_t)run &&
           src_stride[ndim - 1] == (int64_t)run)
        run *= (size_t)shape[--ndim];
    for (int d = 0; d < ndim; d++)
        run = shape[d] == 0 ? 0 : run;
    char *to = dst, *from = (char *)(uintptr_t)src;
    while (run > 0) {
        add(b.to, &b.to_count, to, run);
        add(b.from, &b.from_count, from, run);
        b.bytes += run;
        if (b.to_count == ROWS || b.from_count == ROWS)
            DT_TRY(flush(&b, err));
        int d = ndim - 1;
        for (; d >= 0; d--) {
            to += dst_stride[d];
            from += src_stride[d];
            if (++at[d] < shape[d])
                break;
            to -= dst_stride[d] * shape[d];
            from -= src_stride[d] * shape[d];
            at[d] = 0;
        }
        if (d < 0)
            break;
    }
    return flush(&b, err);
}
