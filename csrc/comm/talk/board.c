#include "comm/talk/board.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The page as a file, which is found by its open descriptor; NULL: there is none. */
static dt_board *
map_page(void)
{
    int file = memfd_create("dtensor-board", MFD_CLOEXEC);
    if (file < 0)
        return NULL;
    void *at = MAP_FAILED;
    if (posix_fallocate(file, 0, sizeof(dt_board)) == 0)
        at = mmap(NULL, sizeof(dt_board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) {
        close(file);
        return NULL;
    }
    dt_board *board = at;
    board->file = file;
    return board;
}

dt_status
dt_board_make(dt_board **out, const dt_transport *transport, dt_error *err)
{
    bool process = transport->size > 1 && !transport->alone &&
                   transport->table->reach == NULL; /* threads reach each other */
    dt_board *board = process ? map_page() : NULL;
    if (board == NULL) {
        board = calloc(1, sizeof *board);
        if (board == NULL)
            return dt_fail(err, DT_MEMORY, "no memory for the counters of a rank");
        board->file = -1;
    }
    board->pid = getpid();
    board->rank = transport->rank;
    board->size = transport->size;
    board->kinds = DT_STEP_KINDS;
    for (int kind = 0; kind < DT_STEP_KINDS; kind++)
        snprintf(board->names[kind], DT_BOARD_NAME, "%s",
                 dt_step_name((dt_step_kind)kind));
    memcpy(board->magic, "dtboard1", sizeof board->magic);
    *out = board;
    return DT_OK;
}

void
dt_board_free(dt_board *board)
{
    int file = board == NULL ? -1 : board->file;
    if (file < 0) {
        free(board);
        return;
    }
    munmap(board, sizeof *board);
    close(file);
}

void
dt_board_show(dt_board *board, const dt_task *task, double since)
{
    atomic_fetch_add(&board->turn, 1);
    board->since = task == NULL ? 0 : since;
    if (task != NULL) {
        const dt_group *group = task->group;
        board->group = group->hash;
        board->number = task->number;
        board->members = group->size;
        for (int k = 0; k < group->size && k < DT_BOARD_RANKS; k++)
            board->ranks[k] = group->ranks[k];
        snprintf(board->what, sizeof board->what, "%s", task->what);
    }
    atomic_fetch_add(&board->turn, 1);
}
