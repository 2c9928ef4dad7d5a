/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fold.c - contents of small tensors that follow from shapes and constants: what exporters compute to find a reshape's
 * sizes.
 *
 * A result is constant if all its inputs are; its contents are followed up to MOST_KNOWN elements. Integers are held
 * as doubles: exact to 2^53, and only ends of slices are larger ("to the last").
 */
#include "workloads/onnx/onnx_fold.h"
#include "workloads/onnx/onnx_shapes.h"
#include <math.h>
#include <string.h>

static const struct onnx_value *fold_input(const struct fold *f, uint32_t i) { return onnx_in(f->m, f->n, i); }

static bool whole_numbers(const struct fold *f) { return onnx_is_whole(f->out->type); }

/* The element of input k, which is broadcast, that element i of the result reads. */
static double operand(const struct fold *f, uint64_t i, uint32_t k)
{
    const struct onnx_value *v = fold_input(f, k);
    uint64_t at = 0, stride = 1;
    for (uint32_t d = 0; d < v->n_dims; d++) {
        uint64_t size = f->out->dims[f->out->n_dims - 1 - d], mine = v->dims[v->n_dims - 1 - d];
        at += (mine == 1 ? 0 : i % size) * stride;
        stride *= mine;
        i /= size;
    }
    return v->known[at];
}

/* ---- element i of the result --------------------------------------------------------------------------------- */

double fold_copy(const struct fold *f, uint64_t i) { return f->a[i]; }
double fold_not(const struct fold *f, uint64_t i) { return f->a[i] == 0; }
double fold_cast(const struct fold *f, uint64_t i) { return whole_numbers(f) ? trunc(f->a[i]) : f->out->type == ONNX_BOOL ? f->a[i] != 0 : f->a[i]; }
double fold_expand(const struct fold *f, uint64_t i) { return operand(f, i, 0); }
double fold_where(const struct fold *f, uint64_t i) { return operand(f, i, 0) != 0 ? operand(f, i, 1) : operand(f, i, 2); }
double fold_range(const struct fold *f, uint64_t i) { return f->a[0] + (double)i * f->c[0]; }
double fold_size(const struct fold *f, uint64_t i) { (void)i; return (double)onnx_elements(fold_input(f, 0)); }

/* Division of integers rounds towards zero. */
double fold_pair(const struct fold *f, uint64_t i)
{
    const struct op_attributes at = { .function = f->n->op->function };
    double y = op_value_of_two(f->n->op->kind, &at, operand(f, i, 0), operand(f, i, 1));
    return onnx_is(f->n, ONNX_OP_DIV) && whole_numbers(f) ? trunc(y) : y;
}

/* The remainder has the sign of the divisor, or of the dividend with fmod. */
double fold_mod(const struct fold *f, uint64_t i)
{
    double a = operand(f, i, 0), b = operand(f, i, 1);
    return onnx_flag(f->n, "fmod", false) ? fmod(a, b) : a - b * floor(a / b);
}

double fold_function(const struct fold *f, uint64_t i)
{
    const struct op_attributes at = onnx_function_attributes(f->n);
    return op_value_of_one(f->n->op->kind, &at, f->a[i]);
}

double fold_shape(const struct fold *f, uint64_t i)
{
    uint64_t first;
    onnx_shape_range(&first, f->n, fold_input(f, 0)->n_dims);
    return (double)fold_input(f, 0)->dims[first + i];
}

/* An element of an EyeLike: ones are on the k-th diagonal. */
double fold_eye(const struct fold *f, uint64_t i)
{
    uint64_t columns = f->out->dims[1];
    return (int64_t)(i % columns) - (int64_t)(i / columns) == onnx_int(f->n, "k", 0);
}

/* Folds element by element if the inputs that an element is computed from are known. Operators of any number of inputs need all of them. */
static bool fold_elements(struct fold *f)
{
    const struct onnx_operator *op = f->n->op;
    const double *known[] = { f->a, f->b, f->c };
    for (uint32_t k = 0; k < op->n_folded; k++)
        if (!known[k] || (op->n_inputs == ALL_INPUTS && f->n->n_inputs != op->n_folded))
            return false;
    for (uint64_t i = 0; i < f->n_out; i++)
        f->out->known[i] = op->element(f, i);
    return true;
}

