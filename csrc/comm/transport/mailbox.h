/* mailbox.h: the inside of transport_node.c: messages of one pair of ranks through memory
 * that both see. */
#ifndef DT_MAILBOX_H
#define DT_MAILBOX_H

#include "comm/transport/transport.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DT_MAIL_MOST = DT_SHORT_MOST /* bytes of a message */ };

typedef struct {
    _Alignas(64) _Atomic uint64_t number; /* of its message, from 1; written last */
    int32_t tag;
    int32_t bytes;
    unsigned char data[DT_MAIL_MOST];
} dt_slot;

/* Lies at the receiver, for one sender; zeroed: empty. The number of its slots is a power
 * of two. */
typedef struct {
    _Alignas(64) _Atomic uint64_t taken; /* messages that have left it */
    dt_slot slots[];
} dt_ring;

/* The slots of a ring where so many ranks have one for each other: fewer for more, as each
 * pair that has ever talked keeps its rings' pages; and a ring's bytes. */
unsigned dt_ring_slots(int ranks);
size_t dt_ring_bytes(unsigned slots);

/* A message that waits, or a receive. */
typedef struct dt_mail dt_mail;
struct dt_mail {
    dt_mail *next;
    int tag;
    size_t bytes, got;
    const void *from; /* of a message that waits for a slot */
    void *to;         /* of a receive */
    bool finished;
    size_t room;
    unsigned char data[]; /* of a message that has arrived */
};

typedef struct {
    dt_mail *first, **end;
} dt_mail_list;

/* One end of a pair. */
typedef struct {
    dt_ring *out, *in;    /* to the other end, and from it */
    unsigned room, mask;  /* slots of `out`; those of `in` less one */
    uint64_t sent, left;  /* messages of `out`; of them, as last read, taken */
    uint64_t received;    /* messages of `in` */
    dt_mail_list waiting; /* for a slot */
    dt_mail_list posted;  /* receives */
    dt_mail_list arrived; /* messages that no receive has waited for */
    dt_mail **spare;      /* to be used again: of all pairs of a rank */
} dt_mailbox;

void dt_mailbox_begin(dt_mailbox *box, dt_ring *out, unsigned out_slots, dt_ring *in,
                      unsigned in_slots, dt_mail **spare);
void dt_mailbox_end(dt_mailbox *box);

/* Sends: *out is NULL where that is done, else `from` must stay until it is finished.
 * Receives: *out is what dt_mailbox_collect finishes. DT_MEMORY. */
dt_status dt_mailbox_send(dt_mail **out, dt_mailbox *box, const void *from,
                          size_t bytes, int tag, dt_error *err);
dt_status dt_mailbox_receive(dt_mail **out, dt_mailbox *box, void *to, size_t bytes,
                             int tag, dt_error *err);

/* Takes in what has come, and sends what waits. DT_MEMORY: some of it stays. */
dt_status dt_mailbox_collect(dt_mailbox *box, dt_error *err);

/* Whether a message with this tag has come that no receive has waited for. */
bool dt_mailbox_has(dt_mailbox *box, int tag);

/* The oldest such message, to be given back; NULL: there is none. */
dt_mail *dt_mailbox_take(dt_mailbox *box);

/* Withdraws what is not finished, and gives back what is. */
void dt_mail_give(dt_mailbox *box, dt_mail *mail);

/* Memory for the above. NULL: there is none. */
dt_mail *dt_mail_new(dt_mail **spare, size_t room);
void dt_mails_free(dt_mail *first);

#endif
