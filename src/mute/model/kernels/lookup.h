/* Attention of a step of decoding: what `lookup.c` is told. */

#ifndef MUTE_LOOKUP_H
#define MUTE_LOOKUP_H

#include <stdint.h>

/* `LookUpCall` in Python. */
typedef struct {
    int64_t units, batch, heads, queries, keys, size, threads;
    int64_t q_unit, q_batch, q_head, q_row; /* strides */
    int64_t k_unit, k_batch, k_head;        /* of keys and values; their rows have n numbers */
    int64_t hidden_batch, hidden_row;       /* 0 where all queries see the same */
    int64_t tables, clip, step;             /* how many keys a step wrote, if tables > 0 */
    const float *q, *k, *v;
    const float *hidden;                    /* below 0 where a query may not look */
    const float *key_table, *value_table;   /* (tables, 2 · clip + 1, n) */
    float *mixed;                           /* (units, batch, queries, heads · n) */
} LookUp;

/* Returns whether there was memory for it. */
int mute_look_up(const LookUp *a);

#endif
