/* LANES floats at a time: as many as a register of the CPU holds that this is compiled for. With more
   than that, compilers pass them through memory, which is several times slower. */

#ifndef MUTE_VECTORS_H
#define MUTE_VECTORS_H

#include <stdint.h>

typedef float floats __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t ints __attribute__((vector_size(4 * LANES), aligned(4)));
typedef uint32_t bits __attribute__((vector_size(4 * LANES), aligned(4)));

#if LANES == 16
#define NUMBERS ((ints){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
#elif LANES == 8
#define NUMBERS ((ints){0, 1, 2, 3, 4, 5, 6, 7})
#elif LANES == 4
#define NUMBERS ((ints){0, 1, 2, 3})
#else
#error "setup.py says how many LANES there are: 4, 8 or 16"
#endif

#define INLINE static inline __attribute__((always_inline))

INLINE floats load(const float *from) { return *(const floats *)from; }
INLINE void store(float *to, floats x) { *(floats *)to = x; }
INLINE floats all(float x) { return (floats){} + x; }
INLINE int64_t rounded_up(int64_t n) { return (n + LANES - 1) / LANES * LANES; }

INLINE floats choose(ints condition, floats yes, floats no) {
    return (floats)(((ints)yes & condition) | ((ints)no & ~condition));
}

INLINE floats higher(floats a, floats b) { return choose(a > b, a, b); }
INLINE floats sum_of(floats a, floats b) { return a + b; }

INLINE floats rotated(floats x, int by) {
#ifdef __clang__
    floats y;
    for (int lane = 0; lane < LANES; lane++) y[lane] = x[(lane + by) % LANES];
    return y;
#else
    return __builtin_shuffle(x, (NUMBERS + by) % LANES);
#endif
}

/* The highest and the sum of all lanes, in every lane: by halves, then quarters, and so on. */
#define FOLDED(x, join) \
    for (int by = LANES / 2; by > 0; by /= 2) x = join(x, rotated(x, by))
INLINE floats highest(floats x) {
    FOLDED(x, higher);
    return x;
}
INLINE floats total(floats x) {
    FOLDED(x, sum_of);
    return x;
}

/* e^x for x ≤ 0, to float precision; 0 where that is too low for a normal number. */
INLINE floats exponential(floats x) {
    const ints low = x < -87.0f;
    const floats rounding = all(12582912.0f); /* 1.5 · 2²³: a sum with it has no fraction left */
    x = choose(low, all(-87.0f), x);
    const floats shifted = x * 1.44269504f + rounding;
    const floats power = shifted - rounding; /* of 2 */
    const floats rest = x - power * 0.693359375f + power * 2.12194440e-4f;
    floats y = all(1.9875691500e-4f);
    y = y * rest + 1.3981999507e-3f;
    y = y * rest + 8.3334519073e-3f;
    y = y * rest + 4.1665795894e-2f;
    y = y * rest + 1.6666665459e-1f;
    y = y * rest + 5.0000001201e-1f;
    y = y * rest * rest + rest + 1.0f;
    const ints scale = ((ints)shifted - (ints)rounding + 127) << 23;
    return choose(low, all(0), y * (floats)scale);
}

#endif
