/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map_einsum.c - Einsum: sums of products over named dimensions, as transpositions around one product.
 *
 *     "bhqd,bhkd->bhqk"     groups b h, rows q, inner d, columns k
 * Letters in both operands and the result are groups of the product; letters in both operands alone are summed over;
 * letters in one operand and the result are its rows or columns. A letter in one operand alone is summed first. Not
 * modelled: more than two operands, a letter twice in one operand (its diagonal), dots for different numbers of
 * dimensions.
 */
#include "workloads/onnx/onnx_mapper.h"
#include "workloads/onnx/onnx_shapes.h"
#include <string.h>

struct letters { char at[2 * ONNX_MAX_DIMS]; uint32_t n; };
struct equation { struct letters in[2], out; uint32_t n_operands; };

/* Dots mean the dimensions without a letter, which get capital letters that end with 'Z'. */
static bool add_letters(struct letters *to, const char *text, size_t length, uint32_t n_dims)
{
    uint32_t n_named = 0;
    for (size_t i = 0; i < length; i++)
        n_named += text[i] != '.' && text[i] != ' ';
    *to = (struct letters){ .n = 0 };
    for (size_t i = 0; i < length; i++) {
        if (text[i] == ' ')
            continue;
        if (text[i] != '.') {
            if (to->n == ONNX_MAX_DIMS)
                return false;
            to->at[to->n++] = text[i];
            continue;
        }
        if (n_named > n_dims || n_dims > ONNX_MAX_DIMS || i + 2 >= length)
            return false;
        for (uint32_t k = n_dims - n_named; k > 0; k--)
            to->at[to->n++] = (char)('Z' + 1 - k);
        i += 2;
    }
    return true;
}

static bool holds(const struct letters *l, char c) { return memchr(l->at, c, l->n) != NULL; }

static bool has_twice(const struct letters *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        for (uint32_t k = i + 1; k < l->n; k++)
            if (l->at[i] == l->at[k])
                return true;
    return false;
}

/* Without an arrow the result has the letters that occur once, in alphabetical order. */
static void implied_result(struct equation *e)
{
    for (int c = 'A'; c <= 'z'; c++) {
        uint32_t n = 0;
        for (uint32_t k = 0; k < e->n_operands; k++)
            for (uint32_t i = 0; i < e->in[k].n; i++)
                n += e->in[k].at[i] == c;
        if (n == 1 || (n && c <= 'Z' && c > 'Z' - ONNX_MAX_DIMS))
            e->out.at[e->out.n++] = (char)c;
    }
}

static bool read_equation(struct equation *out, const struct onnx_model *m, const struct onnx_node *n)
{
    const char *text = onnx_string(n, "equation", "", m->arena), *arrow = strstr(text, "->");
    size_t length = arrow ? (size_t)(arrow - text) : strlen(text);
    const char *comma = memchr(text, ',', length);
    const struct onnx_value *a = onnx_in(m, n, 0), *b = onnx_in(m, n, 1);
    *out = (struct equation){ .n_operands = n->n_inputs };
    if (n->n_inputs > 2 || (comma != NULL) != (b != NULL) || !a)
        return false;
    size_t first = comma ? (size_t)(comma - text) : length;
    if (!add_letters(&out->in[0], text, first, a->n_dims) || out->in[0].n != a->n_dims || has_twice(&out->in[0]))
        return false;
    if (b && (!add_letters(&out->in[1], comma + 1, length - first - 1, b->n_dims) || out->in[1].n != b->n_dims || has_twice(&out->in[1])))
        return false;
    if (!arrow) {
        implied_result(out);
        return true;
    }
    uint32_t dots = 0, named = 0;           /* the dimensions that the operands' dots stand for */
    for (const char *c = arrow + 2; *c; c++)
        named += *c != '.' && *c != ' ';
    for (char c = 'Z' - ONNX_MAX_DIMS + 1; c <= 'Z'; c++)
        dots += holds(&out->in[0], c) || holds(&out->in[1], c);
    return add_letters(&out->out, arrow + 2, strlen(arrow + 2), named + dots);
}

/* The size of a letter's dimension; 0 if no operand has the letter, or its sizes differ. */
static uint64_t letter_size(const struct equation *e, const struct onnx_model *m, const struct onnx_node *n, char c)
{
    uint64_t size = 0;
    for (uint32_t k = 0; k < e->n_operands; k++)
        for (uint32_t i = 0; i < e->in[k].n; i++) {
            uint64_t mine = onnx_in(m, n, k)->dims[i];
            if (e->in[k].at[i] != c)
                continue;
            if (size && size != mine)
                return 0;
            size = mine;
        }
    return size;
}

bool infer_einsum(const struct inference *s)
{
    struct equation e;
    uint64_t dims[2 * ONNX_MAX_DIMS];
    if (!read_equation(&e, s->m, s->n))
        return REFUSE(s, "'%.60s': want one or two operands, with each letter once", onnx_string(s->n, "equation", "", s->m->arena));
    for (uint32_t k = 0; k < e.n_operands; k++)
        for (uint32_t i = 0; i < e.in[k].n; i++)
            if (!letter_size(&e, s->m, s->n, e.in[k].at[i]))
                return REFUSE(s, "its operands differ in dimension %c%s", e.in[k].at[i], infer_batch_hint(s));
    for (uint32_t i = 0; i < e.out.n; i++)
        if (!(dims[i] = letter_size(&e, s->m, s->n, e.out.at[i])))
            return REFUSE(s, "dimension %c of the result is in no operand", e.out.at[i]);
    return infer_set(s, 0, e.out.n, dims, s->x->type);
}

