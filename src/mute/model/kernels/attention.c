/* Attention, forward and backward, for float32 and sentences.

       scores   s_ij = q_i · (k_j + a_{j-i}) / √n        weights  w_i = softmax(s_i)
       output   o_i  = Σ_j w_ij (v_j + b_{j-i})

   where a and b are vectors of relative positions, clipped (Shaw et al. 2018), or nothing.
   A product of matrices as small as a head of a sentence is over before a library's call of it has
   begun. So one thread takes a whole sentence, head after head, and all it touches stays in the
   cache that is nearest to it.

   L queries, S keys, n numbers per head, d = heads · n; T = L + S - 1 distances, of which number t
   is j - i = t - (L - 1). */

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vectors.h"

#define ROWS 4 /* sums that grow side by side, so that no addition waits for the last one */
#define ABREAST 2 /* registers of a row that share a weight, where a head has a multiple of so many */

/* `AttentionCall` in Python. Backward is given all of it, forward what stands before to_mixed. */
typedef struct {
    int64_t units, batch, heads, queries, keys, size, tables, clip, threads;
    int64_t q_unit, q_row, k_unit, k_row;   /* from one unit, one position to the next */
    int64_t mask_batch, mask_row;           /* strides, 0 where all sentences or queries share */
    const uint8_t *mask;                    /* 1 where a query may look */
    const float *q, *k, *v;                 /* (units, batch, L or S, d), with those strides */
    const float *key_table, *value_table;   /* (tables, 2 · clip + 1, n), if tables > 0 */
    float *weights;                         /* (units, batch, heads, L, S rounded up) */
    float *mixed;                           /* (units, batch, L, d) */
    const float *to_mixed;                  /* the gradient of mixed */
    float *to_q, *to_k, *to_v;              /* laid out as q, k and v */
    float *to_tables;                       /* (threads, 2, tables, 2 · clip + 1, n), zeros */
} Attention;

/* What a thread works with. */
typedef struct {
    int64_t padded;                             /* S rounded up to whole LANES */
    int64_t wide;                               /* T, and what is read with the last LANES or ROWS */
    int64_t table;                              /* which one is laid out */
    float *key_vectors, *value_vectors;         /* (wide, n): the table's, one for every distance */
    float *key_columns, *value_columns;         /* (n, wide): the same */
    float *to_key_vectors, *to_value_vectors;   /* (wide, n) */
    float *skewed;                              /* (L, wide): weights by distance */
    float *columns;                             /* (n, padded): a head's keys or values */
    float *queries;                             /* (L, n): a head's queries, scaled */
    float *slopes;                              /* (L, padded): the gradient of weights and scores */
    float *open;                                /* (L, padded), or one row: 1 or 0, the mask */
    float *closed;                              /* (padded): the score where nobody may look */
    float *memory;
} Desk;

/* Rows i … i + rows of x_i · (column_j + distance column_{j-i}), for `abreast` registers of j. */
INLINE void some_products(int rows, int64_t i, int abreast, int64_t j, const Attention *a,
                          const Desk *desk, const float *x, int64_t x_row, const float *distances,
                          float *to) {
    const float *near = distances ? distances + a->queries - 1 - i + j : 0;
    floats sums[ROWS][ABREAST] = {};
    for (int64_t c = 0; c < a->size; c++)
        for (int w = 0; w < abreast; w++) {
            const floats column = load(desk->columns + c * desk->padded + j + w * LANES);
            for (int r = 0; r < rows; r++) {
                const float *at = near + c * desk->wide - r + w * LANES;
                sums[r][w] += x[(i + r) * x_row + c] * (near ? column + load(at) : column);
            }
        }
    for (int r = 0; r < rows; r++)
        for (int w = 0; w < abreast; w++)
            store(to + (i + r) * desk->padded + j + w * LANES, sums[r][w]);
}

