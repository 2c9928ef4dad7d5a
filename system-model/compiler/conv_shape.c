/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conv_shape.c - the three passes of convolutions and matmuls in one form, and the vertices that may compute it.
 *
 * The data gradient swaps the channels. The weight gradient sums over batch and field, which become input channels,
 * and has each kernel element and input channel as a row. A vertex needs channels in grains; a partial grain is
 * padded, and the padding counts. Kernel columns, or all kernel elements, may become input channels (im2col,
 * expandDims of poplin), however many there are. The order AMP, slices, HMAC, outer product is that of poplin's
 * planner (PopLibs 7eac0f2).
 * If input channels come in whole grains of the AMP, a kernel element is another grain of the same positions: the
 * whole input is laid out so once, spread over the tiles, and no tile copies its own share. Neighbouring rows of the
 * images then form one row (conv_price.c). Measured, 3x3 kernels over 5 x 5 to 13 x 13 positions on GC2
 * (arXiv:1912.03413 Table 5.5) are up to a fifth faster than with a list of rows for each column.
 * A slice vertex takes four channels: four groups of one, two of two, or one of four (poplin's convGroupsPerGroup).
 * Groups of few channels are left to vertices without the AMP's grains, as measured: ResNeXt's groups of 4 on GC2
 * reach 0.4 to 2.6 TFlop/s (arXiv:1912.03413 Table 5.5) where padded AMP blocks would come to 7 to 18, and groups of 8
 * are at the AMP's 2.5 to 36.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/conv.h"

uint64_t conv_axis_met(const struct conv_axis *x, uint64_t first, uint64_t n, uint64_t from_kernel, uint64_t to_kernel)
{
    uint64_t begin = x->pad_before, end = begin + x->in, from = from_kernel * x->dilation, to = to_kernel * x->dilation;
    uint64_t low = begin > to ? ceil_div(begin - to, x->stride) : 0;
    uint64_t high = end > from ? ceil_div(end - from, x->stride) : 0;
    low = max_u64(low, first);
    high = min_u64(high, first + n);
    return high > low ? high - low : 0;
}

static bool is_1x1(const struct conv_shape *s) { return s->kernel_h == 1 && s->kernel_w == 1; }

static uint32_t stride_across(const struct conv_params *p) { return p->stride_w ? p->stride_w : p->stride; }
static uint32_t dilation_of(const struct conv_params *p) { return p->dilation ? p->dilation : 1; }

/* The input elements from one sum of the gradient to the next. Zeros are put between the sums, after all else, for the elements that a kernel of
   one element has not met (poplin's dilatePostConv). */
static uint32_t gradient_stride(uint32_t stride, uint32_t kernel) { return kernel > 1 ? stride : 1; }

/* The gradient to the input multiplies the same pairs of output and kernel element as the convolution. */
static struct conv_shape data_gradient_shape(const struct conv_params *p)
{
    return (struct conv_shape){
        .groups = p->groups, .batch = p->batch, .field_h = p->out_h, .field_w = p->out_w,
        .kernel_h = p->kernel_h, .kernel_w = p->kernel_w, .in_chans = p->out_chans, .out_chans = p->in_chans,
        .in_stride_h = 1, .in_stride_w = 1, .out_stride_h = gradient_stride(p->stride, p->kernel_h),
        .out_stride_w = gradient_stride(stride_across(p), p->kernel_w), .in_h = p->out_h, .in_w = p->out_w, .in_expand = 1,
        .before_h = p->pad_h, .before_w = p->pad_w, .met_h = p->in_h, .met_w = p->in_w, .dilation = dilation_of(p),
        .type = p->type, .pass = PASS_BACKWARD_DATA, .rearrange_weights = true,
    };
}

/* The reduction runs over batch and field; each kernel element and input channel is a row of the result. The inner groups of the result are of output
 * channels, those of the weights, to which it is added, of input channels (PopLibs sdk 2.3.0 lib/poplin/ConvModel.cpp, outputShouldBeSwapped;
 * lib/popops/ScaledAdd.cpp, regroupIfBeneficial). */
static struct conv_shape weight_gradient_shape(const struct conv_params *p)
{
    uint32_t kernel = p->kernel_h * p->kernel_w;
    uint32_t expand = kernel / (p->stride * stride_across(p));
    return (struct conv_shape){
        .groups = p->groups, .batch = 1, .field_h = p->in_chans * kernel, .field_w = 1,
        .kernel_h = 1, .kernel_w = 1, .in_chans = (uint64_t)p->batch * p->out_h * p->out_w, .out_chans = p->out_chans,
        .in_stride_h = 1, .in_stride_w = 1, .out_stride_h = 1, .out_stride_w = 1, .in_h = p->in_chans * kernel, .in_w = 1, .dilation = 1,
        .in_expand = expand ? expand : 1, .type = p->type, .pass = PASS_BACKWARD_WEIGHT, .rearrange_in = true, .rearrange_weights = true, .rearrange_out = true,
        .in_elsewhere = true, .weights_elsewhere = true,      /* the change of layout spreads them evenly */
    };
}

struct conv_shape conv_shape_of_pass(const struct conv_params *p, enum op_pass pass)
{
    if (pass == PASS_BACKWARD_DATA)
        return data_gradient_shape(p);
    if (pass == PASS_BACKWARD_WEIGHT)
        return weight_gradient_shape(p);
    return (struct conv_shape){
        .groups = p->groups, .batch = p->batch, .field_h = p->out_h, .field_w = p->out_w,
        .kernel_h = p->kernel_h, .kernel_w = p->kernel_w, .in_chans = p->in_chans, .out_chans = p->out_chans,
        .in_stride_h = p->stride, .in_stride_w = stride_across(p), .out_stride_h = 1, .out_stride_w = 1,
        .in_h = p->in_h, .in_w = p->in_w, .in_expand = 1,
        .before_h = p->pad_h, .before_w = p->pad_w, .met_h = p->in_h, .met_w = p->in_w, .dilation = dilation_of(p),
        .type = p->type, .pass = PASS_FORWARD,
    };
}

/* Rows, inner dimension and columns are those of the pass itself: for a gradient, the caller has already swapped the operands. PopLibs' planner prefers
 * this form, whose operands it takes to lie as they are used, but for the weights in a gradient's pass and the result of a weight gradient (7eac0f26
 * lib/poplin/MatMul.cpp:251-276, ConvModel.cpp:1372-1392, ConvPlan.cpp:736-751). */
struct conv_shape matmul_conv_shape(uint32_t groups, uint32_t rows, uint32_t inner, uint32_t columns, enum data_type type,
                                    enum op_pass pass)
{
    return (struct conv_shape){
        .groups = groups, .batch = 1, .field_h = columns, .field_w = 1, .kernel_h = 1, .kernel_w = 1,
        .in_chans = inner, .out_chans = rows, .in_stride_h = 1, .in_stride_w = 1, .out_stride_h = 1, .out_stride_w = 1,
        .in_h = columns, .in_w = 1, .dilation = 1, .in_expand = 1, .type = type, .pass = pass, .rearrange_in = pass != PASS_FORWARD,
        .rearrange_out = pass == PASS_BACKWARD_WEIGHT,
        .in_elsewhere = pass == PASS_BACKWARD_WEIGHT, .weights_elsewhere = pass == PASS_BACKWARD_WEIGHT, .columns_are_field = true,
    };
}

/* The transpose of the result is the product of the transposes in reverse order: rows become columns, and the operands change places. All tensors
 * are laid out anew for this form, but for the weight gradient of a convolution, which then has the weights' layout. */
bool conv_shape_swapped(struct conv_shape *out, const struct conv_shape *s)
{
    bool has_strides = s->in_stride_h > 1 || s->in_stride_w > 1 || s->out_stride_h > 1 || s->out_stride_w > 1;
    if (!is_1x1(s) || s->batch > 1 || s->field_w > 1 || has_strides || s->in_expand > 1 || s->in_h != s->field_h)
        return false;
    *out = *s;
    out->field_h = out->in_h = s->out_chans;
    out->out_chans = s->field_h;
    out->in_elsewhere = s->weights_elsewhere;
    out->weights_elsewhere = s->in_elsewhere;
    out->rearrange_in = out->rearrange_weights = true;
    out->rearrange_out = s->columns_are_field || s->pass != PASS_BACKWARD_WEIGHT;
    out->columns_are_field = !s->columns_are_field;
    return true;
}

uint64_t conv_shape_mac(const struct conv_shape *s)
{
    return shape_positions(s) * s->groups * s->kernel_h * s->kernel_w * s->in_chans * s->out_chans;
}

/* ---- candidates: a vertex, its grains, and the shape it sees --------------------------------------------------- */

static struct conv_candidate *add_candidate(struct candidates *list, enum vertex_kind vertex, const struct conv_shape *s)
{
    assert(list->n < MAX_CANDIDATES);
    struct conv_candidate *c = &list->items[list->n];
    *c = (struct conv_candidate){ .vertex = vertex, .s = *s, .filter_height = 1, .passes = 1,
                             .flat = is_1x1(s), .order = list->n++ };
    return c;
}

/* Results are in groups of this many channels. The planner charges a regrouping for groups of any other size (outChanGroup of poplin). */
enum { RESULT_GROUP = 16 };

/* The passes of a grain of output channels: several if it is wider than the AMP's units. In a narrower grain only as many units work as it has
   channels. */
void conv_add_amp(struct candidates *list, const struct conv_shape *s, const struct chip *chip, struct amp amp, uint64_t in_grain,
                  uint64_t out_grain)
{
    struct conv_candidate *c = add_candidate(list, is_1x1(s) ? VERTEX_AMP_1X1 : VERTEX_AMP_NX1, s);
    c->amp = out_grain < amp.units ? amp_with_units(chip, amp, out_grain) : amp;
    c->passes = ceil_div(out_grain, amp.units);
    c->in_grain = in_grain;
    c->out_grain = out_grain;
    if (!c->flat)
        c->filter_height = amp.in_grain / in_grain;
}

enum { NARROW = 8 };

/* The next narrower grain, or 0 after 8. Grains are 8, 16, 32 channels and so on. */
static uint64_t narrower(uint64_t grain)
{
    uint64_t next = NARROW;
    while (2 * next < grain)
        next *= 2;
    return grain > NARROW ? next : 0;
}

/* Adds candidates whose grain of output channels takes all units of the AMP, or fewer if that pads fewer channels. */
static void add_out_grains(struct candidates *list, const struct conv_shape *s, const struct chip *chip, struct amp amp, uint64_t in_grain)
{
    uint64_t wide = max_u64(amp.units, min_u64(amp.in_grain, RESULT_GROUP));
    for (uint64_t grain = wide; grain > 0; grain = narrower(grain))
        conv_add_amp(list, s, chip, amp, in_grain, grain);
}

static void add_amp_grains(struct candidates *list, const struct conv_shape *s, const struct chip *chip, struct amp amp)
{
    add_out_grains(list, s, chip, amp, amp.in_grain);
    if (s->in_chans > amp.in_grain / 2 || s->kernel_h == 1 || s->type != TYPE_FP16)
        return;
    add_out_grains(list, s, chip, amp, s->in_chans <= amp.in_grain / 4 ? 4 : 8);        /* 4 or 2 kernel rows share a pass */
}

static struct conv_shape columns_as_channels(const struct conv_shape *s)
{
    struct conv_shape e = *s;
    e.in_chans *= s->kernel_w;
    e.kernel_w = e.in_stride_w = 1;
    e.in_w = s->field_w;
    e.before_w = 0;                     /* the copied columns include the zeros of the padding */
    e.met_w = s->field_w * s->out_stride_w;
    return e;
}

/* Kernel columns become input channels; then all kernel elements do. */
static void add_expanded(struct candidates *list, const struct conv_shape *s, const struct chip *chip, struct amp amp)
{
    if (ONLY_HALVES_JOINED && s->type != TYPE_FP16 && s->in_chans % 4 != 0)
        return;
    struct conv_shape e = columns_as_channels(s);
    if (s->kernel_h > 1 && s->kernel_w > 1)
        add_amp_grains(list, &e, chip, amp);
    e.in_chans *= s->kernel_h;
    e.kernel_h = 1;
    e.in_h = s->field_h;
    e.in_stride_h = 1;
    add_amp_grains(list, &e, chip, amp);
}

enum { HMAC_BYTES = 8 };        /* input channels fill words of the memory */

static void add_hmac(struct candidates *list, const struct conv_shape *s, struct amp amp)
{
    struct conv_candidate *c = add_candidate(list, VERTEX_HMAC, s);
    c->in_grain = HMAC_BYTES / amp.element_bytes;
    c->out_grain = 1;
    c->amp = amp;
    c->amp.partial_bytes = 4;
}

/* SLIC vertices came with the second generation of the chip (16 half units). */
static bool has_slic(const struct chip *chip) { return chip->conv_units_fp16_fp16 >= 16; }

static void add_slic(struct candidates *list, const struct conv_shape *s, const struct chip *chip, struct amp amp)
{
    if (!has_slic(chip) || s->groups == 1 || s->in_chans > 4 || s->out_chans > 4 || s->type != TYPE_FP16 || s->kernel_w == 1
        || s->in_stride_h > 2 || s->in_stride_w > 2)
        return;
    struct conv_shape e = *s;
    uint32_t together = s->in_chans == s->out_chans ? 4 / s->out_chans : 1;      /* groups of one or two channels fill a vertex's four */
    if (together > 1) {
        e.groups = (uint32_t)ceil_div(s->groups, together);
        e.in_chans = e.out_chans = 4;
    }
    struct conv_candidate *c = add_candidate(list, VERTEX_SLIC, &e);
    c->in_grain = c->out_grain = 4;
    c->amp = amp;
}

/* Groups that fill less than half of the AMP's input chain are left to other vertices (file head). */
static void add_vertices(struct candidates *list, const struct conv_shape *s, const struct chip *chip, const struct op_plan_options *opt)
{
    struct amp amp = amp_for(chip, (enum data_type)s->type, opt->partials);
    list->n = 0;
    bool sparse = s->groups > 1 && CHAIN_PARTS_IN_USE * s->in_chans < amp.in_grain && s->type != TYPE_FP8;
    if (!sparse)
        add_amp_grains(list, s, chip, amp);
    if (!sparse && !is_1x1(s))
        add_expanded(list, s, chip, amp);
    add_slic(list, s, chip, amp);
    if (s->type == TYPE_FP8)            /* quarters are multiplied by the AMP alone */
        return;
    uint64_t lanes = HMAC_BYTES / amp.element_bytes;
    add_hmac(list, s, amp);
    if (s->groups > 1 && s->kernel_w > 1) {
        struct conv_shape e = columns_as_channels(s);
        add_hmac(list, &e, amp);
    }
    if (s->in_chans == 1 && is_1x1(s)) {
        struct conv_candidate *c = add_candidate(list, VERTEX_OUTER_PRODUCT, s);
        c->in_grain = 1;
        c->out_grain = lanes;
        c->amp = amp;
        c->amp.partial_bytes = amp.element_bytes;
    }
}

/* A strided 1x1 kernel over only those elements of the input that it meets: they are contiguous, and form one row of
 * positions. */
static struct conv_shape met_alone(const struct conv_shape *s)
{
    struct conv_shape e = *s;
    if (!is_1x1(s) || (s->in_stride_h == 1 && s->in_stride_w == 1))
        return e;
    e.in_stride_h = e.in_stride_w = 1;
    e.in_h = s->field_h;
    e.in_w = s->field_w;
    return e;
}

/* True if the channels of a grain lie apart and are brought together before the loop. A chain of quarters takes 32 channels of a position. The operation
 * that computed them stores them in groups of 16, so a grain is in two groups, often on two tiles. An operand that is rearranged has its grains in one
 * piece. */
static bool lies_apart(const struct conv_shape *s, uint64_t in_grain)
{
    return QUARTERS_GATHERED && s->in_elsewhere && !s->rearrange_in && in_grain > RESULT_GROUP && s->in_chans > RESULT_GROUP;
}

/* Candidates that join kernel elements into channels exist for the AMP alone: it reads its channels in groups, each with all positions, so that a group of any
 * kernel element can be sent to it. A dot product of HMAC reads all channels of a position in order. */
void conv_candidates(struct candidates *list, const struct conv_shape *s, const struct chip *chip, const struct op_plan_options *opt)
{
    const struct conv_shape met = met_alone(s);
    bool strided = met.in_stride_h != s->in_stride_h || met.in_stride_w != s->in_stride_w;
    add_vertices(list, &met, chip, opt);
    for (size_t i = 0; i < list->n; i++) {
        struct conv_candidate *c = &list->items[i];
        bool is_amp = c->vertex == VERTEX_AMP_1X1 || c->vertex == VERTEX_AMP_NX1;
        c->group_chans = s->in_chans;
        c->joined = strided || c->s.kernel_h != s->kernel_h || c->s.kernel_w != s->kernel_w;
        c->gathered = is_amp && (c->joined ? s->in_chans % c->in_grain == 0 : lies_apart(s, c->in_grain));
    }
}
