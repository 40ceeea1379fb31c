#include "comm/talk/sentence.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { RUNS_SHOWN = 12, HOSTS_SHOWN = 4 };

void
dt_sentence_add(dt_sentence *sentence, const char *format, ...)
{
    size_t room = sentence->size - sentence->used;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(sentence->out + sentence->used, room, format, args);
    va_end(args);
    if (length > 0)
        sentence->used += (size_t)length < room ? (size_t)length : room - 1;
}

/* The end of the run of consecutive ranks that starts at place `first`. */
static int
run_end(const int *ranks, const unsigned char *labels, int count, int first)
{
    int end = first + 1;
    while (end < count && labels[end] == labels[first] &&
           ranks[end] == ranks[end - 1] + 1)
        end++;
    return end;
}

void
dt_sentence_ranks(dt_sentence *sentence, const int *ranks, const unsigned char *labels,
                  int count, unsigned char wanted)
{
    int total = 0;
    for (int i = 0; i < count; i++)
        total += labels[i] == wanted;
    dt_sentence_add(sentence, total == 1 ? "rank " : "ranks ");

    const char *comma = "";
    for (int i = 0, runs = 0, end; i < count; i = end) {
        end = i + 1;
        if (labels[i] != wanted)
            continue;
        if (runs++ == RUNS_SHOWN) {
            dt_sentence_add(sentence, " and %d more", total);
            return;
        }
        end = run_end(ranks, labels, count, i);
        dt_sentence_add(sentence, "%s%d", comma, ranks[i]);
        if (end - i > 1)
            dt_sentence_add(sentence, "%s%d", end - i > 2 ? "-" : ", ", ranks[end - 1]);
        total -= end - i;
        comma = ", ";
    }
}

void
dt_sentence_ranks_on(dt_sentence *sentence, const dt_transport *transport,
                     const int *ranks, const unsigned char *labels, int count,
                     unsigned char wanted)
{
    const char *shown[HOSTS_SHOWN + 1]; /* and one that is not */
    int found = 0;
    dt_sentence_ranks(sentence, ranks, labels, count, wanted);
    if (transport->hosts == NULL)
        return;
    for (int i = 0; i < count && found <= HOSTS_SHOWN; i++) {
        const char *host = transport->hosts[ranks[i]];
        int k = 0;
        while (k < found && strcmp(shown[k], host) != 0)
            k++;
        if (labels[i] == wanted && k == found)
            shown[found++] = host;
    }
    for (int k = 0; k < found && k < HOSTS_SHOWN; k++)
        dt_sentence_add(sentence, "%s%s",
                        k > 0       ? ", "
                        : found > 1 ? " (on hosts "
                                    : " (on host ",
                        shown[k]);
    if (found > 0)
        dt_sentence_add(sentence, found > HOSTS_SHOWN ? " and others)" : ")");
}
