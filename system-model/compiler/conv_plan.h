/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conv_plan.h - convolutions and matmuls over the tiles of one IPU: the search of splits.
 *
 * Every pass is put as one forward-like convolution: batch x field positions, each a sum over kernel elements
 * and input channels. A matmul has a 1x1 kernel and its rows as field. The gradient passes are brought
 * to the same form by conv_shape_of_pass: channels swapped for the data gradient; for the weight gradient the
 * batch and the field become the input channels.
 */
#ifndef CONV_PLAN_H
#define CONV_PLAN_H
#include "system-model/compiler/op_plan.h"

struct conv_shape {
    uint32_t groups, batch;
    uint32_t field_h, field_w;          /* positions computed for each kernel element */
    uint32_t kernel_h, kernel_w;
    uint64_t in_chans;                  /* of one group; a weight gradient's are all positions of all samples, more than 32 bits hold */
    uint32_t out_chans;
    uint32_t in_stride_h, in_stride_w;  /* input steps a position, down and across; */
    uint32_t out_stride_h, out_stride_w;            /* output elements a position (dilated gradient) */
    uint32_t in_h, in_w;                /* the input field, without padding: where halos end */
    uint32_t before_h, before_w;        /* rows and columns of padding before those that kernels may meet, */
    uint32_t met_h, met_w;              /* which are the input's of the convolution itself, for the gradient to that input as well */
    uint32_t dilation;                  /* from one element of the kernel to the next */
    uint32_t in_expand;                 /* each input element stands in so many rows (weight gradient of a k x k kernel) */
    uint32_t type;                      /* enum data_type */
    uint32_t pass;                      /* enum op_pass */
    /* How the operands lie before. By default as this plan wants them: each tile has its share of what it needs. */
    uint32_t in_elsewhere, weights_elsewhere;       /* true: another operation has laid them out, so that all of it moves */
    uint32_t rearrange_in, rearrange_weights;       /* true: and every element changes place in the order */
    uint32_t rearrange_out;                         /* true: so do the results */
};

/* A forward convolution of groups x [batch, in_h, in_w, in_chans]; in_chans and out_chans of one group. Padding: above and on the left; what
 * else is reached beyond the input is below or on the right. */
struct conv_params {
    uint32_t groups, batch, in_h, in_w, out_h, out_w, kernel_h, kernel_w, in_chans, out_chans, stride;
    enum data_type type;
    uint32_t stride_w, pad_h, pad_w, dilation;      /* stride_w: 0 is as stride; dilation: 0 is 1 */
};
/* What a pass multiplies: of the gradients' passes too, as a convolution of its own. groups x [rows, inner] x [inner, columns]. */
struct conv_shape conv_shape_of_pass(const struct conv_params *p, enum op_pass pass);
struct conv_shape matmul_conv_shape(uint32_t groups, uint32_t rows, uint32_t inner, uint32_t columns, enum data_type type,
                                    enum op_pass pass);

/* How often each dimension is split, and the share of the largest tile. Channels in grains. */
struct share {
    uint64_t p_groups, p_batch, p_field, p_kernel, p_in, p_out, serial_in, serial_out;
    uint64_t groups, batch, height, width, kernel_h, in, out;
};

/* Bounds on what a tile's temporaries may take. */
struct bounds { uint64_t least_bytes, most_bytes; };
uint64_t conv_bound_bytes(const struct chip *chip, const struct op_plan_options *opt);     /* available_memory x tile memory */

/* What finding a plan took, which bounds and the order of visits are there to spare: branches kept, to be chosen from; splits priced. */
struct effort { uint64_t n_branches, n_priced; };

/* A plan without its prices: the same split can be priced on another chip. */
struct conv_choice {
    bool turned;                        /* a product, the other way round */
    size_t candidate;                   /* which of the vertices that are tried, and what it must be still for the share to hold */
    enum vertex_kind vertex;
    uint64_t in_grain, out_grain;
    struct share share;
    struct bounds within;               /* what is chosen is the same for all of these: it fits, and all that was left out does not */
    struct effort effort;               /* both ways round together */
};
/* Of a fully connected layer in training: by pass, or one for all of them. */
struct plan_choice {
    struct conv_choice of_pass[N_OP_PASSES];
    uint64_t joint_inner;               /* one for all: parts of the inner dimension; 0: each has its own */
    struct bounds within;
};

uint64_t conv_shape_mac(const struct conv_shape *s);        /* multiplications with padding are none */
/* The product turned round, its operands and its result with it; false where this is no product. */
bool conv_shape_swapped(struct conv_shape *out, const struct conv_shape *s);
/* Fastest plan within the bound, of a product either way round; the bound doubles until there is one.
 * choice: what was chosen; NULL: nobody asks. */
void conv_plan_search(struct op_plan *out, struct conv_choice *choice, const struct conv_shape *s, const struct chip *chip,
                      const struct op_plan_options *opt);
/* The split that was chosen for another chip, whatever memory it takes; false where this chip has no such vertex, or too few tiles. */
bool conv_plan_as(struct op_plan *out, const struct conv_choice *choice, const struct conv_shape *s, const struct chip *chip,
                  const struct op_plan_options *opt);
/* A fully connected layer in training, groups x [rows, inner] x [inner, columns]: three plans of their own, or one whose weights never
 * move, whichever is faster over the three passes. out: by pass. */
struct layer_shape { uint32_t groups, rows, inner, columns; enum data_type type; };
void conv_plan_fully_connected(struct op_plan out[N_OP_PASSES], struct plan_choice *choice, const struct layer_shape *l, const struct chip *chip,
                               const struct op_plan_options *opt);
/* By what was chosen for another chip, as conv_plan_as. */
bool conv_plan_fully_connected_as(struct op_plan out[N_OP_PASSES], const struct plan_choice *choice, const struct layer_shape *l,
                                  const struct chip *chip, const struct op_plan_options *opt);
#endif
