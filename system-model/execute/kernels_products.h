/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernels_products.h - matrix products, convolutions, and pools, whose windows slide in the same way. */
#ifndef KERNELS_PRODUCTS_H
#define KERNELS_PRODUCTS_H
#include "system-model/execute/kernels_operands.h"

/* Forward c = a b; data: the gradient of a; weight: that of b. b is stored turned if the operation says so. */
static inline void run_matmul(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    struct matmul_shape s = op_matmul_shape(r->g, f);
    bool forward = r->op->pass == PASS_FORWARD, data = r->op->pass == PASS_BACKWARD_DATA, turned = f->at->transpose_b;
    for (uint64_t g = 0; g < s.groups; g++) {
        struct matrix a = { (forward ? in(r, 0) : data ? out(r, 0) : in(r, 1)) + g * s.rows * s.inner, s.inner, false };
        struct matrix b = { (forward || data ? in(r, 1) : out(r, 0)) + g * s.inner * s.columns, turned ? s.inner : s.columns, turned };
        struct matrix c = { (forward ? out(r, 0) : in(r, 0)) + g * s.rows * s.columns, s.columns, false };
        struct matrix a_turned = { a.x, a.stride, true }, b_turned = { b.x, b.stride, !turned }, c_turned = { c.x, c.stride, true };
        if (forward)
            product_add(c, a, b, s.rows, s.inner, s.columns, &r->way);
        else if (data)
            product_add(a, c, b_turned, s.rows, s.columns, s.inner, &r->way);
        else if (turned)
            product_add((struct matrix){ b.x, b.stride, false }, c_turned, a, s.columns, s.rows, s.inner, &r->way);
        else
            product_add(b, a_turned, c, s.inner, s.rows, s.columns, &r->way);
    }
}

/* The dense operand, the blocks and the result, with the steps between elements of the inner or outer dimension, and between lines of the dense side. */
struct sparse_run { real *x, *w, *y; uint64_t x_step, y_step, x_line, y_line, n_lines; enum op_pass pass; };

static inline void add_sparse_element(const struct sparse_run *u, real *w, uint64_t inner, uint64_t outer)
{
    real *x = u->x + inner * u->x_step, *y = u->y + outer * u->y_step;
    for (uint64_t n = 0; n < u->n_lines; n++, x += u->x_line, y += u->y_line)
        if (u->pass == PASS_FORWARD)
            *y += *x * *w;
        else if (u->pass == PASS_BACKWARD_DATA)
            *x += *y * *w;
        else
            *w += *x * *y;
}

/* The rows of the sparse matrix are the outer dimension if it is the first operand, else the inner one. Places and blocks count by rows. */
static inline void run_sparse_matmul(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct sparsity *s = &f->at->sparse;
    bool forward = r->op->pass == PASS_FORWARD, data = r->op->pass == PASS_BACKWARD_DATA, first = f->at->sparse_first;
    uint64_t n_lines = tensor_elements(&r->g->tensors[f->inputs[0]]) / s->inner, n_blocks = r->g->tensors[f->inputs[1]].dims[0], b = s->block;
    struct sparse_run u = { forward ? in(r, 0) : data ? out(r, 0) : in(r, 1), forward || data ? in(r, 1) : out(r, 0), forward ? out(r, 0) : in(r, 0),
                            first ? n_lines : 1, first ? n_lines : 1, first ? 1 : s->inner, first ? 1 : s->outer, n_lines, r->op->pass };
    for (uint64_t i = 0; i < n_blocks * b * b; i++) {
        uint64_t place = sparse_place(s, i / (b * b), n_blocks), columns = (first ? s->inner : s->outer) / b;
        uint64_t row = place / columns * b + i / b % b, column = place % columns * b + i % b;
        add_sparse_element(&u, u.w + i, first ? column : row, first ? row : column);
    }
}

/* Copies the pieces of a single replica, which keeps them all: graph_is_executable() refuses more replicas. */
static inline void run_all_to_all(const struct run *r)
{
    memcpy(out(r, 0), in(r, 0), n_out(r) * sizeof(real));
}

