/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels.h - the kernel of each kind of operation, for the real type that was chosen (product.h). */
#ifndef KERNELS_H
#define KERNELS_H
#include "system-model/execute/kernels_elements.h"
#include "system-model/execute/kernels_exchange.h"
#include "system-model/execute/kernels_losses.h"
#include "system-model/execute/kernels_moves.h"
#include "system-model/execute/kernels_norms.h"
#include "system-model/execute/kernels_products.h"
#include "system-model/execute/kernels_recurrence.h"

static void (*const kernels[])(const struct run *r) = {
    KERNELS_OF_ELEMENTS KERNELS_OF_PRODUCTS KERNELS_OF_NORMS KERNELS_OF_MOVES KERNELS_OF_RECURRENCE KERNELS_OF_LOSSES KERNELS_OF_EXCHANGE
};
_Static_assert(sizeof kernels / sizeof *kernels == N_OP_KINDS, "one row a kind");

static inline void run_kernel(const struct run *r)
{
    for (uint32_t k = 0; k < r->op->n_outputs; k++)
        memset(out(r, k), 0, tensor_elements(tensor_out(r, k)) * sizeof(real));
    kernels[r->op->kind](r);
}

#endif
