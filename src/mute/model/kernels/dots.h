/* Linear layers with inputs of 8 bits as well, for CPUs that multiply and add four bytes at once (VNNI):
   every row of the input has its own scale, so that no row depends on what stands beside it. */

#ifndef MUTE_DOTS_H
#define MUTE_DOTS_H

#include <string.h>

#include "products.h"

#define NEAR_BYTES (4 * NEAR)
#define MIDDLE 128 /* what stands for 0: such CPUs take inputs from 0 to 255 */

/* `dot`: to every sum, the products of its four weights with the four inputs. */
#if LANES == 16
#include <immintrin.h>
#define VNNI __attribute__((target("avx512vnni")))
VNNI INLINE ints dot(ints sums, int32_t inputs, ints weights) {
    return (ints)_mm512_dpbusd_epi32((__m512i)sums, _mm512_set1_epi32(inputs), (__m512i)weights);
}
INLINE void store_bytes(uint8_t *to, ints x) {
    _mm_storeu_si128((__m128i *)to, _mm512_cvtepi32_epi8((__m512i)x));
}
#else /* the same for any CPU, though not fast: the other form of `products.h` is */
#define VNNI
INLINE ints dot(ints sums, int32_t inputs, ints weights) {
    for (int j = 0; j < FOUR; j++)
        sums += (inputs >> 8 * j & 255) * (weights << (24 - 8 * j) >> 24);
    return sums;
}
INLINE void store_bytes(uint8_t *to, ints x) {
    for (int lane = 0; lane < LANES; lane++) to[lane] = (uint8_t)x[lane];
}
#endif

/* Round a row, and tell its scale: NaN if there is anything in it that is no number. */
static float to_bytes(int64_t n, const float *x, uint8_t *to) {
    floats tops = {}, nothing = {};
    for (int64_t i = 0; i < n; i += LANES) {
        const floats here = load(x + i);
        tops = higher(tops, higher(here, -here));
        nothing += here * 0;
    }
    const float top = highest(tops)[0], steps = top > 1e-30f ? 127 / top : 0; /* never ∞ */
    const floats rounding = all(12582912.0f); /* as in `exponential` */
    for (int64_t i = 0; i < n; i += LANES) {
        const ints rounded = (ints)(load(x + i) * steps + rounding) - (ints)rounding;
        store_bytes(to + i, rounded + MIDDLE);
    }
    return top / 127 + total(nothing)[0];
}

VNNI INLINE void dot_tile(int tall, int broad, Manner manner, const Linear *a, int64_t panel,
                          int64_t begin, int64_t end, const uint8_t *x, const float *scales, float *y) {
    ints sums[TALL][BROAD] = {};
    for (int64_t i = begin; i < end; i += FOUR)
        for (int p = 0; p < broad; p++) {
            const int8_t *from = (const int8_t *)a->weights + ((panel + p) * a->inputs + i) * LANES;
            const ints weights = *(const ints *)from;
            for (int r = 0; r < tall; r++) {
                int32_t inputs;
                memcpy(&inputs, x + r * a->inputs + i, FOUR);
                sums[r][p] = dot(sums[r][p], inputs, weights);
            }
        }
    for (int p = 0; p < broad; p++) {
        const int64_t first = (panel + p) * LANES;
        const ints middles = begin == 0 ? *(const ints *)(a->middles + first) : (ints){};
        for (int r = 0; r < tall; r++) {
            const floats scale = load(a->scales + first) * scales[r];
            const floats sum = __builtin_convertvector(sums[r][p] - middles, floats) * scale;
            finish(manner, a, first, begin, end, sum, y + r * a->outputs + first);
        }
    }
}

VNNI INLINE void dot_rows(int broad, Manner manner, const Linear *a, int64_t panel, int64_t begin,
                          int64_t end, int64_t rows, const uint8_t *x, const float *scales, float *y) {
    for (; rows >= TALL; rows -= TALL, x += TALL * a->inputs, scales += TALL, y += TALL * a->outputs)
        dot_tile(TALL, broad, manner, a, panel, begin, end, x, scales, y);
    if (rows == 3) dot_tile(3, broad, manner, a, panel, begin, end, x, scales, y);
    if (rows == 2) dot_tile(2, broad, manner, a, panel, begin, end, x, scales, y);
    if (rows == 1) dot_tile(1, broad, manner, a, panel, begin, end, x, scales, y);
}

/* As `column`. */
VNNI static void dot_column(int whole, Manner manner, const Linear *a, int64_t panel, int64_t rows,
                            const uint8_t *x, const float *scales, float *y) {
    const int64_t n = a->inputs, step = rows > TALL && n > NEAR_BYTES ? NEAR_BYTES : n;
    for (int64_t begin = 0; begin < n; begin += step) {
        const int64_t end = begin + step < n ? begin + step : n;
        whole ? dot_rows(BROAD, manner, a, panel, begin, end, rows, x, scales, y)
              : dot_rows(1, manner, a, panel, begin, end, rows, x, scales, y);
    }
}

#endif
