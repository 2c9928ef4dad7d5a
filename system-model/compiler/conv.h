/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conv.h - the planner of convolutions and products: shapes, candidates, splits, their price and bounds. Private to the compiler.
 */
#ifndef CONV_H
#define CONV_H
#include "system-model/compiler/vertex_cost.h"
#include "system-model/graph/graph.h"

/* ==== conv_shape.c: every pass of a convolution or a matmul in one form ============================================
 * Batch x field positions, each a sum over kernel elements and input channels. A matmul has a 1x1 kernel and its
 * rows as field. The data gradient swaps the channels; in the weight gradient, batch and field become the input
 * channels. */

struct conv_shape {
    uint32_t groups, batch;
    uint32_t field_h, field_w;          /* positions computed for each kernel element */
    uint32_t kernel_h, kernel_w;
    uint64_t in_chans;                  /* input channels of one group; a weight gradient's are all positions of all samples, more than 32 bits hold */
    uint32_t out_chans;                 /* output channels of one group */
    uint32_t in_stride_h, in_stride_w;  /* step in the input from one output position to the next */
    uint32_t out_stride_h, out_stride_w;            /* step in the output from one position to the next (dilated gradient) */
    uint32_t in_h, in_w;                /* the input field without padding: halos end there */
    uint32_t before_h, before_w;        /* padding above and left of the region that kernels may meet */
    uint32_t met_h, met_w;              /* size of the region that kernels may meet: the convolution's own input, also for the data gradient */
    uint32_t dilation;                  /* step in the input from one element of the kernel to the next */
    uint32_t in_expand;                 /* rows in which each input element appears (weight gradient of a k x k kernel) */
    uint32_t type;                      /* enum data_type */
    uint32_t pass;                      /* enum op_pass */
    /* Layouts before the operation. If all of these are 0, the operands lie as this plan wants them: each tile has its share of what it needs. */
    uint32_t in_elsewhere, weights_elsewhere;       /* 1: another operation has laid the operand out, so that all of it moves */
    uint32_t rearrange_in, rearrange_weights;       /* 1: in addition, every element changes its place in the order */
    uint32_t rearrange_out;                         /* 1: every element of the results changes its place in the order */
    uint32_t weights_stay;              /* 1: serial steps slice the weights where they lie; 0: they slice a copy in the order of the steps */
    uint32_t columns_are_field;         /* 1: a product whose columns are the field and whose rows are output channels; its weights are its first operand */
};

/* A forward convolution of groups x [batch, in_h, in_w, in_chans]; in_chans and out_chans are those of one group. pad_h and pad_w are above and on
 * the left; padding below and on the right follows from the size of the output. */
struct conv_params {
    uint32_t groups, batch, in_h, in_w, out_h, out_w, kernel_h, kernel_w, in_chans, out_chans, stride;
    enum data_type type;
    uint32_t stride_w, pad_h, pad_w, dilation;      /* stride_w: 0 stands for `stride`; dilation: 0 stands for 1 */
};
struct conv_shape conv_shape_of_pass(const struct conv_params *p, enum op_pass pass);
/* A product of groups x [rows, inner] x [inner, columns], with the columns as field and the rows as output channels. For a gradient, the caller has
 * already swapped the operands. */
struct conv_shape matmul_conv_shape(uint32_t groups, uint32_t rows, uint32_t inner, uint32_t columns, enum data_type type,
                                    enum op_pass pass);
/* The product with rows as field and columns as output channels; false if the shape is no product. */
bool conv_shape_swapped(struct conv_shape *out, const struct conv_shape *s);
uint64_t conv_shape_mac(const struct conv_shape *s);        /* multiplications with padding included */

static inline bool conv_orders_weights(const struct conv_shape *s) { return !s->weights_stay || s->weights_elsewhere; }

static inline uint64_t shape_positions(const struct conv_shape *s)
{
    return (uint64_t)s->batch * s->field_h * s->field_w;
}

/* p_...: the number of tiles that a dimension is split over; serial_...: the number of steps that channels are split over. The other numbers are the
 * fullest tile's share in one step; `in` and `out` count grains of channels. */