/* The gradient of |a - b| by a is the sign of a - b; by b it is the opposite sign. */
static inline void run_distance(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *ta = &r->g->tensors[f->inputs[0]], *tb = &r->g->tensors[f->inputs[1]];
    bool forward = r->op->pass == PASS_FORWARD;
    uint64_t width = ta->dims[1], n_b = tb->dims[0];
    const real *a = forward ? in(r, 0) : in(r, 1), *b = forward ? in(r, 1) : in(r, 2);
    for (uint64_t i = 0; i < ta->dims[0] * n_b * width; i++) {
        uint64_t row = i / width / n_b, other = i / width % n_b, k = i % width;
        real d = a[row * width + k] - b[other * width + k];
        if (forward)
            out(r, 0)[row * n_b + other] += d < 0 ? -d : d;
        for (uint32_t o = 0; o < r->op->n_outputs && !forward; o++) {
            real slope = in(r, 0)[row * n_b + other] * (real)((d > 0) - (d < 0));
            if (which_input(r, o) == 0)
                out(r, o)[row * width + k] += slope;
            else
                out(r, o)[other * width + k] -= slope;
        }
    }
}

/* Window positions of convolutions and pools: y[b, i, j] sees x[b, i stride + p dilation - pad, j stride + q dilation
 * - pad]. */
static inline bool window_at(uint64_t *at, const struct tensor *x, const struct op_attributes *w, uint64_t b, uint64_t i,
                             uint64_t j, uint64_t p, uint64_t q)
{
    uint64_t step = w->dilation ? w->dilation : 1, stride_w = w->stride_w ? w->stride_w : w->stride;
    int64_t h = (int64_t)(i * w->stride + p * step) - (w->kernel_h > 1 ? (int64_t)w->pad : 0) - (int64_t)w->zeros[0];
    int64_t v = (int64_t)(j * stride_w + q * step) - (w->kernel_w > 1 ? (int64_t)w->pad : 0) - (int64_t)w->zeros[1];
    if (h < 0 || v < 0 || h >= (int64_t)x->dims[1] || v >= (int64_t)x->dims[2])
        return false;
    *at = ((b * x->dims[1] + (uint64_t)h) * x->dims[2] + (uint64_t)v) * x->dims[3];
    return true;
}

/*
 * A convolution between x and y with kernel w, in any of its passes: per image and group the windows of x are a matrix [positions, window],
 * which times the kernel [window, channels of y] is y. A transposed convolution is the data pass of the convolution from its result to its input.
 */
enum conv_pass { CONV_Y, CONV_X, CONV_W };
struct conv {
    const struct op_attributes *at;
    const struct tensor *x, *w, *y;
    real *vx, *vw, *vy, *windows;       /* `windows` has the windows of one image and one group of channels */
    enum conv_pass pass;
    uint64_t positions, window, in_chans, out_chans;    /* channels of one group */
    const struct product_way *way;
};

/* The windows are x itself: a kernel of one element, without strides or padding. */
static inline bool windows_are_x(const struct conv *c)
{
    return c->w->dims[0] == 1 && c->w->dims[1] == 1 && c->y->dims[1] == c->x->dims[1] && c->y->dims[2] == c->x->dims[2]
        && c->at->stride == 1 && c->at->stride_w <= 1 && c->at->zeros[0] == 0 && c->at->zeros[1] == 0;
}

enum { WORTH_SHARING = 1 << 18 };      /* elements to move; for fewer, a thread takes longer to start */
struct conv_rows { const struct conv *c; uint64_t image, first_channel; };

/* Copies the windows of one row of the image's positions out of x. */
static inline void gather_row(void *user, size_t row, uint32_t worker)
{
    (void)worker;
    const struct conv_rows *u = user;
    const struct conv *c = u->c;
    real *to = c->windows + row * c->y->dims[2] * c->window;
    uint64_t at;
    for (uint64_t j = 0; j < c->y->dims[2]; j++)
        for (uint64_t p = 0; p < c->w->dims[0]; p++)
            for (uint64_t q = 0; q < c->w->dims[1]; q++, to += c->in_chans)
                if (window_at(&at, c->x, c->at, u->image, row, j, p, q))
                    memcpy(to, c->vx + at + u->first_channel, c->in_chans * sizeof *to);
                else
                    memset(to, 0, c->in_chans * sizeof *to);
}

