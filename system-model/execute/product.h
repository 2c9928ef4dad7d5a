/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * product.h - matrix products for the kernels, and work shared among threads in a fixed division.
 *
 * Products of fp32 use oneDNN where the host has it, which is looked for once, and else plain loops. Each call of the library is
 * single-threaded and makes a block of rows of the result; the blocks depend on the shape alone, so that the bytes of a result do not depend
 * on the number of threads. They may differ between processors, as oneDNN writes its inner loops for them.
 */
#ifndef PRODUCT_H
#define PRODUCT_H
#include <stdbool.h>
#include <stdint.h>

#ifndef EXECUTE_REAL
#define EXECUTE_REAL float
#endif
typedef EXECUTE_REAL real;

/* A row-major matrix whose rows begin `stride` elements apart; turned: its transpose is meant. */
struct matrix { real *x; uint64_t stride; bool turned; };

/* How a product is made. */
struct product_way {
    uint32_t n_threads;                 /* 0 means 1 */
    uint32_t pass_inputs;               /* inputs that an AMP unit adds to a partial sum before it writes it back: a multiple of 4; 0 means the library's order */
    bool half_partials;                 /* partial sums that are written back are rounded to fp16; else to fp32 */
};

/* c += a b with a [rows, inner] and b [inner, columns] after turning; c is never turned. */
void product_add(struct matrix c, struct matrix a, struct matrix b, uint64_t rows, uint64_t inner, uint64_t columns, const struct product_way *way);
/* amp_product.c: product_add() in the order of an AMP unit, on one thread. */
void amp_product_add(struct matrix c, struct matrix a, struct matrix b, uint64_t rows, uint64_t inner, uint64_t columns, const struct product_way *way);
const char *product_library(void);      /* the library of products in fp32: "oneDNN", "plain loops" */

#endif
