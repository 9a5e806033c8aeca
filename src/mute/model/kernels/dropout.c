/* Dropout, and the sum of a residual stream with what is dropped from, in one pass.

   Whether an element is dropped is a function of the seed and its place alone. So no mask has to be
   kept for the way back, and it does not matter how many threads there are. */

#include "vectors.h"

/* Two multiplications that leave no bit where it was (Wellons, "lowbias32"). */
INLINE bits mixed(bits x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}

/* A random number for every lane, of all 32 bits. Of a seed's halves one is where the numbers begin,
   the other says what becomes of them. */
INLINE ints drawn(uint64_t seed, int64_t place) {
    const bits first = mixed((bits)NUMBERS + (uint32_t)(place + seed));
    return (ints)mixed(first ^ (uint32_t)((seed >> 32) + (place >> 32)));
}

static void drop_part(const float *x, int64_t repeat, const float *y, float *to, int64_t begin,
                      int64_t end, int32_t threshold, float scale, uint64_t seed) {
    for (int64_t place = begin; place < end; place += LANES) {
        const ints kept = drawn(seed, place) >= threshold;
        if (place + LANES <= end) {
            /* A product, so that NaN stays what it is. */
            const floats left = load(y + place) * choose(kept, all(scale), all(0));
            const int64_t at = x ? place % repeat : 0;
            if (!x)
                store(to + place, left);
            else if (at + LANES <= repeat)
                store(to + place, load(x + at) + left);
            else
                for (int lane = 0; lane < LANES; lane++)
                    to[place + lane] = x[(place + lane) % repeat] + left[lane];
        } else {
            for (int64_t last = place; last < end; last++) {
                const float left = y[last] * (kept[last - place] ? scale : 0);
                to[last] = x ? x[last % repeat] + left : left;
            }
        }
    }
}

/* to = x + drop(y), where x repeats itself after `repeat` elements; just drop(y) if x is null.
   An element is kept where its draw, a signed number of 32 bits, reaches the threshold. */
void mute_dropout(const float *x, int64_t repeat, const float *y, float *to, int64_t size,
                  int32_t threshold, float scale, uint64_t seed, int64_t threads) {
    const int64_t blocks = (size + LANES - 1) / LANES;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int64_t thread = 0; thread < threads; thread++) {
        const int64_t begin = blocks * thread / threads * LANES;
        const int64_t end = blocks * (thread + 1) / threads * LANES;
        drop_part(x, repeat, y, to, begin, end < size ? end : size, threshold, scale, seed);
    }
}