/* Adds each element of the windows to the element of x that it was copied from, in the order of positions. */
static inline void scatter_windows(const struct conv *c, uint64_t image, uint64_t first_channel)
{
    const real *from = c->windows;
    uint64_t at;
    for (uint64_t position = 0; position < c->positions; position++)
        for (uint64_t p = 0; p < c->w->dims[0]; p++)
            for (uint64_t q = 0; q < c->w->dims[1]; q++, from += c->in_chans)
                if (window_at(&at, c->x, c->at, image, position / c->y->dims[2], position % c->y->dims[2], p, q))
                    for (uint64_t k = 0; k < c->in_chans; k++)
                        c->vx[at + first_channel + k] += from[k];
}

/* One image and group, or all images at once where the windows are x. */
static inline void conv_product(const struct conv *c, uint64_t image, uint64_t group, uint64_t n_images)
{
    bool direct = windows_are_x(c);
    uint64_t first = group * c->in_chans, rows = c->positions * n_images;
    struct conv_rows u = { c, image, first };
    struct matrix windows = { direct ? c->vx + image * c->positions * c->x->dims[3] + first : c->windows, direct ? c->x->dims[3] : c->window, false };
    struct matrix w = { c->vw + group * c->out_chans, c->w->dims[3], false };
    struct matrix y = { c->vy + image * c->positions * c->y->dims[3] + group * c->out_chans, c->y->dims[3], false };
    struct matrix w_turned = { w.x, w.stride, true }, windows_turned = { windows.x, windows.stride, true };
    if (!direct && c->pass != CONV_X)
        work_in_pieces(gather_row, &u, c->y->dims[1], c->positions * c->window < WORTH_SHARING ? 1 : c->way->n_threads);
    if (!direct && c->pass == CONV_X)
        memset(c->windows, 0, c->positions * c->window * sizeof *c->windows);
    if (c->pass == CONV_Y)
        product_add(y, windows, w, rows, c->window, c->out_chans, c->way);
    else if (c->pass == CONV_W)
        product_add(w, windows_turned, y, c->window, rows, c->out_chans, c->way);
    else
        product_add(windows, y, w_turned, rows, c->out_chans, c->window, c->way);
    if (!direct && c->pass == CONV_X)
        scatter_windows(c, image, first);
}

static inline void run_conv(const struct run *r)
{
    struct arena a = { 0 };
    const struct op *f = op_forward(r->g, r->op);
    bool turned = f->kind == OP_CONV_TRANSPOSE, weight = r->op->pass == PASS_BACKWARD_WEIGHT;
    bool makes_y = r->op->pass == (turned ? PASS_BACKWARD_DATA : PASS_FORWARD);
    real *first = r->op->pass == PASS_FORWARD ? in(r, 0) : weight ? in(r, 1) : out(r, 0);
    real *second = r->op->pass == PASS_FORWARD ? out(r, 0) : in(r, 0);
    struct conv c = { .at = f->at, .w = &r->g->tensors[f->inputs[1]], .pass = weight ? CONV_W : makes_y ? CONV_Y : CONV_X,
                      .x = &r->g->tensors[turned ? f->outputs[0] : f->inputs[0]], .vx = turned ? second : first,
                      .y = &r->g->tensors[turned ? f->inputs[0] : f->outputs[0]], .vy = turned ? first : second,
                      .vw = weight ? out(r, 0) : in(r, 1), .way = &r->way };
    c.positions = c.y->dims[1] * c.y->dims[2];
    c.in_chans = c.w->dims[2], c.out_chans = c.w->dims[3] / f->at->groups;
    c.window = c.w->dims[0] * c.w->dims[1] * c.in_chans;
    bool direct = windows_are_x(&c);
    c.windows = direct ? NULL : ARENA_ARRAY(&a, real, c.positions * c.window);
    for (uint64_t group = 0; group < f->at->groups; group++)
        for (uint64_t image = 0; image < (direct ? 1 : c.y->dims[0]); image++)
            conv_product(&c, image, group, direct ? c.y->dims[0] : 1);
    arena_free(&a);
}

