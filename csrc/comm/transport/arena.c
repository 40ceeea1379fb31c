/* A page of a shared file that cannot be had is a signal, not an error, where it is
 * touched; so pages are made when a block is taken, in one call that says whether they
 * could be. A limit of the control group ends processes rather than calls, so what it
 * leaves is read before; not each time, but for some growth ahead.
 *
 * A child of fork sees its parent's arrays, and must not write into them: its handler
 * maps the file anew, privately. */
#include "comm/transport/arena.h"

#include "core/facts/hash.h"
#include "core/memory/memory.h"
#include "core/memory/range.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if !defined(MADV_POPULATE_WRITE)
#define MADV_POPULATE_WRITE 23
#endif

/* Addresses of an arena where they are allowed, else less; those of doors at its
 * beginning. 127 of the largest fit into one process. */
enum { MOST_LOG2 = 38, LEAST_LOG2 = 30, STEP_LOG2 = 2, DOORS_LOG2 = 28 };
static const size_t MARGIN_BYTES = (size_t)64 << 20; /* left to all others */
static const size_t AHEAD_BYTES = (size_t)256 << 20; /* growth between two looks */

static struct {
    pthread_mutex_t lock;
    bool tried;
    int fd;
    char *at; /* NULL: there is none */
    size_t bytes;
    size_t doors; /* bytes that are taken */
    dt_arena_card card;
    _Atomic size_t allowed; /* growth before the next look */
} arena = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

/* --- what memory there is --- */

/* The first number in a file, or the one behind `key`; SIZE_MAX: there is none. */
static size_t
read_number(const char *path, const char *key)
{
    char line[256];
    size_t number = SIZE_MAX;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return SIZE_MAX;
    while (number == SIZE_MAX && fgets(line, sizeof line, file) != NULL) {
        unsigned long long value;
        if (strncmp(line, key, strlen(key)) == 0 &&
            sscanf(line + strlen(key), "%llu", &value) == 1)
            number = (size_t)value;
    }
    fclose(file);
    return number;
}

/* What a control group and those above it, down to `top` bytes of path, still allow. */
static size_t
group_room(char *path, size_t top, const char *limit, const char *usage)
{
    size_t room = SIZE_MAX;
    for (;;) {
        char name[600];
        snprintf(name, sizeof name, "%s/%s", path, limit);
        size_t most = read_number(name, "");
        snprintf(name, sizeof name, "%s/%s", path, usage);
        size_t used = most == SIZE_MAX ? SIZE_MAX : read_number(name, "");
        if (used != SIZE_MAX && (used > most || most - used < room))
            room = used > most ? 0 : most - used;
        char *last = strrchr(path, '/');
        if (strlen(path) <= top || last == NULL)
            return room;
        *last = '\0';
    }
}

static size_t
groups_room(void)
{
    char line[400], path[512];
    size_t room = SIZE_MAX;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const char *of_memory = strstr(line, ":memory:");
        bool second = strncmp(line, "0::", 3) == 0;
        if (!second && of_memory == NULL)
            continue;
        const char *top = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
        const char *below = second ? line + 3 : of_memory + strlen(":memory:");
        snprintf(path, sizeof path, "%s%s", top, strcmp(below, "/") == 0 ? "" : below);
        size_t left = group_room(path, strlen(top),
                                 second ? "memory.max" : "memory.limit_in_bytes",
                                 second ? "memory.current" : "memory.usage_in_bytes");
        room = left < room ? left : room;
    }
    if (file != NULL)
        fclose(file);
    return room;
}

static bool
may_grow(size_t bytes)
{
    size_t allowed = atomic_load(&arena.allowed);
    while (allowed >= bytes)
        if (atomic_compare_exchange_weak(&arena.allowed, &allowed, allowed - bytes))
            return true;
    size_t free_bytes = read_number("/proc/meminfo", "MemAvailable:");
    free_bytes = free_bytes > SIZE_MAX >> 10 ? SIZE_MAX : free_bytes << 10;
    size_t groups = groups_room();
    size_t room = groups < free_bytes ? groups : free_bytes;
    if (room < MARGIN_BYTES || room - MARGIN_BYTES < bytes)
        return false;
    room = (room - MARGIN_BYTES - bytes) / 8; /* other ranks grow, too */
    atomic_store(&arena.allowed, room < AHEAD_BYTES ? room : AHEAD_BYTES);
    return true;
}

/* --- pages --- */

static bool
get_pages(void *at, size_t bytes)
{
    if (!may_grow(bytes))
        return false;
    if (madvise(at, bytes, MADV_POPULATE_WRITE) == 0)
        return true;
    /* Before Linux 5.14 there is no such call. */
    return errno == EINVAL &&
           posix_fallocate(arena.fd, (char *)at - arena.at, (off_t)bytes) == 0;
}

static bool
drop_pages(void *at, size_t bytes)
{
    return madvise(at, bytes, MADV_REMOVE) == 0;
}

/* --- making --- */

