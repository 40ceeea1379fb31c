/* The sender fills a slot of the ring and writes the slot's number last; the receiver
 * polls for that number. So a short message costs the transfer of a cache line or two, and
 * neither end writes what the other one polls. A receive takes its message right out of
 * the slot; what nobody waits for yet is put aside, so that it does not stand in the way
 * of messages with other tags. */
#include "comm/transport/mailbox.h"

#include <stdlib.h>
#include <string.h>

enum {
    SMALL = 128, /* bytes of a message that is put aside in memory kept for that */
    SLOTS_MOST = 8,
    SLOTS_LEAST = 2,
    SLOTS_OF_RANK = 128 /* in all its rings, unless these have the least */
};

/* --- lists --- */

dt_mail *
dt_mail_new(dt_mail **spare, size_t room)
{
    dt_mail *mail = *spare;
    if (room <= SMALL && mail != NULL) {
        *spare = mail->next;
        return mail;
    }
    room = room <= SMALL ? SMALL : room;
    mail = malloc(sizeof *mail + room);
    if (mail != NULL)
        mail->room = room;
    return mail;
}

static void
give(dt_mailbox *box, dt_mail *mail)
{
    if (mail->room > SMALL) {
        free(mail);
        return;
    }
    mail->next = *box->spare;
    *box->spare = mail;
}

void
dt_mails_free(dt_mail *first)
{
    for (dt_mail *next; first != NULL; first = next) {
        next = first->next;
        free(first);
    }
}

static void
append(dt_mail_list *list, dt_mail *mail)
{
    mail->next = NULL;
    *list->end = mail;
    list->end = &mail->next;
}

static dt_mail *
take_out(dt_mail_list *list, dt_mail **link)
{
    dt_mail *mail = *link;
    *link = mail->next;
    if (mail->next == NULL)
        list->end = link;
    return mail;
}

static void
drop(dt_mail_list *list, const dt_mail *mail)
{
    for (dt_mail **link = &list->first; *link != NULL; link = &(*link)->next)
        if (*link == mail) {
            take_out(list, link);
            return;
        }
}

/* Where the list leads to the first with this tag, or to its end. */
static dt_mail **
find(dt_mail_list *list, int tag)
{
    dt_mail **link = &list->first;
    while (*link != NULL && (*link)->tag != tag)
        link = &(*link)->next;
    return link;
}

/* Not yet in a list. */
static dt_status
make(dt_mail **out, dt_mailbox *box, size_t bytes, int tag, size_t room, dt_error *err)
{
    dt_mail *mail = dt_mail_new(box->spare, room);
    if (mail == NULL)
        return dt_fail(err, DT_MEMORY, "no memory for a message of %zu bytes", bytes);
    mail->tag = tag;
    mail->bytes = bytes;
    mail->from = mail->to = NULL;
    mail->finished = false;
    *out = mail;
    return DT_OK;
}

/* --- sending --- */

/* Puts a message into the next slot. False: it is still full. */
static bool
put(dt_mailbox *box, const void *data, size_t bytes, int tag)
{
    if (box->sent - box->left == box->room) {
        box->left = atomic_load_explicit(&box->out->taken, memory_order_acquire);
        if (box->sent - box->left == box->room)
            return false;
    }
    dt_slot *slot = &box->out->slots[box->sent++ & (box->room - 1)];
    slot->tag = tag;
    slot->bytes = (int32_t)bytes;
    if (bytes > 0)
        memcpy(slot->data, data, bytes);
    atomic_store_explicit(&slot->number, box->sent, memory_order_release);
    return true;
}

static void
put_waiting(dt_mailbox *box)
{
    for (dt_mail *mail; (mail = box->waiting.first) != NULL;) {
        if (!put(box, mail->from, mail->bytes, mail->tag))
            return;
        take_out(&box->waiting, &box->waiting.first)->finished = true;
    }
}

dt_status
dt_mailbox_send(dt_mail **out, dt_mailbox *box, const void *from, size_t bytes, int tag,
                dt_error *err)
{
    *out = NULL;
    if (box->waiting.first == NULL && put(box, from, bytes, tag))
        return DT_OK;
    DT_TRY(make(out, box, bytes, tag, 0, err));
    (*out)->from = from;
    append(&box->waiting, *out);
    return DT_OK;
}

/* --- receiving --- */

static void
fill(dt_mail *receive, const void *data, size_t bytes)
{
    receive->got = bytes;
    receive->finished = true;
    if (bytes <= receive->bytes && bytes > 0)
        memcpy(receive->to, data, bytes);
}

dt_status
dt_mailbox_collect(dt_mailbox *box, dt_error *err)
{
    for (;;) {
        const dt_slot *slot = &box->in->slots[box->received & box->mask];
        if (atomic_load_explicit(&slot->number, memory_order_acquire) !=
            box->received + 1)
            break;
        dt_mail **link = find(&box->posted, slot->tag);
        size_t bytes = (size_t)slot->bytes;
        if (*link != NULL) {
            fill(take_out(&box->posted, link), slot->data, bytes);
        } else {
            dt_mail *mail = NULL;
            DT_TRY(make(&mail, box, bytes, slot->tag, bytes, err));
            memcpy(mail->data, slot->data, bytes);
            append(&box->arrived, mail);
        }
        box->received++;
        atomic_store_explicit(&box->in->taken, box->received, memory_order_release);
    }
    if (box->waiting.first != NULL)
        put_waiting(box);
    return DT_OK;
}

dt_status
dt_mailbox_receive(dt_mail **out, dt_mailbox *box, void *to, size_t bytes, int tag,
                   dt_error *err)
{
    DT_TRY(make(out, box, bytes, tag, 0, err));
    (*out)->to = to;
    dt_mail **link = find(&box->arrived, tag);
    if (*link == NULL) {
        append(&box->posted, *out);
        return DT_OK;
    }
    dt_mail *message = take_out(&box->arrived, link);
    fill(*out, message->data, message->bytes);
    give(box, message);
    return DT_OK;
}

bool
dt_mailbox_has(dt_mailbox *box, int tag)
{
    return *find(&box->arrived, tag) != NULL;
}

dt_mail *
dt_mailbox_take(dt_mailbox *box)
{
    if (box->arrived.first == NULL)
        return NULL;
    dt_mail *mail = take_out(&box->arrived, &box->arrived.first);
    mail->finished = true;
    return mail;
}

void
dt_mail_give(dt_mailbox *box, dt_mail *mail)
{
    if (!mail->finished)
        drop(mail->to != NULL ? &box->posted : &box->waiting, mail);
    give(box, mail);
}

/* --- begin and end --- */

unsigned
dt_ring_slots(int ranks)
{
    unsigned slots = SLOTS_MOST;
    while (slots > SLOTS_LEAST && slots * (unsigned)ranks > SLOTS_OF_RANK)
        slots /= 2;
    return slots;
}

size_t
dt_ring_bytes(unsigned slots)
{
    return sizeof(dt_ring) + slots * sizeof(dt_slot);
}

void
dt_mailbox_begin(dt_mailbox *box, dt_ring *out, unsigned out_slots, dt_ring *in,
                 unsigned in_slots, dt_mail **spare)
{
    *box = (dt_mailbox){
        .out = out, .in = in, .room = out_slots, .mask = in_slots - 1, .spare = spare};
    box->waiting.end = &box->waiting.first;
    box->posted.end = &box->posted.first;
    box->arrived.end = &box->arrived.first;
}

void
dt_mailbox_end(dt_mailbox *box)
{
    dt_mails_free(box->waiting.first);
    dt_mails_free(box->posted.first);
    dt_mails_free(box->arrived.first);
}