struct share {
    uint64_t p_groups, p_batch, p_field, p_kernel, p_in, p_out, serial_in, serial_out;
    uint64_t groups, batch, height, width, kernel_h, in, out;
    uint64_t in_each_step;              /* 1: each output-serial step receives the input again; 0: the input arrives once, before the loop */
};

static inline uint64_t share_positions(const struct share *t) { return t->batch * t->height * t->width; }
static inline uint64_t share_steps(const struct share *t) { return t->serial_in * t->serial_out; }
static inline bool has_input_before(const struct share *t) { return t->serial_out > 1 && !t->in_each_step; }

static inline uint64_t tiles_in_use(const struct share *t)
{
    return t->p_groups * t->p_batch * t->p_field * t->p_kernel * t->p_in * t->p_out;
}

/* The numbers of conv_bound.c that are the same for all splits of a candidate. */
struct conv_units {
    double turn, sync, rate, bus;       /* turn, sync: cycles of the chip; rate: bytes a cycle; bus: tiles that share an exchange bus */
    double fixed, once;                 /* fixed: cycles of each step; once: cycles of changes of layout, which are paid once */
    double positions, row, row_positions;           /* positions: of batch and field; row: cycles of an item of a worker's list;
                                           row_positions: positions of one longest row for each worker */
    double load, position, channel, loads;          /* load: cycles to load weights once; position: cycles to use a load at all positions; channel:
                                           further such cycles for each grain of input channels; loads: loads of a kernel row in one grain */
    double weights, weight_copy, input, thin_input; /* weights: bytes of a kernel row's weights for one input and one output grain;
                                           weight_copy: cycles a byte to copy weights; input: bytes of all input of one grain; thin_input: the same with no
                                           more rows than the field */
    double received, padding, slice;    /* cycles a byte: to receive input; to copy it on the tile; to slice an operand */
    double results, outputs, partial_bytes;         /* results: of a grain of output channels; outputs: output elements for each result; partial_bytes: bytes of one partial sum */
    double slice_once, add_once;        /* slice_once: cycles of a slice without elements; add_once: cycles to add one element to a sum */
    double serial;                      /* fixed cycles of the slices and the loop's counter in each step, if there are several */
    double stage, exchanged, added;     /* stage: fixed cycles of a stage of sums; exchanged: cycles to exchange one element; added: cycles to exchange and add it */
    double cast, cast_fixed, zero;      /* cast: cycles to cast an element; cast_fixed: fixed cycles of a cast; zero: cycles to set a sum to zero */
    bool by_in, by_out;                 /* by_in: weights are loaded for each grain of input channels; by_out: for each grain of output channels */
};

/* A vertex, its grains, and the shape that it sees. */
struct conv_candidate {
    enum vertex_kind vertex;
    struct amp amp;
    struct conv_shape s;                /* kernel dimensions may have become input channels */
    uint64_t in_grain, out_grain, filter_height, passes;
    uint64_t group_chans;               /* input channels of a group of the convolution itself, however many groups share a vertex */
    bool joined;                        /* kernel elements have become input channels, or elements that a stride skips are dropped */
    bool gathered;                      /* joined by whole grains of channels, which are laid out before the loop and not on each tile */
    bool flat;                          /* 1x1 kernel: batch and field are one row of positions */
    struct conv_units units;            /* set by conv_add_units() */
    size_t order;                       /* place in the list: of equal plans the earlier candidate's is kept */
};

enum { MAX_CANDIDATES = 48 };           /* the AMP has at most 40 candidates, with up to 1024 units in eight grains; other vertices have four */
struct candidates { struct conv_candidate items[MAX_CANDIDATES]; size_t n; };

void conv_candidates(struct candidates *list, const struct conv_shape *s, const struct chip *chip,
                     const struct op_plan_options *opt);
void conv_add_amp(struct candidates *list, const struct conv_shape *s, const struct chip *chip, struct amp amp, uint64_t in_grain,
                  uint64_t out_grain);

/* The whole work of a candidate on one tile, apart from serial steps: splits start from it. */
static inline struct share conv_whole(const struct conv_candidate *c, uint64_t serial_in, uint64_t serial_out)
{
    return (struct share){ .p_groups = 1, .p_batch = 1, .p_field = 1, .p_kernel = 1, .p_in = 1, .p_out = 1,
                           .serial_in = serial_in, .serial_out = serial_out, .groups = c->s.groups, .batch = c->s.batch,
                           .height = c->s.field_h, .width = c->s.field_w, .kernel_h = c->s.kernel_h,
                           .in = ceil_div(ceil_div(c->s.in_chans, c->in_grain), serial_in),
                           .out = ceil_div(ceil_div(c->s.out_chans, c->out_grain), serial_out) };
}