/* ---- mapping ------------------------------------------------------------------------------------------------ */

struct einsum { struct mapper *p; struct equation e; };

static uint64_t einsum_size(const struct einsum *s, char c) { return letter_size(&s->e, s->p->m, s->p->n, c); }

static uint64_t all_of(const struct einsum *s, const struct letters *l)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < l->n; i++)
        n *= einsum_size(s, l->at[i]);
    return n;
}

/* Transposes x from one order of letters to another. */
static uint32_t ordered(const struct einsum *s, uint32_t x, const struct letters *from, const struct letters *to)
{
    uint64_t dims[ONNX_MAX_DIMS];
    uint32_t perm[ONNX_MAX_DIMS];
    for (uint32_t i = 0; i < from->n; i++) {
        dims[i] = einsum_size(s, from->at[i]);
        perm[i] = (uint32_t)((const char *)memchr(from->at, to->at[i], from->n) - from->at);
    }
    return map_transposed(s->p, x, dims, perm, from->n);
}

/* Sums over the letters that occur in this operand alone, after their dimensions are moved to the end. */
static uint32_t without_lone(const struct einsum *s, uint32_t x, struct letters *l, uint32_t k)
{
    struct letters kept = { .n = 0 }, order, lone = { .n = 0 };
    for (uint32_t i = 0; i < l->n; i++) {
        bool needed = holds(&s->e.out, l->at[i]) || (s->e.n_operands > 1 && holds(&s->e.in[1 - k], l->at[i]));
        struct letters *to = needed ? &kept : &lone;
        to->at[to->n++] = l->at[i];
    }
    if (!lone.n)
        return x;
    order = kept;
    memcpy(order.at + kept.n, lone.at, lone.n);
    order.n = l->n;
    uint64_t n = all_of(s, &lone), rest = all_of(s, &kept);
    x = map_pooled(s->p, ordered(s, x, l, &order), rest, n, 1, OP_AVERAGE_POOL);
    *l = kept;
    return x == NO_ID ? NO_ID : map_emit1(s->p, OP_SCALE, x, WITH(.rate = (double)n));
}

struct groups { struct letters stack, rows, inner, columns; };

static struct groups group_letters(const struct equation *e)
{
    struct groups g = { 0 };
    for (uint32_t i = 0; i < e->in[0].n; i++) {
        char c = e->in[0].at[i];
        struct letters *to = !holds(&e->in[1], c) ? &g.rows : holds(&e->out, c) ? &g.stack : &g.inner;
        to->at[to->n++] = c;
    }
    for (uint32_t i = 0; i < e->in[1].n; i++)
        if (!holds(&e->in[0], e->in[1].at[i]))
            g.columns.at[g.columns.n++] = e->in[1].at[i];
    return g;
}

static struct letters letters_join(const struct letters *a, const struct letters *b, const struct letters *c)
{
    struct letters all = *a;
    memcpy(all.at + all.n, b->at, b->n);
    all.n += b->n;
    memcpy(all.at + all.n, c->at, c->n);
    all.n += c->n;
    return all;
}

static bool map_product(struct einsum *s, uint32_t a, uint32_t b)
{
    struct groups g = group_letters(&s->e);
    struct letters first = letters_join(&g.stack, &g.rows, &g.inner), straight = letters_join(&g.stack, &g.inner, &g.columns);
    struct letters turned = letters_join(&g.stack, &g.columns, &g.inner), made = letters_join(&g.stack, &g.rows, &g.columns);
    bool by_columns = g.inner.n && g.columns.n && memcmp(turned.at, s->e.in[1].at, turned.n) == 0;
    uint64_t stack = all_of(s, &g.stack), rows = all_of(s, &g.rows), inner = all_of(s, &g.inner), columns = all_of(s, &g.columns);
    a = ordered(s, a, &s->e.in[0], &first);
    b = ordered(s, b, &s->e.in[1], by_columns ? &turned : &straight);
    uint64_t high = by_columns ? columns : inner, wide = by_columns ? inner : columns;
    bool one = stack == 1;
    a = one ? VIEW(s->p, a, rows, inner) : VIEW(s->p, a, stack, rows, inner);
    b = one ? VIEW(s->p, b, high, wide) : VIEW(s->p, b, stack, high, wide);
    uint32_t y = map_emit2(s->p, OP_MATMUL, a, b, WITH(.transpose_b = by_columns));
    y = ordered(s, y, &made, &s->e.out);
    s->p->into = "matmul";
    return map_done(s->p, 0, y, false);
}

bool map_einsum(struct mapper *p)
{
    struct einsum s = { .p = p };
    uint32_t x[2] = { NO_ID, NO_ID };
    read_equation(&s.e, p->m, p->n);
    for (uint32_t k = 0; k < s.e.n_operands; k++) {
        x[k] = map_any_plain(p, map_in_id(p, k));
        x[k] = x[k] == NO_ID ? NO_ID : without_lone(&s, x[k], &s.e.in[k], k);
        if (x[k] == NO_ID)
            return false;
    }
    if (s.e.n_operands == 2)
        return map_product(&s, x[0], x[1]);
    uint32_t y = ordered(&s, x[0], &s.e.in[0], &s.e.out);
    return map_done_as(p, "transpositions and sums", y, false);
}
