/* Linear layers, one after the other or alone. */

#include "linear.h"

#include <stdlib.h>

#include "dots.h"
#include "products.h"
#include "vectors.h"

void mute_product(const Linear *a, Manner manner, int64_t rows, const float *x, float *y, int64_t threads,
                  uint8_t *bytes, float *scales) {
    const int64_t n = a->inputs, panels = a->outputs / LANES;
    if (a->middles) {
#pragma omp parallel for num_threads(rows > TALL ? threads : 1)
        for (int64_t row = 0; row < rows; row++) scales[row] = to_bytes(n, x + row * n, bytes + row * n);
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t first = 0; first < panels; first += BROAD) {
        const int64_t whole = first + BROAD <= panels, end = whole ? first + BROAD : panels;
        for (int64_t panel = first; panel < end; panel += whole ? BROAD : 1)
            if (a->middles)
                dot_column(whole, manner, a, panel, rows, bytes, scales, y);
            else
                column(whole, manner, a, panel, rows, x, y);
    }
}

int64_t mute_linear_size(void) { return sizeof(Linear); }

/* Returns whether there was memory for it. */
int mute_linear(const Linear *a, int64_t rows, const float *x, float *y, int64_t threads) {
    float *scales = malloc(rows * (sizeof(float) + a->inputs) + 1); /* 1: for no rows it may be null */
    if (!scales) return 0;
    mute_product(a, PLAIN, rows, x, y, threads, (uint8_t *)(scales + rows), scales);
    free(scales);
    return 1;
}
