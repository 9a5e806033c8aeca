/* Products with inputs that are floats, and weights that are floats or have 8 bits. */

#ifndef MUTE_PRODUCTS_H
#define MUTE_PRODUCTS_H

#include "linear.h"
#include "vectors.h"

#define TALL 4                      /* rows, and */
#define BROAD (LANES == 16 ? 4 : 2) /* panels that are taken at once: as many as there are registers for */
#define NEAR 128                    /* inputs whose weights stay in the nearest cache */

/* Write sums of the inputs from `begin` to `end`. The first of these bring the bias, and what the result
   is added to; behind the last comes what follows the sum. */
INLINE void finish(Manner manner, const Linear *a, int64_t first, int64_t begin, int64_t end, floats sum,
                   float *to) {
    if (begin == 0) sum += load(a->bias + first);
    if (begin > 0 || manner == ADDED) sum += load(to);
    if (end == a->inputs && manner == RELU) sum = choose(sum < 0, all(0), sum);
    store(to, sum);
}

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

/* `tall` rows of `broad` panels; these and `narrow` are constants where this is called. */
INLINE void tile(int narrow, int tall, int broad, Manner manner, const Linear *a, int64_t panel,
                 int64_t begin, int64_t end, const float *x, float *y) {
    floats sums[TALL][BROAD] = {};
    for (int64_t i = begin; i < end; i += FOUR) multiply(narrow, tall, broad, a, panel, i, x, sums);
    for (int p = 0; p < broad; p++) {
        const int64_t first = (panel + p) * LANES;
        const floats scale = narrow ? load(a->scales + first) : all(1);
        for (int r = 0; r < tall; r++)
            finish(manner, a, first, begin, end, sums[r][p] * scale, y + r * a->outputs + first);
    }
}

INLINE void rows_of_tiles(int narrow, int broad, Manner manner, const Linear *a, int64_t panel,
                          int64_t begin, int64_t end, int64_t rows, const float *x, float *y) {
    for (; rows >= TALL; rows -= TALL, x += TALL * a->inputs, y += TALL * a->outputs)
        tile(narrow, TALL, broad, manner, a, panel, begin, end, x, y);
    if (rows == 3) tile(narrow, 3, broad, manner, a, panel, begin, end, x, y);
    if (rows == 2) tile(narrow, 2, broad, manner, a, panel, begin, end, x, y);
    if (rows == 1) tile(narrow, 1, broad, manner, a, panel, begin, end, x, y);
}

/* All rows of a panel, or of BROAD. Weights that several tiles need are best read while they are near. */
static void column(int whole, Manner manner, const Linear *a, int64_t panel, int64_t rows, const float *x,
                   float *y) {
    const int64_t n = a->inputs, step = rows > TALL && n > NEAR ? NEAR : n;
    for (int64_t begin = 0; begin < n; begin += step) {
        const int64_t end = begin + step < n ? begin + step : n;
        if (a->scales)
            whole ? rows_of_tiles(1, BROAD, manner, a, panel, begin, end, rows, x, y)
                  : rows_of_tiles(1, 1, manner, a, panel, begin, end, rows, x, y);
        else
            whole ? rows_of_tiles(0, BROAD, manner, a, panel, begin, end, rows, x, y)
                  : rows_of_tiles(0, 1, manner, a, panel, begin, end, rows, x, y);
    }
}

#endif
