/* Loaded before libc into the ranks of a job: refuses what REFUSE says, "memfd", "readv"
 * or, as a number, the k-th growth of shared memory, to all ranks or to REFUSE_RANK. When a
 * process ends it says how often its shared memory has grown. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static long asked, grown;

static int
refuses(const char *what)
{
    const char *refuse = getenv("REFUSE"), *only = getenv("REFUSE_RANK");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    return refuse != NULL && strcmp(refuse, what) == 0 &&
           (only == NULL || (rank != NULL && strcmp(rank, only) == 0));
}

static int
refused(int why)
{
    errno = why;
    return -1;
}

int
memfd_create(const char *name, unsigned flags)
{
    if (refuses("memfd"))
        return refused(ENOSYS);
    return (int)syscall(SYS_memfd_create, name, flags);
}

ssize_t
process_vm_readv(pid_t pid, const struct iovec *to, unsigned long count,
                 const struct iovec *from, unsigned long from_count,
                 unsigned long flags)
{
    if (refuses("readv"))
        return refused(EPERM);
    return syscall(SYS_process_vm_readv, pid, to, count, from, from_count, flags);
}

int
madvise(void *at, size_t bytes, int advice)
{
    char number[32];
    if (advice == MADV_POPULATE_WRITE) {
        snprintf(number, sizeof number, "%ld", __atomic_add_fetch(&asked, 1, 5));
        if (refuses(number))
            return refused(ENOMEM);
    }
    int result = (int)syscall(SYS_madvise, at, bytes, advice);
    if (advice == MADV_POPULATE_WRITE && result == 0)
        __atomic_add_fetch(&grown, 1, 5);
    return result;
}

__attribute__((destructor)) static void
tell(void)
{
    if (getenv("OMPI_COMM_WORLD_RANK") != NULL && grown > 0)
        fprintf(stderr, "grown %ld times\n", grown);
}