/* The same for all j: (L, padded). */
INLINE void products(int rows, int64_t i, const Attention *a, const Desk *desk, const float *x,
                     int64_t x_row, const float *distances, float *to) {
    int64_t j = 0;
    for (; j + ABREAST * LANES <= desk->padded; j += ABREAST * LANES)
        some_products(rows, i, ABREAST, j, a, desk, x, x_row, distances, to);
    for (; j < desk->padded; j += LANES)
        some_products(rows, i, 1, j, a, desk, x, x_row, distances, to);
}

/* Rows i … i + rows of factor · Σ_j weight_ij (vector_j + distance vector_{j-i}): (L, n). */
INLINE void mixtures(int rows, int64_t i, int abreast, const Attention *a, const Desk *desk,
                     float factor, const float *weights, const float *vectors,
                     const float *distances, float *to, int64_t to_row) {
    for (int64_t c = 0; c < a->size; c += abreast * LANES) {
        const float *near = distances ? distances + (a->queries - 1 - i) * a->size + c : 0;
        floats sums[ROWS][ABREAST] = {};
        for (int64_t j = 0; j < a->keys; j++)
            for (int w = 0; w < abreast; w++) {
                const floats vector = load(vectors + j * a->k_row + c + w * LANES);
                for (int r = 0; r < rows; r++) {
                    const float *at = near + (j - r) * a->size + w * LANES;
                    const floats seen = near ? vector + load(at) : vector;
                    sums[r][w] += weights[(i + r) * desk->padded + j] * seen;
                }
            }
        for (int r = 0; r < rows; r++)
            for (int w = 0; w < abreast; w++)
                store(to + (i + r) * to_row + c + w * LANES, factor * sums[r][w]);
    }
}

/* Rows j … j + rows of Σ_i weight_ij x_i: (S, n). */
INLINE void returns(int rows, int64_t j, int abreast, const Attention *a, const Desk *desk,
                    const float *weights, const float *x, int64_t x_row, float *to) {
    for (int64_t c = 0; c < a->size; c += abreast * LANES) {
        floats sums[ROWS][ABREAST] = {};
        for (int64_t i = 0; i < a->queries; i++)
            for (int w = 0; w < abreast; w++) {
                const floats vector = load(x + i * x_row + c + w * LANES);
                for (int r = 0; r < rows; r++)
                    sums[r][w] += weights[i * desk->padded + j + r] * vector;
            }
        for (int r = 0; r < rows; r++)
            for (int w = 0; w < abreast; w++)
                store(to + (j + r) * a->k_row + c + w * LANES, sums[r][w]);
    }
}

/* Weights moved so that a column is a distance, as rows are in the table: (L, wide). What belongs to
   no pair is 0, and stays so. */
INLINE void skew(const Attention *a, const Desk *desk, const float *weights) {
    for (int64_t i = 0; i < a->queries; i++) {
        float *row = desk->skewed + i * desk->wide + a->queries - 1 - i;
        for (int64_t j = 0; j < desk->padded; j += LANES)
            store(row + j, load(weights + i * desk->padded + j));
    }
}

/* Add Σ_i weight_{i,j} x_i over the pairs of every distance: (T, n). */
INLINE void add_by_distance(int abreast, const Attention *a, const Desk *desk, const float *weights,
                            const float *x, int64_t x_row, float *to) {
    const int64_t L = a->queries, S = a->keys;
    skew(a, desk, weights);
    /* The last rows may lie behind T: there are 0 for them, and room, and nobody reads them. */
    for (int64_t t = 0; t < L + S - 1; t += ROWS) {
        const int64_t begin = t + ROWS < L ? L - t - ROWS : 0, end = t < S ? L : L + S - 1 - t;
        for (int64_t c = 0; c < a->size; c += abreast * LANES) {
            float *at = to + t * a->size + c;
            floats sums[ROWS][ABREAST];
            for (int r = 0; r < ROWS; r++)
                for (int w = 0; w < abreast; w++) sums[r][w] = load(at + r * a->size + w * LANES);
            for (int64_t i = begin; i < end; i++)
                for (int w = 0; w < abreast; w++) {
                    const floats vector = load(x + i * x_row + c + w * LANES);
                    for (int r = 0; r < ROWS; r++)
                        sums[r][w] += desk->skewed[i * desk->wide + t + r] * vector;
                }
            for (int r = 0; r < ROWS; r++)
                for (int w = 0; w < abreast; w++) store(at + r * a->size + w * LANES, sums[r][w]);
        }
    }
}