/* ---- whole results --------------------------------------------------------------------------------------------- */

/* Dequantises with one scale, or one for each row along the axis. */
bool fold_dequantize(struct fold *f)
{
    uint32_t axis = 0;
    const struct onnx_value *x = fold_input(f, 0), *scale = fold_input(f, 1), *zero = fold_input(f, 2);
    if (!f->a || !f->b || (zero && !f->c) || onnx_int(f->n, "block_size", 0))
        return false;
    uint64_t n = onnx_elements(scale);
    if (n > 1 && (!onnx_axis(&axis, onnx_int(f->n, "axis", 1), x->n_dims) || x->dims[axis] != n || (zero && onnx_elements(zero) != n)))
        return false;
    uint64_t inner = onnx_elements_between(x, axis + 1, x->n_dims);
    for (uint64_t i = 0; i < f->n_out; i++)
        f->out->known[i] = (f->a[i] - (zero ? f->c[i / inner % n] : 0)) * f->b[i / inner % n];
    return true;
}

/* Keeps what is above or below a diagonal of the last two dimensions, as for causal masks. */
bool fold_triangle(struct fold *f)
{
    uint32_t n = f->out->n_dims;
    bool upper = onnx_flag(f->n, "upper", true);
    if (!f->a || n < 2 || (fold_input(f, 1) && !f->b))
        return false;
    int64_t columns = (int64_t)f->out->dims[n - 1], rows = (int64_t)f->out->dims[n - 2], k = f->b ? onnx_whole(f->b[0]) : 0;
    for (uint64_t i = 0; i < f->n_out; i++) {
        int64_t column = (int64_t)i % columns, row = (int64_t)i / columns % rows;
        f->out->known[i] = (upper ? column >= row + k : column <= row + k) ? f->a[i] : 0;
    }
    return true;
}

