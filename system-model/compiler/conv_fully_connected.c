/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conv_fully_connected.c - a fully connected layer in training: a plan for each pass, or one joint plan.
 *
 * The joint plan transposes the matmul: the weights are the convolution's input and stay in place, split over columns
 * and inner dimension; the activations are loaded into the AMP as its weights. With columns as field, one split serves
 * all passes: the data gradient swaps field and input channels, the weight gradient input and output channels
 * (PopLibs' fullyConnectedPass). It pays for layers of few rows; the search takes whichever is faster over the three
 * passes.
 */
#include "system-model/compiler/conv.h"

/* The matmul of one pass in the joint plan. moves: activations and gradients have to be moved from where other operations left them; false while a
 * plan is chosen, as the vendor's planner leaves this move out. */
static struct conv_shape joint_shape(uint32_t groups, uint32_t field, uint32_t in, uint32_t out, enum data_type type,
                                     enum op_pass pass, bool moves)
{
    struct conv_shape s = matmul_conv_shape(groups, out, in, field, type, PASS_FORWARD);
    s.pass = pass;
    s.weights_elsewhere = moves;        /* the activations or gradients, which are loaded as weights */
    s.in_elsewhere = moves && pass == PASS_BACKWARD_WEIGHT;
    return s;
}

/* The matmul of one pass with a plan of its own. Its first operand, the layer's input or the gradient of its output, is where another operation
 * left it. */
static struct conv_shape apart_shape(uint32_t groups, uint32_t rows, uint32_t inner, uint32_t columns, enum data_type type,
                                     enum op_pass pass)
{
    struct conv_shape s = matmul_conv_shape(groups, rows, inner, columns, type, pass);
    s.weights_elsewhere = true;
    return s;
}

/* Values that all joint splits have in common, for one pass and for the layer. */
struct joint { struct conv_shape s; struct search start; struct conv_candidate c; };
struct joint_layer { struct joint of_pass[N_OP_PASSES]; const struct layer_shape *shape; const struct chip *chip; uint64_t n_tiles, p_groups, n_grains; };

static void joint_start(struct joint *out, struct conv_shape s, const struct chip *chip, const struct op_plan_options *opt)
{
    struct amp amp = amp_for(chip, (enum data_type)s.type, opt->partials);
    struct candidates one;
    one.n = 0;
    out->s = s;
    out->start = conv_search_start(&out->s, chip, opt);
    conv_add_amp(&one, &out->s, chip, amp, amp.in_grain, max_u64(amp.units, amp.in_grain));
    out->c = one.items[0];
}

/* Prices one pass with its split given. False if it is over the memory bound or takes more than *left, from which its
 * cycles are subtracted. */
static bool joint_pass(struct op_plan *out, struct joint *j, uint64_t p_field, uint64_t p_in, uint64_t p_out, uint64_t p_groups, uint64_t *left)
{
    struct search f = j->start;
    const struct conv_shape *s = &j->s;
    const struct conv_candidate *c = &j->c;
    struct share t = { .p_groups = p_groups, .p_batch = 1, .p_field = p_field, .p_kernel = 1, .p_in = p_in, .p_out = p_out,
                       .serial_in = 1, .serial_out = 1, .groups = ceil_div(s->groups, p_groups), .batch = 1, .width = 1,
                       .height = ceil_div(s->field_h, p_field), .kernel_h = 1,
                       .in = ceil_div(ceil_div(s->in_chans, c->in_grain), p_in),
                       .out = ceil_div(ceil_div(s->out_chans, c->out_grain), p_out) };
    f.best_cycles = *left;
    conv_price(&f, c, &t);
    j->start.least_over_bytes = f.least_over_bytes;
    if (!f.best_candidate)
        return false;
    conv_fill_plan(out, &f);
    *left -= min_u64(*left, op_plan_cycles(out));
    return true;
}

/* The weights are in grains for the forward pass; the data gradient reads them transposed, by a copy on the tile. */
static void add_turned_weights(struct op_plan *p, uint64_t weight_bytes, const struct chip *chip, uint64_t n_tiles)
{
    uint64_t cycles = regroup_cycles(&vertex_table, chip, ceil_div(weight_bytes, n_tiles));
    p->compute_cycles += cycles;
    p->rearrange_cycles += cycles;
    p->sync_cycles += superstep_cycles(chip);
    p->n_supersteps++;
}

static uint64_t plans_cycles(const struct op_plan *p)
{
    return op_plan_cycles(&p[PASS_FORWARD]) + op_plan_cycles(&p[PASS_BACKWARD_DATA]) + op_plan_cycles(&p[PASS_BACKWARD_WEIGHT]);
}

static void joint_layer_start(struct joint_layer *out, const struct layer_shape *l, bool moves, const struct chip *chip, const struct op_plan_options *opt)
{
    joint_start(&out->of_pass[PASS_FORWARD], joint_shape(l->groups, l->columns, l->inner, l->rows, l->type, PASS_FORWARD, moves), chip, opt);
    joint_start(&out->of_pass[PASS_BACKWARD_DATA], joint_shape(l->groups, l->inner, l->columns, l->rows, l->type, PASS_BACKWARD_DATA, moves), chip, opt);
    joint_start(&out->of_pass[PASS_BACKWARD_WEIGHT], joint_shape(l->groups, l->columns, l->rows, l->inner, l->type, PASS_BACKWARD_WEIGHT, moves), chip, opt);
    out->shape = l;
    out->chip = chip;
    out->n_tiles = opt->n_tiles ? opt->n_tiles : chip->n_tiles;
    out->p_groups = min_u64(l->groups, out->n_tiles);
    out->n_grains = ceil_div(l->inner, amp_for(chip, l->type, opt->partials).in_grain);
}

/* Splits the inner dimension into p_inner parts and the columns over the tiles that are left. False if the three
 * passes take more than `left`, or too much memory. */
static bool joint_plans(struct op_plan out[N_OP_PASSES], struct joint_layer *l, uint64_t p_inner, uint64_t left)
{
    struct joint *j = l->of_pass;
    uint64_t columns_part, p_groups = l->p_groups, p_columns = conv_fewest_parts(l->shape->columns, l->n_tiles / p_groups / p_inner, &columns_part);
    if (!joint_pass(&out[PASS_FORWARD], &j[PASS_FORWARD], p_columns, p_inner, 1, p_groups, &left)
        || !joint_pass(&out[PASS_BACKWARD_DATA], &j[PASS_BACKWARD_DATA], p_inner, p_columns, 1, p_groups, &left)
        || !joint_pass(&out[PASS_BACKWARD_WEIGHT], &j[PASS_BACKWARD_WEIGHT], p_columns, 1, p_inner, p_groups, &left))
        return false;
    uint64_t weight_bytes = (uint64_t)l->shape->groups * l->shape->inner * l->shape->columns * data_type_bytes(l->shape->type);
    add_turned_weights(&out[PASS_BACKWARD_DATA], weight_bytes, l->chip, l->n_tiles);
    return true;
}

static void apart_shapes(struct conv_shape out[N_OP_PASSES], const struct layer_shape *l, bool moves)
{
    out[PASS_FORWARD] = apart_shape(l->groups, l->rows, l->inner, l->columns, l->type, PASS_FORWARD);
    out[PASS_BACKWARD_DATA] = apart_shape(l->groups, l->rows, l->columns, l->inner, l->type, PASS_BACKWARD_DATA);
    out[PASS_BACKWARD_WEIGHT] = apart_shape(l->groups, l->inner, l->rows, l->columns, l->type, PASS_BACKWARD_WEIGHT);
    for (int pass = 0; pass < N_OP_PASSES && !moves; pass++)
        out[pass].in_elsewhere = out[pass].weights_elsewhere = 0;
}

static struct bounds joint_bounds(const struct op_plan plans[N_OP_PASSES], const struct plan_choice *choice, const struct joint *joint)
{
    struct bounds b = { 0, UINT64_MAX };
    for (int pass = 0; pass < N_OP_PASSES; pass++) {
        const struct bounds *apart = &choice->of_pass[pass].within;
        b.least_bytes = max_u64(b.least_bytes, max_u64(apart->least_bytes, choice->joint_inner ? plans[pass].temp_bytes_per_tile : 0));
        b.most_bytes = min_u64(b.most_bytes, min_u64(apart->most_bytes, joint[pass].start.least_over_bytes - 1));
    }
    return b;
}

static void search_layer(struct op_plan out[N_OP_PASSES], struct plan_choice *choice, const struct layer_shape *l, const struct chip *chip,
                         const struct op_plan_options *opt)
{
    struct joint_layer joint;
    struct conv_shape apart[N_OP_PASSES];
    joint_layer_start(&joint, l, false, chip, opt);
    apart_shapes(apart, l, false);
    *choice = (struct plan_choice){ .joint_inner = 0 };
    for (int pass = 0; pass < N_OP_PASSES; pass++)
        conv_plan_search(&out[pass], &choice->of_pass[pass], &apart[pass], chip, opt);
    for (uint64_t p_inner = 1; p_inner && p_inner <= joint.n_tiles / joint.p_groups; p_inner = conv_next_split(joint.n_grains, p_inner)) {
        struct op_plan plans[N_OP_PASSES];
        if (!joint_plans(plans, &joint, p_inner, plans_cycles(out)) || plans_cycles(plans) >= plans_cycles(out))
            continue;
        memcpy(out, plans, sizeof plans);
        choice->joint_inner = p_inner;
    }
    choice->within = joint_bounds(out, choice, joint.of_pass);
}

static bool joint_as(struct op_plan out[N_OP_PASSES], uint64_t p_inner, const struct layer_shape *l, const struct chip *chip,
                     const struct op_plan_options *opt)
{
    struct joint_layer joint;
    joint_layer_start(&joint, l, true, chip, opt);
    for (int pass = 0; pass < N_OP_PASSES; pass++)
        joint.of_pass[pass].start.bound_bytes = UINT64_MAX;
    return p_inner <= joint.n_tiles / joint.p_groups && joint_plans(out, &joint, p_inner, UINT64_MAX);
}

bool conv_plan_fully_connected_as(struct op_plan out[N_OP_PASSES], const struct plan_choice *choice, const struct layer_shape *l,
                                  const struct chip *chip, const struct op_plan_options *opt)
{
    struct conv_shape apart[N_OP_PASSES];
    bool good = true;
    if (choice->joint_inner)
        return joint_as(out, choice->joint_inner, l, chip, opt);
    apart_shapes(apart, l, true);
    for (int pass = 0; pass < N_OP_PASSES && good; pass++)
        good = conv_plan_as(&out[pass], &choice->of_pass[pass], &apart[pass], chip, opt);
    return good;
}

void conv_plan_fully_connected(struct op_plan out[N_OP_PASSES], struct plan_choice *choice, const struct layer_shape *l, const struct chip *chip,
                               const struct op_plan_options *opt)
{
    search_layer(out, choice, l, chip, opt);
    bool good = conv_plan_fully_connected_as(out, choice, l, chip, opt);
    assert(good);                       /* the choice was made on this chip, which therefore has it */
    (void)good;
}