/* ==== conv_price.c: what one split costs by the planner's estimate ============================================== */

enum { COUNTER_BYTES = 4 };             /* the counter of a serial loop */

struct conv_cost {
    uint64_t compute, exchange, supersteps, rearrange, temp_bytes, sum_bytes, received_bytes;
    uint64_t held_bytes;                /* temp_bytes without operands that lie where they are used */
    uint64_t copied_bytes;              /* input of the fullest tile that is copied into another layout before the vertex */
    uint64_t moves;                     /* supersteps that only exchange, without vertices */
    uint64_t planned_copies;            /* cycles of one step that the planner estimates for those copies */
};

/* The effort of a search: branches visited, and splits priced. */
struct effort { uint64_t n_branches, n_priced; };

/* A search of splits, and its best one so far. */
struct search {
    const struct vertex_table *vertices;
    const struct chip *chip;
    const struct op_plan_options *opt;
    const struct conv_shape *shape;
    uint64_t n_tiles, bound_bytes, best_cycles;
    uint64_t least_over_bytes;          /* the least memory of a split that was left out for its memory */
    struct conv_cost layout, by_step;   /* layout: cost of layout changes, equal for all splits; by_step: cost of ordering weights by serial steps */
    uint64_t rearranged_bytes;
    uint64_t operand_bytes;             /* a tile's even share of operands and results */
    const struct conv_candidate *best_candidate;
    bool is_wide;                       /* tries all numbers of serial steps, also with inputs that arrive in each step */
    struct share best;
    struct conv_cost best_cost;
    struct effort effort;
};
struct search conv_search_start(const struct conv_shape *s, const struct chip *chip, const struct op_plan_options *opt);

/* True if a branch may be as fast as the best plan. It is then searched, because of equal plans the first in order is kept. */
static inline bool conv_is_as_fast(const struct search *f, double cycles) { return cycles <= (double)f->best_cycles; }

/* Keeps the split if it is the fastest so far and within the memory bound. Returns false if its work alone takes longer than the fastest split, or
   its memory is over the bound; larger shares then fail in the same way. */
bool conv_price(struct search *f, const struct conv_candidate *c, const struct share *t);
/* The candidate's AMP as it runs with this many bytes of temporaries next to the operands. */
struct amp conv_crowded_amp(const struct search *f, const struct conv_candidate *c, uint64_t temp_bytes);
struct conv_cost conv_gathering(const struct search *f, const struct conv_candidate *c);
bool conv_pads_tiles(const struct search *f, const struct conv_candidate *c);
bool conv_plans_by_fours(const struct search *f, const struct conv_candidate *c);
struct conv_work conv_work_of(const struct conv_candidate *c, const struct share *t);    /* the work of the fullest tile's vertex in one step */

/* ==== conv_fill.c: what the chip pays for the split that was chosen ============================================= */

void conv_fill_plan(struct op_plan *out, struct search *f);
struct op_code conv_code(const struct search *f);         /* conv_code.c: the code of the best split */
/* Cycles that one step saves because vertices skip positions that meet only padding, on the tile that saves least. */
uint64_t conv_padding_cycles(const struct search *f, const struct conv_candidate *c, const struct share *t);

/* ==== conv_bound.c: lower bounds for every split below a point of the search ==================================== */

/* The dimensions of a share that are not split yet: OPEN_FIELD is the field alone, and each further value adds one dimension. */
enum open_splits { OPEN_FIELD, OPEN_KERNEL, OPEN_INPUTS, OPEN_OUTPUTS, OPEN_GROUPS };
struct least { double cycles, bytes; };         /* bytes is 0 if the cycles alone are more than the best plan's */
void conv_add_units(struct conv_candidate *c, const struct search *f);       /* must precede conv_least() */
struct least conv_least(const struct search *f, const struct conv_candidate *c, const struct share *t, double tiles, enum open_splits open);
/* The range of p_in * p_kernel, the number of tiles that share a sum, outside which no plan with shared sums is as good as the best. Both are
 * still open in t. */
