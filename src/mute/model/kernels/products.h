/* Linear layers of few rows: y = W x + b.

   With few rows all the time goes into reading W, once. So W is laid out in the order in which it is
   read: panels of LANES outputs, in each of them input after input. A weight is a float, or 8 bits
   and a scale for each output; those come as four inputs in every 32 bits, the first one lowest. */

#ifndef MUTE_PRODUCTS_H
#define MUTE_PRODUCTS_H

#include "vectors.h"

#define TALL 4                      /* rows, and */
#define BROAD (LANES == 16 ? 4 : 2) /* panels that are taken at once: as many as there are registers for */
#define FOUR 4                      /* inputs */
#define NEAR 128                    /* inputs whose weights stay in the nearest cache */

/* `LinearLayer` in Python. */
typedef struct {
    int64_t inputs, outputs; /* multiples of LANES */
    const void *weights;     /* (outputs / LANES, inputs, LANES) floats, or in 8 bits
                                (outputs / LANES, inputs / FOUR, LANES, FOUR) */
    const float *scales;     /* (outputs), null for floats */
    const float *bias;       /* (outputs) */
} Linear;

typedef enum { PLAIN, RELU, ADDED } Manner; /* how the result is written: what it adds to is y */

INLINE void multiply(int narrow, int tall, int broad, const Linear *a, int64_t panel, int64_t i,
                     const float *x, floats sums[TALL][BROAD]) {
    for (int p = 0; p < broad; p++) {
        const int64_t from = ((panel + p) * a->inputs + i) * LANES;
        const ints four = narrow ? *(const ints *)((const int8_t *)a->weights + from) : (ints){};
#pragma GCC unroll 4
        for (int j = 0; j < FOUR; j++) {
            const floats weights = narrow ? __builtin_convertvector(four << (24 - 8 * j) >> 24, floats)
                                          : load((const float *)a->weights + from + j * LANES);
            for (int r = 0; r < tall; r++) sums[r][p] += weights * x[r * a->inputs + i + j];
        }
    }
}

/* `tall` rows of `broad` panels, of some of the inputs. The first of these bring the bias, and what the
   result is added to; the last are followed by what comes behind the sum. All but the places are
   constants where this is called. */
INLINE void tile(int narrow, int tall, int broad, Manner manner, const Linear *a, int64_t panel,
                 int64_t begin, int64_t end, const float *x, float *y) {
    floats sums[TALL][BROAD] = {};
    for (int64_t i = begin; i < end; i += FOUR) multiply(narrow, tall, broad, a, panel, i, x, sums);
    for (int p = 0; p < broad; p++) {
        const int64_t first = (panel + p) * LANES;
        const floats bias = load(a->bias + first), scale = narrow ? load(a->scales + first) : all(1);
        for (int r = 0; r < tall; r++) {
            float *to = y + r * a->outputs + first;
            floats sum = sums[r][p] * scale;
            if (begin == 0) sum += bias;
            if (begin > 0 || manner == ADDED) sum += load(to);
            if (end == a->inputs && manner == RELU) sum = choose(sum < 0, all(0), sum);
            store(to, sum);
        }
    }
}

INLINE void column(int narrow, int broad, Manner manner, const Linear *a, int64_t panel,
                   int64_t begin, int64_t end, int64_t rows, const float *x, float *y) {
    for (; rows >= TALL; rows -= TALL, x += TALL * a->inputs, y += TALL * a->outputs)
        tile(narrow, TALL, broad, manner, a, panel, begin, end, x, y);
    if (rows == 3) tile(narrow, 3, broad, manner, a, panel, begin, end, x, y);
    if (rows == 2) tile(narrow, 2, broad, manner, a, panel, begin, end, x, y);
    if (rows == 1) tile(narrow, 1, broad, manner, a, panel, begin, end, x, y);
}

/* Weights that several tiles need are best read while they are near. */
INLINE void columns(int narrow, int broad, Manner manner, const Linear *a, int64_t panel, int64_t rows,
                    const float *x, float *y) {
    const int64_t n = a->inputs, step = rows > TALL && n > NEAR ? NEAR : n;
    for (int64_t begin = 0; begin < n; begin += step)
        column(narrow, broad, manner, a, panel, begin, begin + step < n ? begin + step : n, rows, x, y);
}

INLINE void product(Manner manner, const Linear *a, int64_t rows, const float *x, float *y,
                    int64_t threads) {
    const int64_t panels = a->outputs / LANES, groups = (panels + BROAD - 1) / BROAD;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t group = 0; group < groups; group++) {
        const int64_t first = group * BROAD, whole = first + BROAD <= panels;
        const int64_t step = whole ? BROAD : 1, end = whole ? first + BROAD : panels;
        for (int64_t panel = first; panel < end; panel += step)
            if (a->scales)
                whole ? columns(1, BROAD, manner, a, panel, rows, x, y)
                      : columns(1, 1, manner, a, panel, rows, x, y);
            else
                whole ? columns(0, BROAD, manner, a, panel, rows, x, y)
                      : columns(0, 1, manner, a, panel, rows, x, y);
    }
}

#endif
