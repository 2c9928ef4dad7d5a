/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels_exchange.h - operations that read what neighbouring replicas of the program hold: sums, parts side by side, rows that are cut. */
#ifndef KERNELS_EXCHANGE_H
#define KERNELS_EXCHANGE_H
#include "system-model/execute/kernels_operands.h"

/* Adds up the first operand of all peers. */
static inline void run_all_reduce(const struct run *r)
{
    for (uint64_t i = 0; i < n_out(r); i++) {
        double sum = 0;
        for (uint32_t p = 0; p < r->n_peers; p++)
            sum += (double)r->peers[p][r->op->inputs[0]][i];
        out(r, 0)[i] = (real)sum;
    }
}

static inline void run_share(const struct run *r)
{
    if (r->op->pass == PASS_FORWARD)
        memcpy(out(r, 0), in(r, 0), n_out(r) * sizeof(real));
    else
        run_all_reduce(r);
}

static inline void run_all_gather(const struct run *r)
{
    const struct tensor *x = tensor_in(r, 0);
    for (uint32_t p = 0; p < r->n_peers; p++)
        for (uint64_t i = 0; i < tensor_elements(x); i++) {
            uint64_t to = tensor_whole_element(x, i, p * r->op->at->stride);
            if (to != NO_ID64)
                out(r, 0)[to] = r->peers[p][r->op->inputs[0]][i];
        }
}

/* Fills a row of an operand as it is in the whole model, although peers may each hold a part of it. Returns the row's length. */
static inline uint64_t whole_row(real *to, const struct run *r, uint32_t tensor_id, uint64_t row)
{
    const struct tensor *x = &r->g->tensors[tensor_id];
    const struct tensor_part *cut = tensor_cut(x, x->n_dims - 1);
    uint64_t n = last_dim(x), whole = tensor_whole_size(x, x->n_dims - 1);
    if (whole == n && r->n_peers < 2)
        memcpy(to, r->v[tensor_id] + row * n, n * sizeof *to);
    for (uint64_t i = 0; i < whole && cut; i++)
        to[i] = r->peers[i / n][tensor_id][row * n + i % n];
    return whole;
}

/* The place of an operand's column 0 in the whole row. */
static inline uint64_t first_column(const struct run *r, uint32_t tensor_id)
{
    const struct tensor *x = &r->g->tensors[tensor_id];
    return tensor_part_of(tensor_cut(x, x->n_dims - 1), r->rank) * last_dim(x);
}

/* Rows of the table in kernels.h. */
#define KERNELS_OF_EXCHANGE [OP_ALL_REDUCE] = run_all_reduce, [OP_SHARE] = run_share, [OP_ALL_GATHER] = run_all_gather,

#endif
