/* Linear layers: y = W x + b.

   With few rows all the time goes into reading W, once. So W is laid out in the order in which it is
   read: panels of LANES outputs, in each of them input after input. A weight is a float, or 8 bits
   and a scale for each output; those come as four inputs in every 32 bits, the first one lowest. */

#ifndef MUTE_LINEAR_H
#define MUTE_LINEAR_H

#include <stdint.h>

#define FOUR 4

/* `LinearLayer` in Python. */
typedef struct {
    int64_t inputs, outputs; /* multiples of LANES */
    const void *weights;     /* (outputs / LANES, inputs, LANES) floats, or in 8 bits
                                (outputs / LANES, inputs / FOUR, LANES, FOUR) */
    const float *scales;     /* (outputs), null for floats */
    const int32_t *middles;  /* (outputs), null unless inputs have 8 bits, too: see `dots.h` */
    const float *bias;       /* (outputs) */
} Linear;

typedef enum { PLAIN, RELU, ADDED } Manner; /* how the result is written: what it adds to is y */

/* Multiply; the two last are room for inputs of 8 bits and their scales, (rows, inputs) and (rows). */
void mute_product(const Linear *a, Manner manner, int64_t rows, const float *x, float *y, int64_t threads,
                  uint8_t *bytes, float *scales);

#endif