struct conv_range { double low, high; };
struct conv_range conv_sum_range(struct search *f, const struct conv_candidate *c, const struct share *t, double tiles);

/* ==== conv_search.c: the fastest split ========================================================================== */

/* The bounds on temporary memory for which a plan is the best: from its own memory to the least memory of a plan that the bound left out. */
struct bounds { uint64_t least_bytes, most_bytes; };
uint64_t conv_bound_bytes(const struct chip *chip, const struct op_plan_options *opt);     /* available_memory x tile memory */

/* A plan without its prices, so that the same split can be priced on another chip. */
struct conv_choice {
    bool swapped;                       /* true: the shape of conv_shape_swapped() */
    size_t candidate;                   /* the candidate's number; its vertex and grains must match for the share to hold on another chip */
    enum vertex_kind vertex;
    uint64_t in_grain, out_grain;
    struct share share;
    struct bounds within;
    struct effort effort;               /* the effort of both forms of a product together */
};

/* Finds the fastest plan within the memory bound, for a product as it is or turned round; the bound doubles until a plan fits. Like the vendor's
 * planner, the search takes operands to lie where each plan wants them (graphcore/poplibs 7eac0f26 lib/poplin/ConvModel.cpp:1047-1067); moving those
 * that lie elsewhere is added afterwards. choice may be NULL. */
void conv_plan_search(struct op_plan *out, struct conv_choice *choice, const struct conv_shape *s, const struct chip *chip,
                      const struct op_plan_options *opt);
/* Prices a split that was chosen for another chip, whatever memory it takes. False if this chip has no such vertex or
 * too few tiles. */
bool conv_plan_as(struct op_plan *out, const struct conv_choice *choice, const struct conv_shape *s, const struct chip *chip,
                  const struct op_plan_options *opt);

/* The next larger p that changes ceil(n / p); 0 after the last. */
static inline uint64_t conv_next_split(uint64_t n, uint64_t p)
{
    uint64_t part = ceil_div(n, p);
    return part == 1 ? 0 : ceil_div(n, part - 1);
}

/* The fewest parts, at most `limit`, whose largest is as small as that of `limit` parts. */
static inline uint64_t conv_fewest_parts(uint64_t n, uint64_t limit, uint64_t *part)
{
    uint64_t most = min_u64(n, limit);
    assert(most > 0);
    *part = ceil_div(n, most);
    assert(*part > 0);
    return ceil_div(n, *part);
}

/* ==== conv_fully_connected.c: one layer, three passes =========================================================== */

/* groups x [rows, inner] times [inner, columns] */
struct layer_shape { uint32_t groups, rows, inner, columns; enum data_type type; };
struct plan_choice {
    struct conv_choice of_pass[N_OP_PASSES];
    uint64_t joint_inner;               /* parts of the inner dimension in the joint plan; 0: each pass has its own plan */
    struct bounds within;
};
/* Plans the three passes of a layer that is trained: each by itself, or jointly with weights that never move, whichever takes fewer cycles over all
 * three. `out` has one plan for each pass. */
void conv_plan_fully_connected(struct op_plan out[N_OP_PASSES], struct plan_choice *choice, const struct layer_shape *l, const struct chip *chip,
                               const struct op_plan_options *opt);
/* Prices the choice made for another chip, as conv_plan_as() does. */
bool conv_plan_fully_connected_as(struct op_plan out[N_OP_PASSES], const struct plan_choice *choice, const struct layer_shape *l,
                                  const struct chip *chip, const struct op_plan_options *opt);

/* ==== plan_cache.c ================================================================================================= */

/* Searches once for each shape, chip and options. If another chip's splits are given, it only prices those, once. */
void cached_conv_plan(struct op_plan *out, const struct conv_shape *s, const struct chip *chip,
                      const struct op_plan_options *opt, struct plan_cache *cache);
/* One pass of a layer whose weights are trained. */
void cached_fully_connected(struct op_plan *out, const struct matmul_shape *m, enum data_type type, enum op_pass pass, const struct chip *chip,
                            const struct op_plan_options *opt, struct plan_cache *cache);

#endif