/* All of `count` rows. The last few are computed once more rather than one by one. */
#define BY_ROWS(count, rows_of, ...)                                                \
    if ((count) < ROWS)                                                             \
        for (int64_t row = 0; row < (count); row++) rows_of(1, row, __VA_ARGS__);   \
    else                                                                            \
        for (int64_t row = 0; row < (count); row += ROWS)                           \
            rows_of(ROWS, row + ROWS > (count) ? (count) - ROWS : row, __VA_ARGS__)

INLINE void lay_out_columns(const Attention *a, const Desk *desk, const float *vectors) {
    for (int64_t c = 0; c < a->size; c++)
        for (int64_t j = 0; j < a->keys; j++)
            desk->columns[c * desk->padded + j] = vectors[j * a->k_row + c];
}

INLINE void lay_out_queries(const Attention *a, const Desk *desk, const float *q) {
    const floats scale = all(1 / sqrtf(a->size));
    for (int64_t i = 0; i < a->queries; i++)
        for (int64_t c = 0; c < a->size; c += LANES)
            store(desk->queries + i * a->size + c, scale * load(q + i * a->q_row + c));
}

INLINE void lay_out_mask(const Attention *a, const Desk *desk, int64_t sentence) {
    const uint8_t *mask = a->mask + sentence * a->mask_batch;
    for (int64_t i = 0; i < (a->mask_row ? a->queries : 1); i++)
        for (int64_t j = 0; j < a->keys; j++)
            desk->open[i * desk->padded + j] = mask[i * a->mask_row + j] ? 1 : 0;
}

/* The row of a table that holds for a distance. */
INLINE int64_t clipped(const Attention *a, int64_t t) {
    const int64_t distance = t - (a->queries - 1);
    return (distance < -a->clip ? -a->clip : distance > a->clip ? a->clip : distance) + a->clip;
}

INLINE void lay_out_table(const Attention *a, const Desk *desk, const float *table, float *vectors,
                          float *columns) {
    for (int64_t t = 0; t < a->queries + a->keys - 1; t++)
        for (int64_t c = 0; c < a->size; c++)
            columns[c * desk->wide + t] = vectors[t * a->size + c] =
                table[clipped(a, t) * a->size + c];
}

INLINE void lay_out_tables(const Attention *a, Desk *desk, int64_t unit) {
    const int64_t table = unit % a->tables, start = table * (2 * a->clip + 1) * a->size;
    if (desk->table == table) return;
    lay_out_table(a, desk, a->key_table + start, desk->key_vectors, desk->key_columns);
    lay_out_table(a, desk, a->value_table + start, desk->value_vectors, desk->value_columns);
    desk->table = table;
}

INLINE void softmax(const Attention *a, const Desk *desk, float *scores) {
    for (int64_t i = 0; i < a->queries; i++) {
        float *row = scores + i * desk->padded;
        const float *open = desk->open + (a->mask_row ? i * desk->padded : 0);
        floats top = all(-INFINITY), sum = {};
        for (int64_t j = 0; j < desk->padded; j += LANES) {
            const floats seen = choose(load(open + j) > 0, load(row + j), load(desk->closed + j));
            store(row + j, seen);
            top = higher(top, seen);
        }
        top = highest(top);
        for (int64_t j = 0; j < desk->padded; j += LANES) {
            const floats raised = exponential(load(row + j) - top);
            store(row + j, raised);
            sum += raised;
        }
        const floats share = 1 / total(sum);
        for (int64_t j = 0; j < desk->padded; j += LANES) store(row + j, load(row + j) * share);
    }
}

/* The gradient of the scores in place of that of the weights. A closed place has none, also where
   all are closed and have weights alike. */