/* Maximum: forward [x], backward [gradient, x, y]. Average: backward [gradient]; padding counts in the mean if at.counts_padding. */
struct pool { const struct run *r; const struct op_attributes *at; const struct tensor *x, *y; bool most, forward; };

/* The elements of x in the window of one position, by their places in channel 0. */
static inline uint64_t pool_places(uint64_t *places, const struct pool *p, uint64_t position)
{
    uint64_t n = 0, j = position % p->y->dims[2], i = position / p->y->dims[2] % p->y->dims[1], b = position / p->y->dims[2] / p->y->dims[1];
    for (uint64_t k = 0; k < (uint64_t)p->at->kernel_h * p->at->kernel_w; k++)
        n += window_at(&places[n], p->x, p->at, b, i, j, k / p->at->kernel_w, k % p->at->kernel_w);
    return n;
}

static inline void pool_forward(const struct pool *p, const uint64_t *places, uint64_t n, uint64_t e, uint64_t c, double counted)
{
    const real *x = in(p->r, 0);
    double best = -INFINITY, sum = 0;
    for (uint64_t k = 0; k < n; k++) {
        best = fmax(best, x[places[k] + c]);
        sum += x[places[k] + c];
    }
    out(p->r, 0)[e] = (real)(p->most ? best : sum / counted);
}

/* The first of equal largest elements gets the gradient. */
static inline void pool_backward(const struct pool *p, const uint64_t *places, uint64_t n, uint64_t e, uint64_t c, double counted)
{
    real dy = in(p->r, 0)[e], *dx = out(p->r, 0);
    for (uint64_t k = 0; k < n; k++) {
        if (!p->most)
            dx[places[k] + c] += (real)(dy / counted);
        else if (in(p->r, 1)[places[k] + c] == in(p->r, 2)[e]) {
            dx[places[k] + c] += dy;
            return;
        }
    }
}

static inline void run_pool(const struct run *r)
{
    struct arena a = { 0 };
    const struct op *f = op_forward(r->g, r->op);
    struct pool p = { r, f->at, &r->g->tensors[f->inputs[0]], &r->g->tensors[f->outputs[0]], f->kind == OP_MAX_POOL, r->op->pass == PASS_FORWARD };
    uint64_t window = (uint64_t)f->at->kernel_h * f->at->kernel_w, channels = p.y->dims[3];
    uint64_t *places = ARENA_ARRAY(&a, uint64_t, window + 1);
    for (uint64_t position = 0; position < tensor_elements(p.y) / channels; position++) {
        uint64_t n = pool_places(places, &p, position);
        for (uint64_t c = 0; c < channels; c++)
            (p.forward ? pool_forward : pool_backward)(&p, places, n, position * channels + c, c, (double)(f->at->counts_padding ? window : n));
    }
    arena_free(&a);
}

static inline double nearest_place(enum resize_nearest how, double at)
{
    double tie = at - floor(at) == 0.5 ? 0.5 : 0;
    switch (how) {
    case NEAREST_FLOOR:       return floor(at);
    case NEAREST_CEIL:        return ceil(at);
    case NEAREST_PREFER_CEIL: return floor(at + 0.5);
    case NEAREST_PREFER_FLOOR: return floor(at + 0.5 - tie);
    case N_RESIZE_NEAREST:    break;
    }
    assert(false);
    return 0;
}

/* The two input rows (side 0) or columns between which element i of n_out falls, and the second one's share. */
struct between { uint64_t first, second; double share; };
static inline struct between resized_at(const struct op_attributes *f, int side, uint64_t i, uint64_t n_in, uint64_t n_out)
{
    double at = op_resize_place(f->place, (double)i, (double)n_in, (double)n_out, f->factors[side]);
    at = fmax(0, fmin(f->linear ? at : nearest_place(f->nearest, at), (double)n_in - 1));
    uint64_t first = (uint64_t)at;
    return (struct between){ first, f->linear && first + 1 < n_in ? first + 1 : first, at - (double)first };
}

