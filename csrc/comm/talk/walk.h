/* walk.h: what a rank says of a value, where the ranks have different ones: which call
 * made it, and of what. The ranks walk back from call to call by this. */
#ifndef DT_WALK_H
#define DT_WALK_H

#include <stdint.h>

enum {
    DT_JOURNAL = 4096,    /* calls that a rank remembers */
    DT_OPERANDS_TOLD = 5, /* operands of each */
};

typedef struct dt_testimony {
    uint64_t number;                     /* of the agreement: walk.c's own */
    uint64_t lineage;                    /* of the value */
    uint64_t call;                       /* of the operator that made it */
    uint64_t operands[DT_OPERANDS_TOLD]; /* lineages, numbers, hashes of other things */
    uint32_t kinds; /* bit k: operand k has no lineage; the others say what it is */
    int32_t count;  /* of all operands */
    int32_t traced; /* this rank has a value that the others would have too ... */
    int32_t known;  /* ... and remembers the call that made it */
    char text[200]; /* that call, for people */
    char place[96]; /* the line of the program that this rank is at */
} dt_testimony;

#endif