INLINE void softmax_back(const Attention *a, const Desk *desk, const float *weights) {
    for (int64_t i = 0; i < a->queries; i++) {
        const float *row = weights + i * desk->padded;
        const float *open = desk->open + (a->mask_row ? i * desk->padded : 0);
        float *slopes = desk->slopes + i * desk->padded;
        floats mean = {};
        for (int64_t j = 0; j < desk->padded; j += LANES) mean += load(row + j) * load(slopes + j);
        mean = total(mean);
        for (int64_t j = 0; j < desk->padded; j += LANES)
            store(slopes + j, load(open + j) * load(row + j) * (load(slopes + j) - mean));
    }
}

/* Where the queries of a unit's sentence begin, and its keys and values. */
INLINE int64_t first_query(const Attention *a, int64_t item) {
    return item / a->batch * a->q_unit + item % a->batch * a->queries * a->q_row;
}

INLINE int64_t first_key(const Attention *a, int64_t item) {
    return item / a->batch * a->k_unit + item % a->batch * a->keys * a->k_row;
}

/* `relative` and `abreast` are constants where this is called, so each case is compiled by itself. */
INLINE void forward_heads(int relative, int abreast, const Attention *a, Desk *desk, int64_t item) {
    const int64_t n = a->size, d = a->heads * n, L = a->queries;
    if (relative) lay_out_tables(a, desk, item / a->batch);
    lay_out_mask(a, desk, item % a->batch);
    for (int64_t head = 0; head < a->heads; head++) {
        float *weights = a->weights + (item * a->heads + head) * L * desk->padded;
        const int64_t of_q = first_query(a, item) + head * n, of_k = first_key(a, item) + head * n;
        lay_out_queries(a, desk, a->q + of_q);
        lay_out_columns(a, desk, a->k + of_k);
        BY_ROWS(L, products, a, desk, desk->queries, n, relative ? desk->key_columns : 0, weights);
        softmax(a, desk, weights);
        BY_ROWS(L, mixtures, abreast, a, desk, 1, weights, a->v + of_k,
                relative ? desk->value_vectors : 0, a->mixed + item * L * d + head * n, d);
    }
}

INLINE void add_to_table(const Attention *a, float *vectors, float *to) {
    for (int64_t t = 0; t < a->queries + a->keys - 1; t++)
        for (int64_t c = 0; c < a->size; c++)
            to[clipped(a, t) * a->size + c] += vectors[t * a->size + c];
    memset(vectors, 0, sizeof(float) * (a->queries + a->keys - 1) * a->size);
}

INLINE void backward_heads(int relative, int abreast, const Attention *a, Desk *desk, int64_t item,
                           float *to_tables) {
    const int64_t n = a->size, d = a->heads * n, L = a->queries, S = a->keys;
    const float scale = 1 / sqrtf(n);
    if (relative) lay_out_tables(a, desk, item / a->batch);
    lay_out_mask(a, desk, item % a->batch);
    for (int64_t head = 0; head < a->heads; head++) {
        const float *weights = a->weights + (item * a->heads + head) * L * desk->padded;
        const float *to_mixed = a->to_mixed + item * L * d + head * n;
        const int64_t of_q = first_query(a, item) + head * n, of_k = first_key(a, item) + head * n;
        lay_out_queries(a, desk, a->q + of_q);
        lay_out_columns(a, desk, a->v + of_k);
        BY_ROWS(L, products, a, desk, to_mixed, d, relative ? desk->value_columns : 0,
                desk->slopes);
        softmax_back(a, desk, weights);
        BY_ROWS(L, mixtures, abreast, a, desk, scale, desk->slopes, a->k + of_k,
                relative ? desk->key_vectors : 0, a->to_q + of_q, a->q_row);
        BY_ROWS(S, returns, abreast, a, desk, desk->slopes, desk->queries, n, a->to_k + of_k);
        BY_ROWS(S, returns, abreast, a, desk, weights, to_mixed, d, a->to_v + of_k);
        if (relative) {
            add_by_distance(abreast, a, desk, desk->slopes, desk->queries, n, desk->to_key_vectors);
            add_by_distance(abreast, a, desk, weights, to_mixed, d, desk->to_value_vectors);
        }
    }
    if (relative) {
        const int64_t table = (2 * a->clip + 1) * n;
        add_to_table(a, desk->to_key_vectors, to_tables + desk->table * table);
        add_to_table(a, desk->to_value_vectors, to_tables + (a->tables + desk->table) * table);
    }
}