bool fold_constant(struct fold *f)
{
    static const char *const names[] = { "value_int", "value_float", "value_ints", "value_floats" };
    const Onnx__AttributeProto *p = onnx_attribute(f->n, "value");
    if (p && p->t) {
        double *contents = onnx_tensor_contents(p->t, f->all ? UINT64_MAX : MOST_KNOWN, f->m->arena);
        if (contents)
            memcpy(f->out->known, contents, f->n_out * sizeof *contents);
        return contents != NULL;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((p = onnx_attribute(f->n, names[i])))
            for (uint64_t k = 0; k < f->n_out; k++)
                f->out->known[k] = i == 0 ? (double)p->i : i == 1 ? (double)p->f : i == 2 ? (double)p->ints[k] : (double)p->floats[k];
    return true;
}

/* Follows only integers and single floats: in files stripped of their weights, tensors of one repeated float stand in place of the weights. */
bool fold_constant_of_shape(struct fold *f)
{
    const Onnx__AttributeProto *p = onnx_attribute(f->n, "value");
    double *x = p && p->t ? onnx_tensor_contents(p->t, 1, f->m->arena) : NULL;
    if ((p && !x) || (f->out->type == ONNX_FLOAT && f->n_out > 1 && !f->all))
        return false;
    for (uint64_t i = 0; i < f->n_out; i++)
        f->out->known[i] = x ? x[0] : 0;
    return true;
}

bool fold_concat(struct fold *f)
{
    uint32_t axis;
    if (!onnx_axis(&axis, onnx_int(f->n, "axis", 0), f->out->n_dims))
        return false;
    uint64_t outer = onnx_elements_between(f->out, 0, axis), row = onnx_elements_between(f->out, axis, f->out->n_dims), at = 0;
    for (uint32_t k = 0; k < f->n->n_inputs; k++) {
        const struct onnx_value *v = fold_input(f, k);
        uint64_t n = onnx_elements_between(v, axis, v->n_dims);
        for (uint64_t i = 0; i < outer * n && v->known; i++)
            f->out->known[i / n * row + at + i % n] = v->known[i];
        if (!v->known)
            return false;
        at += n;
    }
    return true;
}

/* The elements of the first input that lie `stride` apart along each dimension of the result. */
static bool fold_strided(struct fold *f, int64_t first, const int64_t *stride)
{
    for (uint64_t i = 0; i < f->n_out && f->a; i++) {
        uint64_t rest = i;
        int64_t at = first;
        for (uint32_t d = f->out->n_dims; d-- > 0; rest /= f->out->dims[d])
            at += (int64_t)(rest % f->out->dims[d]) * stride[d];
        f->out->known[i] = f->a[at];
    }
    return f->a != NULL;
}

bool fold_transpose(struct fold *f)
{
    struct onnx_list order;
    const struct onnx_value *x = fold_input(f, 0);
    int64_t stride[ONNX_MAX_DIMS];
    onnx_list(&order, f->m, f->n, "perm", NO_ID);
    for (uint32_t d = 0; d < x->n_dims; d++)
        stride[d] = (int64_t)onnx_elements_between(x, (order.n ? (uint32_t)order.at[d] : x->n_dims - 1 - d) + 1, x->n_dims);
    return fold_strided(f, 0, stride);
}

bool fold_gather(struct fold *f)
{
    const struct onnx_value *x = fold_input(f, 0);
    if (!f->a || !f->b || x->n_dims != 1)
        return false;
    for (uint64_t i = 0; i < f->n_out; i++) {
        double at = f->b[i] < 0 ? f->b[i] + (double)x->dims[0] : f->b[i];
        if (!(at >= 0 && at < (double)x->dims[0]))
            return false;
        f->out->known[i] = f->a[(uint64_t)at];
    }
    return true;
}

bool fold_slice(struct fold *f)
{
    struct onnx_cuts cuts;
    const struct onnx_value *x = fold_input(f, 0);
    int64_t stride[ONNX_MAX_DIMS], first = 0;
    if (!f->a || !onnx_cuts(&cuts, f->m, f->n))
        return false;
    for (uint32_t d = 0; d < x->n_dims; d++)
        stride[d] = (int64_t)onnx_elements_between(x, d + 1, x->n_dims);
    for (uint32_t i = 0; i < cuts.n; i++) {
        first += cuts.at[i].from * stride[cuts.at[i].axis];
        stride[cuts.at[i].axis] *= cuts.at[i].step;
    }
    return fold_strided(f, first, stride);
}

/* Folds a reduction over all elements. */
bool fold_reduction(struct fold *f)
{
    const struct onnx_operator *op = f->n->op;
    uint64_t n = onnx_elements(fold_input(f, 0));
    if (!f->a || f->n_out != 1 || !n)
        return false;
    double total = f->a[0];
    for (uint64_t i = 1; i < n; i++)
        total = op->sum ? total + f->a[i] : op->kind == OP_MUL ? total * f->a[i]
              : op->before == FUNCTION_NEGATE ? fmin(total, f->a[i]) : fmax(total, f->a[i]);
    f->out->known[0] = total;
    return true;
}

/* Row d holds coordinate d of each element that is not zero. */
bool fold_nonzero(struct fold *f)
{
    const struct onnx_value *x = fold_input(f, 0);
    uint64_t n = f->out->dims[1], found = 0;
    if (!f->a)
        return false;
    for (uint64_t i = 0; i < onnx_elements(x); i++) {
        uint64_t rest = i;
        if (f->a[i] == 0)
            continue;
        for (uint32_t d = x->n_dims; d-- > 0; rest /= x->dims[d])
            f->out->known[d * n + found] = (double)(rest % x->dims[d]);
        found++;
    }
    return true;
}

/* Folds a Split into its parts along the axis. */
bool fold_split(struct fold *f)
{
    const struct onnx_value *x = fold_input(f, 0);
    uint32_t axis;
    if (!f->a || !onnx_axis(&axis, onnx_int(f->n, "axis", 0), x->n_dims))
        return false;
    uint64_t inner = onnx_elements_between(x, axis + 1, x->n_dims), row = onnx_elements_between(x, axis, x->n_dims), begin = 0;
    for (uint32_t k = 0; k < f->n->n_outputs; k++) {
        struct onnx_value *part = onnx_out(f->m, f->n, k);
        if (!part)
            break;                      /* its size is unknown, and so is where the next one begins */
        uint64_t width = part->dims[axis] * inner, all = onnx_elements(part);
        part->known = ARENA_ARRAY(f->m->arena, double, all);
        for (uint64_t i = 0; i < all; i++)
            part->known[i] = x->known[i / width * row + begin + i % width];
        begin += width;
    }
    return true;
}

static bool from_constants(const struct onnx_model *m, const struct onnx_node *n)
{
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct onnx_value *v = onnx_in(m, n, i);
        if (v && !v->constant && !v->known)
            return false;
    }
    return true;
}

