/* Sixteen floats at a time, on any CPU: compilers split them where its registers are shorter. */

#ifndef MUTE_VECTORS_H
#define MUTE_VECTORS_H

#include <stdint.h>

#define LANES 16

typedef float floats __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t ints __attribute__((vector_size(4 * LANES), aligned(4)));

#define INLINE static inline __attribute__((always_inline))

/* Compiled once for each kind of CPU; the loader takes the one that fits. Other compilers and C
   libraries than these do not know how. */
#include <limits.h> /* says which C library it is */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && __GNUC__ >= 12
#define FOR_EACH_CPU __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FOR_EACH_CPU
#endif

#ifdef __clang__
#define SHUFFLED(x, ...) __builtin_shufflevector(x, x, __VA_ARGS__)
#else
#define SHUFFLED(x, ...) __builtin_shuffle(x, (ints){__VA_ARGS__})
#endif

INLINE floats load(const float *from) { return *(const floats *)from; }
INLINE void store(float *to, floats x) { *(floats *)to = x; }
INLINE floats all(float x) { return (floats){} + x; }
INLINE int64_t rounded_up(int64_t n) { return (n + LANES - 1) / LANES * LANES; }

INLINE floats choose(ints condition, floats yes, floats no) {
    return (floats)(((ints)yes & condition) | ((ints)no & ~condition));
}

INLINE floats higher(floats a, floats b) { return choose(a > b, a, b); }
INLINE floats sum_of(floats a, floats b) { return a + b; }

/* The highest and the sum of all lanes, in every lane: by halves, then quarters, and so on. */
#define FOLDED(x, join)                                                            \
    x = join(x, SHUFFLED(x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)); \
    x = join(x, SHUFFLED(x, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11)); \
    x = join(x, SHUFFLED(x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)); \
    x = join(x, SHUFFLED(x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14))
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
