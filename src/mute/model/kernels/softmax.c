/* Of every row of scores, the logarithm of the sum of their exponentials; or what cross-entropy
   makes of them. */

#include <math.h>

#include "vectors.h"

typedef struct {
    float top, sum; /* the highest, and the sum of all after it has been taken away: e^(x - top) */
} Raised;

/* Two passes over a row, to which `bias` is added where it is not null. The second writes the
   exponentials down, if `to` is not null: that may be the row itself. What is not finite stays so: a
   row with NaN or ∞ has NaN. */
INLINE Raised raise_row(const float *x, const float *bias, int64_t size, float *to) {
    const int64_t whole = size / LANES * LANES;
    floats tops = all(-INFINITY), sums = {};
    for (int64_t i = 0; i < whole; i += LANES)
        tops = higher(tops, bias ? load(x + i) + load(bias + i) : load(x + i));
    float top = highest(tops)[0], sum;
    for (int64_t i = whole; i < size; i++) top = fmaxf(top, bias ? x[i] + bias[i] : x[i]);
    for (int64_t i = 0; i < whole; i += LANES) {
        const floats score = bias ? load(x + i) + load(bias + i) : load(x + i);
        const floats raised = exponential(score - top);
        if (to) store(to + i, raised);
        sums += raised;
    }
    sum = total(sums)[0];
    for (int64_t i = whole; i < size; i++) {
        const float raised = expf((bias ? x[i] + bias[i] : x[i]) - top);
        if (to) to[i] = raised;
        sum += raised;
    }
    return (Raised){top, sum};
}

void mute_log_sum_exp(const float *x, int64_t rows, int64_t size, float *to, int64_t threads) {
#pragma omp parallel for num_threads(threads)
    for (int64_t row = 0; row < rows; row++) {
        const Raised raised = raise_row(x + row * size, 0, size, 0);
        to[row] = raised.top + logf(raised.sum);
    }
}

/* A row of products becomes the softmax of its scores, with `pull` added at the label: with -1, the
   gradient of cross-entropy. All rows add theirs to `sums`. */
static void slope_of_row(float *x, const float *bias, int64_t size, int64_t label, float pull,
                         float *of_label, float *normaliser, float *sums) {
    const int64_t whole = size / LANES * LANES;
    *of_label = x[label] + bias[label];
    const Raised raised = raise_row(x, bias, size, x);
    *normaliser = raised.top + logf(raised.sum);
    const float share = 1 / raised.sum;
    for (int64_t i = 0; i < whole; i += LANES) {
        const floats p = share * load(x + i);
        store(x + i, p);
        store(sums + i, load(sums + i) + p);
    }
    for (int64_t i = whole; i < size; i++) sums[i] += x[i] *= share;
    x[label] += pull;
    sums[label] += pull;
}

/* x: (rows, size), scores without their bias, overwritten; labels, of_labels, normalisers: (rows);
   sums: (threads, size). Every thread takes a run of the rows, always the same one: so sums do not
   depend on chance. */
void mute_slopes(float *x, int64_t rows, int64_t size, const float *bias, const int64_t *labels,
                 float pull, float *of_labels, float *normalisers, float *sums, int64_t threads) {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int64_t thread = 0; thread < threads; thread++)
        for (int64_t row = rows * thread / threads; row < rows * (thread + 1) / threads; row++)
            slope_of_row(x + row * size, bias, size, labels[row], pull, of_labels + row,
                         normalisers + row, sums + thread * size);
}