/* True for a Concat of a few numbers, some of them computed: a shape, or scales of a resize. */
static bool joins_sizes(const struct onnx_model *m, const struct onnx_node *n)
{
    bool computed = false;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        uint32_t by = onnx_in(m, n, i) ? onnx_in(m, n, i)->producer : NO_ID;
        computed |= by != NO_ID && !onnx_is(&m->nodes[by], ONNX_OP_CONSTANT);
    }
    return computed && onnx_is(n, ONNX_OP_CONCAT) && onnx_elements(onnx_out(m, n, 0)) <= ONNX_MAX_DIMS;
}

/* True for a parameter of the file, or a view of one. */
static bool views_parameter(const struct onnx_model *m, const struct onnx_value *v)
{
    while (v && !onnx_holds_parameters(m, v) && v->producer != NO_ID && onnx_has(&m->nodes[v->producer], ONNX_VIEWS))
        v = onnx_in(m, &m->nodes[v->producer], 0);
    return v && onnx_holds_parameters(m, v);
}

/* Parts, copies and rows of parameters, and their products with constants (a projection of position codes), stay operations, as parameters
 * are trained. */
static bool takes_parameters(const struct onnx_model *m, const struct onnx_node *n)
{
    bool kept = onnx_has(n, ONNX_REPEATS | ONNX_PICKS | ONNX_CUTS | ONNX_JOINS) || onnx_is(n, ONNX_OP_MATMUL);
    if (!kept || joins_sizes(m, n))
        return false;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (views_parameter(m, onnx_in(m, n, i)))
            return true;
    return false;
}

/* Nodes with several outputs are not followed, apart from splits. */
static bool can_fold(const struct onnx_node *n)
{
    return (n->op->fold || n->op->element) && (n->n_outputs == 1 || onnx_is(n, ONNX_OP_SPLIT));
}

static void fold_node(struct onnx_model *m, const struct onnx_node *n, bool all)
{
    const struct onnx_value *a = onnx_in(m, n, 0), *b = onnx_in(m, n, 1), *c = onnx_in(m, n, 2);
    struct onnx_value *out = onnx_out(m, n, 0);
    struct fold f = { m, n, out, a ? a->known : NULL, b ? b->known : NULL, c ? c->known : NULL, onnx_elements(out), all };
    out->known = ARENA_ARRAY(m->arena, double, f.n_out);
    if (!(n->op->fold ? n->op->fold : fold_elements)(&f))
        out->known = NULL;
}

void onnx_fold(struct onnx_model *m, const struct onnx_node *n)
{
    const struct onnx_value *out = onnx_out(m, n, 0);
    if (!out || onnx_has(n, ONNX_DRAWS) || (!onnx_has(n, ONNX_READS_SIZES) && !from_constants(m, n)) || takes_parameters(m, n))
        return;
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (onnx_out(m, n, i))
            onnx_out(m, n, i)->constant = true;
    if (can_fold(n) && onnx_elements(out) <= MOST_KNOWN)
        fold_node(m, n, false);
}

double *onnx_contents(struct onnx_model *m, uint32_t value_id)
{
    struct onnx_value *v = &m->values[value_id];
    if (!v->known && v->data)
        v->known = onnx_tensor_contents(v->data, UINT64_MAX, m->arena);
    const struct onnx_node *n = v->known || v->producer == NO_ID ? NULL : &m->nodes[v->producer];
    if (!n || !can_fold(n))
        return v->known;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (n->inputs[i] != NO_ID && !onnx_contents(m, n->inputs[i]))
            return NULL;
    fold_node(m, n, true);
    return v->known;
}