static void
in_child(void)
{
    struct stat is;
    bool there = fstat(arena.fd, &is) == 0 && is.st_ino == arena.card.file &&
                 is.st_dev == arena.card.dev;
    if (there)
        mmap(arena.at, arena.bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, arena.fd, 0);
    arena.card.pid = 0;
}

static uint64_t
node_name(void)
{
    char boot[64] = "", host[256] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file != NULL) {
        if (fgets(boot, sizeof boot, file) == NULL)
            boot[0] = '\0';
        fclose(file);
    }
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    return dt_hash(dt_hash(0, boot, strlen(boot)), host, strlen(host));
}

/* As many addresses as the limits of this process allow. */
static bool
map_own(void)
{
    struct rlimit limit;
    for (int log2 = MOST_LOG2; log2 >= LEAST_LOG2; log2 -= STEP_LOG2) {
        size_t bytes = (size_t)1 << log2;
        /* Beyond this limit to make a file larger is a signal. */
        if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < bytes ||
            ftruncate(arena.fd, (off_t)bytes) != 0)
            continue;
        void *at = dt_range_reserve(bytes);
        if (at == NULL)
            continue;
        if (mmap(at, bytes, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED | MAP_NORESERVE, arena.fd, 0) == MAP_FAILED) {
            munmap(at, bytes);
            continue;
        }
        arena.bytes = bytes;
        arena.at = at;
        return true;
    }
    return false;
}

static bool
make(void)
{
    struct stat is;
    arena.fd = memfd_create("dtensor", MFD_CLOEXEC);
    if (arena.fd < 0)
        return false;
    if (fstat(arena.fd, &is) == 0 && map_own()) {
        size_t doors = arena.bytes >> 4 < (size_t)1 << DOORS_LOG2
                           ? arena.bytes >> 4
                           : (size_t)1 << DOORS_LOG2;
        dt_range_source source = {.at = arena.at + doors,
                                  .bytes = arena.bytes - doors,
                                  .get = get_pages,
                                  .drop = drop_pages};
        arena.card = (dt_arena_card){.pid = getpid(),
                                     .fd = arena.fd,
                                     .dev = is.st_dev,
                                     .file = is.st_ino,
                                     .at = (uint64_t)(uintptr_t)arena.at,
                                     .bytes = arena.bytes};
        if (pthread_atfork(NULL, NULL, in_child) == 0 && dt_memory_use(&source))
            return true;
        munmap(arena.at, arena.bytes);
    }
    close(arena.fd);
    arena.at = NULL;
    arena.fd = -1;
    arena.card.pid = 0;
    return false;
}

void
dt_arena_open(dt_arena_card *out)
{
    const char *setting = getenv("DTENSOR_ARENA");
    bool wanted = setting == NULL || strcmp(setting, "0") != 0;
    pthread_mutex_lock(&arena.lock);
    if (wanted && !arena.tried) {
        arena.tried = true;
        make();
    }
    *out = arena.card;
    if (!wanted)
        out->pid = 0;
    pthread_mutex_unlock(&arena.lock);
    out->node = node_name();
}

bool
dt_arena_has(const void *address)
{
    return (uintptr_t)address - (uintptr_t)arena.at < arena.bytes;
}

void *
dt_arena_door(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), most = (size_t)1 << DOORS_LOG2;
    most = arena.bytes >> 4 < most ? arena.bytes >> 4 : most;
    void *door = NULL;
    bytes = (bytes + page - 1) / page * page;
    pthread_mutex_lock(&arena.lock);
    if (arena.at != NULL && bytes <= most - arena.doors) {
        door = arena.at + arena.doors;
        arena.doors += bytes;
    }
    pthread_mutex_unlock(&arena.lock);
    return door;
}

/* --- the peers' --- */

bool
dt_arena_map(dt_arena_view *out, const dt_arena_card *card, uint64_t door, size_t bytes)
{
    char path[64];
    struct stat is;
    *out = (dt_arena_view){.card = *card};
    if (card->pid == 0)
        return false;
    if (card->pid == getpid() && card->file == arena.card.file &&
        card->dev == arena.card.dev) {
        out->at = arena.at;
        return true;
    }
    snprintf(path, sizeof path, "/proc/%" PRId64 "/fd/%" PRId64, card->pid, card->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    void *at = MAP_FAILED;
    if (fstat(fd, &is) == 0 && is.st_ino == card->file && is.st_dev == card->dev)
        at = mmap(NULL, card->bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (at != MAP_FAILED) {
        madvise(at, card->bytes, MADV_DONTDUMP);
        size_t offset = (size_t)(door - card->at);
        if (bytes > 0 &&
            mmap((char *)at + offset, bytes, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED, fd, (off_t)offset) == MAP_FAILED) {
            munmap(at, card->bytes);
            at = MAP_FAILED;
        }
    }
    close(fd);
    out->at = at == MAP_FAILED ? NULL : at;
    return out->at != NULL;
}

void
dt_arena_unmap(dt_arena_view *view)
{
    if (view->at != NULL && view->at != arena.at)
        munmap(view->at, view->card.bytes);
    view->at = NULL;
}