#define CASE_BY_CASE(heads, ...)                       \
    if (a->tables && a->size % (ABREAST * LANES) == 0) \
        heads(1, ABREAST, __VA_ARGS__);                \
    else if (a->tables)                                \
        heads(1, 1, __VA_ARGS__);                      \
    else if (a->size % (ABREAST * LANES) == 0)         \
        heads(0, ABREAST, __VA_ARGS__);                \
    else                                               \
        heads(0, 1, __VA_ARGS__)

static void forward_sentence(const Attention *a, Desk *desk, int64_t item) {
    CASE_BY_CASE(forward_heads, a, desk, item);
}

static void backward_sentence(const Attention *a, Desk *desk, int64_t item, float *to_tables) {
    CASE_BY_CASE(backward_heads, a, desk, item, to_tables);
}

static int make_desk(const Attention *a, Desk *desk) {
    const int64_t L = a->queries, n = a->size;
    desk->padded = rounded_up(a->keys);
    desk->wide = (L - 1 + desk->padded + ROWS - 1) / ROWS * ROWS;
    desk->table = -1;
    const int64_t distances = desk->wide * n, rows = L * desk->padded;
    const struct {
        float **part;
        int64_t size;
    } parts[] = {
        {&desk->key_vectors, distances},    {&desk->value_vectors, distances},
        {&desk->to_key_vectors, distances}, {&desk->to_value_vectors, distances},
        {&desk->key_columns, distances},    {&desk->value_columns, distances},
        {&desk->skewed, L * desk->wide},    {&desk->columns, n * desk->padded},
        {&desk->queries, L * n},            {&desk->slopes, rows},
        {&desk->open, rows},                {&desk->closed, desk->padded},
    };
    int64_t size = 0;
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++)
        size += rounded_up(parts[part].size);
    desk->memory = calloc(size + LANES, sizeof(float)); /* columns end in zeros */
    if (!desk->memory) return 0;
    /* On whole registers: one that lies across two lines of the cache is read twice. */
    float *next = desk->memory + -(uintptr_t)desk->memory / sizeof(float) % LANES;
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
        *parts[part].part = next;
        next += rounded_up(parts[part].size);
    }
    /* Not -∞ but where there is no key: a row without an open place would become NaN. */
    for (int64_t j = 0; j < desk->padded; j++)
        desk->closed[j] = j < a->keys ? -FLT_MAX : -INFINITY;
    return 1;
}

/* Every thread takes a run of the sentences, always the same one: so sums do not depend on chance.
   Returns whether there was memory for it. */
static int for_all_sentences(const Attention *a, int backward) {
    const int64_t items = a->units * a->batch;
    int done = 1;
#pragma omp parallel for num_threads(a->threads) schedule(static, 1) reduction(&& : done)
    for (int64_t thread = 0; thread < a->threads; thread++) {
        Desk desk = {0};
        const int made = make_desk(a, &desk);
        const int64_t end = made ? items * (thread + 1) / a->threads : 0;
        done = done && made;
        for (int64_t item = items * thread / a->threads; item < end; item++)
            if (backward)
                backward_sentence(a, &desk, item, a->to_tables + thread * 2 * a->tables *
                                                      (2 * a->clip + 1) * a->size);
            else
                forward_sentence(a, &desk, item);
        free(desk.memory);
    }
    return done;
}

int64_t mute_attention_size(void) { return sizeof(Attention); }
int64_t mute_lanes(void) { return LANES; }
const char *mute_sources(void) { return SOURCES; }
int mute_attention_forward(const Attention *a) { return for_all_sentences(a, 0); }
int mute_attention_backward(const Attention *a) { return for_all_sentences(a, 1); }
