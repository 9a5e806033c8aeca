/* A whole layer of the decoder, in a step of few translations: each of its parts is over so soon that
   starting it from Python would take longer. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linear.h"
#include "lookup.h"
#include "vectors.h"

typedef struct {
    const float *weight, *bias;
} Norm;

/* `LayerCall` in Python. B sentences, W translations of each, h heads of n numbers, d = h · n. */
typedef struct {
    int64_t batch, width, heads, size, source; /* B, W, h, n, S */
    int64_t room, used;                        /* keys that the past can hold, and holds */
    int64_t clip;                              /* of relative positions, if there are tables */
    int64_t threads, threads_back, threads_across; /* of products, and of either attention */
    Norm norm, cross_norm, last_norm;
    Linear input, output, query, cross_output, expand, contract;
    const float *key_table, *value_table; /* (2 · clip + 1, n), or null */
    float *past;                          /* (2, B, h, room, n), keys and values; W more are added */
    const float *memory;                  /* (2, B, h, S, n) */
    const float *ancestry;                /* (B, W, used + W), below 0 where hidden */
    const float *padding;                 /* (B, S), the same */
    const float *x;                       /* (B, W, d) */
    float *y;                             /* (B, W, d) */
} Layer;

static void normalise(const Norm *a, int64_t rows, int64_t d, const float *x, float *y) {
    for (int64_t row = 0; row < rows; row++, x += d, y += d) {
        floats sum = {}, squares = {};
        for (int64_t i = 0; i < d; i += LANES) sum += load(x + i);
        const float mean = total(sum)[0] / d;
        for (int64_t i = 0; i < d; i += LANES) {
            const floats gap = load(x + i) - mean;
            squares += gap * gap;
        }
        const float scale = 1 / sqrtf(total(squares)[0] / d + 1e-5f);
        for (int64_t i = 0; i < d; i += LANES)
            store(y + i, (load(x + i) - mean) * scale * load(a->weight + i) + load(a->bias + i));
    }
}

/* Put the step's keys and values, which stand behind its queries, behind those of the steps before. */
static void remember(const Layer *a, const float *projected) {
    const int64_t n = a->size, d = a->heads * n, all_keys = a->batch * a->heads * a->room * n;
    for (int64_t row = 0; row < a->batch * a->width; row++)
        for (int64_t head = 0; head < a->heads; head++) {
            const int64_t of_head = (row / a->width * a->heads + head) * a->room;
            float *to = a->past + (of_head + a->used + row % a->width) * n;
            const float *from = projected + row * 3 * d + d + head * n;
            memcpy(to, from, sizeof(float) * n);
            memcpy(to + all_keys, from + d, sizeof(float) * n);
        }
}

static int look_back(const Layer *a, const float *projected, float *mixed) {
    const int64_t n = a->size, d = a->heads * n, keys = a->used + a->width;
    const LookUp call = {
        .units = 1, .batch = a->batch, .heads = a->heads, .queries = a->width, .keys = keys,
        .size = n, .threads = a->threads_back,
        .q_batch = a->width * 3 * d, .q_head = n, .q_row = 3 * d,
        .k_batch = a->heads * a->room * n, .k_head = a->room * n,
        .hidden_batch = a->width * keys, .hidden_row = keys,
        .tables = a->key_table != 0, .clip = a->clip, .step = a->width,
        .q = projected, .k = a->past, .v = a->past + a->batch * a->heads * a->room * n,
        .hidden = a->ancestry, .key_table = a->key_table, .value_table = a->value_table,
        .mixed = mixed,
    };
    return mute_look_up(&call);
}

static int look_across(const Layer *a, const float *queries, float *mixed) {
    const int64_t n = a->size, d = a->heads * n;
    const LookUp call = {
        .units = 1, .batch = a->batch, .heads = a->heads, .queries = a->width, .keys = a->source,
        .size = n, .threads = a->threads_across,
        .q_batch = a->width * d, .q_head = n, .q_row = d,
        .k_batch = a->heads * a->source * n, .k_head = a->source * n,
        .hidden_batch = a->source,
        .q = queries, .k = a->memory, .v = a->memory + a->batch * a->heads * a->source * n,
        .hidden = a->padding,
        .mixed = mixed,
    };
    return mute_look_up(&call);
}

int64_t mute_layer_size(void) { return sizeof(Layer); }

/* What the products of a step have in common. */
typedef struct {
    int64_t rows, threads;
    uint8_t *bytes;
    float *scales;
} Desk;

static void multiply(const Desk *desk, const Linear *a, Manner manner, const float *x, float *y) {
    mute_product(a, manner, desk->rows, x, y, desk->threads, desk->bytes, desk->scales);
}

/* Returns whether there was memory for it. */
int mute_layer(const Layer *a) {
    const int64_t d = a->heads * a->size, rows = a->batch * a->width, f = a->expand.outputs;
    const int64_t widest = f > 3 * d ? f : 3 * d;
    float *normal = malloc(rows * (sizeof(float) * (2 * d + widest + 1) + widest));
    if (!normal) return 0;
    float *mixed = normal + rows * d, *wide = mixed + rows * d, *scales = wide + rows * widest;
    const Desk desk = {rows, a->threads, (uint8_t *)(scales + rows), scales};

    memcpy(a->y, a->x, sizeof(float) * rows * d);
    normalise(&a->norm, rows, d, a->y, normal);
    multiply(&desk, &a->input, PLAIN, normal, wide);
    remember(a, wide);
    int done = look_back(a, wide, mixed);
    multiply(&desk, &a->output, ADDED, mixed, a->y);

    normalise(&a->cross_norm, rows, d, a->y, normal);
    multiply(&desk, &a->query, PLAIN, normal, wide);
    done = done && look_across(a, wide, mixed);
    multiply(&desk, &a->cross_output, ADDED, mixed, a->y);

    normalise(&a->last_norm, rows, d, a->y, normal);
    multiply(&desk, &a->expand, RELU, normal, wide);
    multiply(&desk, &a->contract, ADDED, wide, a->y);
    free(normal);
    return done;
}
