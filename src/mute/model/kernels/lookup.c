/* Attention of the few queries that a step of decoding has, each to the keys that it may see.

   Translations of a sentence share their keys, and each of them sees only its own past: of T · W keys, T.
   The others are not read, which is most of what attention takes here. With relative positions, what
   was written in one step is equally far away; the last step is now. */

#include <math.h>
#include <stdlib.h>

#include "lookup.h"
#include "vectors.h"

#define WIDE 4 /* sums that grow side by side, so that no addition waits for the last one */

/* What a query sees, and how: `count` places in the order of the keys. */
typedef struct {
    int64_t count;
    int64_t *keys;    /* where they begin */
    int64_t *nearby;  /* where the vectors of their distances begin */
    float *weights;   /* and room for a whole register behind them */
} Sight;

INLINE void look_around(const LookUp *a, const float *hidden, Sight *sight) {
    const int64_t now = a->tables ? a->keys / a->step - 1 : 0;
    sight->count = 0;
    for (int64_t j = 0; j < a->keys; j++) {
        if (hidden[j] < 0) continue;
        const int64_t ago = a->tables ? now - j / a->step : 0;
        sight->keys[sight->count] = j * a->size;
        sight->nearby[sight->count++] = (a->clip - (ago < a->clip ? ago : a->clip)) * a->size;
    }
}

INLINE void weigh(int relative, const LookUp *a, const Sight *sight, const float *q, const float *k,
                  const float *table) {
    const float scale = 1 / sqrtf(a->size);
    floats top = all(-INFINITY), sum = {};
    for (int64_t i = 0; i < sight->count; i++) {
        const float *key = k + sight->keys[i], *near = table + sight->nearby[i];
        floats product = {};
        for (int64_t c = 0; c < a->size; c += LANES)
            product += load(q + c) * (relative ? load(key + c) + load(near + c) : load(key + c));
        sight->weights[i] = scale * total(product)[0];
    }
    const int64_t end = rounded_up(sight->count);
    for (int64_t i = sight->count; i < end; i++) sight->weights[i] = -INFINITY;
    for (int64_t i = 0; i < end; i += LANES) top = higher(top, load(sight->weights + i));
    top = highest(top);
    for (int64_t i = 0; i < end; i += LANES) {
        const floats raised = exponential(load(sight->weights + i) - top);
        store(sight->weights + i, raised);
        sum += raised;
    }
    const floats share = 1 / total(sum);
    for (int64_t i = 0; i < end; i += LANES)
        store(sight->weights + i, load(sight->weights + i) * share);
}

/* Numbers c … c + wide · LANES of Σ weight · value. */
INLINE void mix_wide(int relative, int wide, int64_t c, const Sight *sight, const float *v,
                     const float *table, float *to) {
    floats sums[WIDE] = {};
    for (int64_t i = 0; i < sight->count; i++) {
        const float *value = v + sight->keys[i] + c, *near = table + sight->nearby[i] + c;
        for (int r = 0; r < wide; r++) {
            const floats of_key = load(value + r * LANES);
            sums[r] += sight->weights[i] * (relative ? of_key + load(near + r * LANES) : of_key);
        }
    }
    for (int r = 0; r < wide; r++) store(to + c + r * LANES, sums[r]);
}

INLINE void mix(int relative, const LookUp *a, const Sight *sight, const float *v,
                const float *table, float *to) {
    int64_t c = 0;
    for (; c + WIDE * LANES <= a->size; c += WIDE * LANES)
        mix_wide(relative, WIDE, c, sight, v, table, to);
    for (; c < a->size; c += LANES) mix_wide(relative, 1, c, sight, v, table, to);
}

/* All queries of a unit's sentence. `relative` is a constant where this is called. */
INLINE void look_up(int relative, const LookUp *a, int64_t item, Sight *sight) {
    const int64_t unit = item / a->batch, sentence = item % a->batch, n = a->size;
    const int64_t table = relative ? unit % a->tables * (2 * a->clip + 1) * n : 0;
    const float *hidden = a->hidden + sentence * a->hidden_batch;
    for (int64_t w = 0; w < a->queries; w++) {
        if (w == 0 || a->hidden_row) look_around(a, hidden + w * a->hidden_row, sight);
        for (int64_t head = 0; head < a->heads; head++) {
            const int64_t of_q = unit * a->q_unit + sentence * a->q_batch + head * a->q_head;
            const int64_t of_k = unit * a->k_unit + sentence * a->k_batch + head * a->k_head;
            weigh(relative, a, sight, a->q + of_q + w * a->q_row, a->k + of_k,
                  relative ? a->key_table + table : 0);
            mix(relative, a, sight, a->v + of_k, relative ? a->value_table + table : 0,
                a->mixed + ((item * a->queries + w) * a->heads + head) * n);
        }
    }
}

int64_t mute_look_up_size(void) { return sizeof(LookUp); }

int mute_look_up(const LookUp *a) {
    const int64_t items = a->units * a->batch;
    int done = 1;
#pragma omp parallel for num_threads(a->threads) schedule(static, 1) reduction(&& : done)
    for (int64_t thread = 0; thread < a->threads; thread++) {
        Sight sight = {0, malloc(sizeof(int64_t) * a->keys), malloc(sizeof(int64_t) * a->keys),
                       malloc(sizeof(float) * rounded_up(a->keys))};
        done = done && sight.keys && sight.nearby && sight.weights;
        const int64_t end = done ? items * (thread + 1) / a->threads : 0;
        for (int64_t item = items * thread / a->threads; item < end; item++)
            if (a->tables)
                look_up(1, a, item, &sight);
            else
                look_up(0, a, item, &sight);
        free(sight.keys);
        free(sight.nearby);
        free(sight.weights);
    }
    return done;
}
