/* The logarithm of a sum of exponentials, of every row: two passes over it and nothing written. */

#include <math.h>

#include "vectors.h"

/* What is not finite stays so: a row with NaN or ∞ has NaN. */
static float of_row(const float *x, int64_t size) {
    const int64_t whole = size / LANES * LANES;
    floats tops = all(-INFINITY), sums = {};
    for (int64_t i = 0; i < whole; i += LANES) tops = higher(tops, load(x + i));
    float top = highest(tops)[0], sum;
    for (int64_t i = whole; i < size; i++) top = x[i] > top ? x[i] : top;
    for (int64_t i = 0; i < whole; i += LANES) sums += exponential(load(x + i) - top);
    sum = total(sums)[0];
    for (int64_t i = whole; i < size; i++) sum += expf(x[i] - top);
    return top + logf(sum);
}

void mute_log_sum_exp(const float *x, int64_t rows, int64_t size, float *to, int64_t threads) {
#pragma omp parallel for num_threads(threads)
    for (int64_t row = 0; row < rows; row++) to[row] = of_row(x + row * size, size);
}