static inline void run_resize(const struct run *r)
{
    const struct op *f = op_forward(r->g, r->op);
    const struct tensor *x = &r->g->tensors[f->inputs[0]], *y = &r->g->tensors[f->outputs[0]];
    for (uint64_t e = 0; e < tensor_elements(y); e++) {
        uint64_t c = e % y->dims[3], b = e / y->dims[3] / y->dims[2] / y->dims[1];
        struct between h = resized_at(f->at, 0, e / y->dims[3] / y->dims[2] % y->dims[1], x->dims[1], y->dims[1]);
        struct between v = resized_at(f->at, 1, e / y->dims[3] % y->dims[2], x->dims[2], y->dims[2]);
        for (int k = 0; k < 4; k++) {
            double share = (k & 1 ? h.share : 1 - h.share) * (k & 2 ? v.share : 1 - v.share);
            uint64_t row = k & 1 ? h.second : h.first, column = k & 2 ? v.second : v.first;
            uint64_t at = ((b * x->dims[1] + row) * x->dims[2] + column) * x->dims[3] + c;
            if (r->op->pass == PASS_FORWARD)
                out(r, 0)[e] += (real)(share * in(r, 0)[at]);
            else
                out(r, 0)[at] += (real)(share * in(r, 0)[e]);
        }
    }
}

/* y = x / (bias + alpha / size * sum of squares of the size neighbours)^beta; backward [gradient, x]. */
static inline void run_local_norm(const struct run *r)
{
    const struct op_attributes *at = op_forward(r->g, r->op)->at;
    bool forward = r->op->pass == PASS_FORWARD;
    const real *x = in(r, forward ? 0 : 1);
    double factor = at->rate / at->kernel_w;
    uint64_t n = last_dim(tensor_out(r, 0)), before = (at->kernel_w - 1) / 2, after = at->kernel_w - 1 - before;
    for (uint64_t i = 0; i < n_out(r); i++) {
        uint64_t c = i % n, first = c < before ? 0 : c - before, last = c + after < n ? c + after : n - 1;
        double sum = at->high;
        for (uint64_t k = first; k <= last; k++)
            sum += factor * x[i - c + k] * x[i - c + k];
        if (forward) {
            out(r, 0)[i] = (real)(x[i] * pow(sum, -at->low));
            continue;
        }
        out(r, 0)[i] += (real)(in(r, 0)[i] * pow(sum, -at->low));
        for (uint64_t k = first; k <= last; k++)
            out(r, 0)[i - c + k] -= (real)((double)in(r, 0)[i] * x[i] * at->low * pow(sum, -at->low - 1) * 2 * factor * x[i - c + k]);
    }
}

static inline void run_arg_max(const struct run *r)
{
    uint64_t n = last_dim(tensor_in(r, 0));
    for (uint64_t i = 0; i < n_out(r); i++)
        for (uint64_t k = 1; k < n; k++)
            if (in(r, 0)[i * n + k] > in(r, 0)[i * n + (uint64_t)out(r, 0)[i]])
                out(r, 0)[i] = (real)k;
}

/* Equal values keep their order. */
static inline void run_top_k(const struct run *r)
{
    uint64_t n = last_dim(tensor_in(r, 0)), wanted = r->op->at->length;
    for (uint64_t i = 0; i < n_out(r); i++) {
        const real *x = in(r, 0) + i / wanted * n, *taken = out(r, 0) + i / wanted * wanted;
        uint64_t best = n;
        for (uint64_t k = 0; k < n; k++) {
            bool free = true;
            for (uint64_t t = 0; t < i % wanted; t++)
                free &= taken[t] != (real)k;
            best = free && (best == n || x[k] > x[best]) ? k : best;
        }
        out(r, 0)[i] = (real)best;
    }
}

/* Rows of the table in kernels.h. */
#define KERNELS_OF_PRODUCTS \
    [OP_CONV] = run_conv, [OP_CONV_TRANSPOSE] = run_conv, [OP_MATMUL] = run_matmul, [OP_MAX_POOL] = run_pool, \
    [OP_AVERAGE_POOL] = run_pool, [OP_RESIZE] = run_resize, [OP_LOCAL_NORM] = run_local_norm, [OP_ARG_MAX] = run_arg_max, \
    [OP_TOP_K] = run_top_k, [OP_SPARSE_MATMUL] = run_sparse_matmul, [OP_ALL_TO_ALL] = run_all_to_all, [OP_DISTANCE] = run_distance,

#endif
