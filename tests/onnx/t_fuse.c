/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_fuse.c - patterns of exporters are recognised, similar ones are not, and the numbers are the same either way.
 *
 * A program is nodes with ';' between: "Erf a > b; Add b one > c", the last one makes y; x and u [2, 3, 4] and the
 * image i [2, 6, 3, 4] exist, and the constants below. Pieces that are outputs too stay pieces, which gives the
 * numbers without fusing.
 */
#include "tests/onnx/import.h"

struct row { const char *program, *expected; };

/* Dan Hendrycks and Kevin Gimpel 2016: x / 2 (1 + erf(x / sqrt 2)), in the orders that exporters have; and tanh(c (x +
 * k x^3)). */
#define LONG(more) "Mul x x > s; Mul s x > a; Mul a bell > b; Add x b > c; Mul c one > c0; Mul c0 one > c1; Mul c1 one > c2; Mul c2 one > c3; Mul c3 one > c4; " \
    more " root > d; Tanh d > e; Add e one > f; Mul x f > g; Mul g half > y"
#define PARABOLA(a, b, c) \
    { "Mul x x > q; Mul q " a " > i; Mul x " b " > j; Add i j > k; Add k " c " > p; Tanh p > e; Add e one > f; Mul x f > g; Mul g half > y", \
      "mul scale scale add map tanh map mul scale" }
static const struct row gelus[] = {
    { "Div x root2 > a; Erf a > b; Add b one > c; Mul x c > d; Mul d half > y", "gelu" },
    { "Mul x over2 > a; Erf a > b; Add one b > c; Mul half x > d; Mul d c > y", "gelu" },
    { "Mul over2 x > a; Erf a > b; Add b one > c; Mul c half > d; Mul x d > y", "gelu" },
    { "Mul over2 x > a; Erf a > b; Add b one > c; Mul c half > d; Mul x d > e; Add e d > y", "scale map map scale mul add" },  /* half of it is read twice */
    { "Add u one > x1; Div x1 root2 > a; Erf a > b; Add b one > c; Mul x1 c > d; Mul d half > y", "map gelu" },      /* works for a sum with one, too */
    { "Add u one > x1; Div x1 root2 > a; Erf a > b; Add b one > c; Mul c x1 > d; Mul half d > y", "map gelu" },
    { "Mul u x > e; Div e root2 > a; Erf a > b; Add b one > c; Mul e c > d; Mul d half > y", "mul gelu" },       /* a product's */
    { "Div x root2 > a; Erf a > b; Add b one > c; Mul u c > d; Mul d half > y", "map map map mul scale" },     /* another tensor's */
    { "Div x root3 > a; Erf a > b; Add b one > c; Mul x c > d; Mul d half > y", "map map map mul scale" },
    { "Div x root2 > a; Erf a > b; Add b two > c; Mul x c > d; Mul d half > y", "map map map mul scale" },
    { "Div x root2 > a; Erf a > b; Add b one > c; Mul x c > d; Mul d third > y", "map map map mul scale" },
    { "Div x root2 > a; Erf a > b; Add b one > c; Mul x c > d; Mul d half- > y", "gelu" },
    { "Div x root2 > a; Erf a > b; Add b one > c; Mul x c > d; Mul d half+ > y", "map map map mul scale" },
    { "Div x root2 > a; Sin a > b; Add b one > c; Mul x c > d; Mul d half > y", "map map map mul scale" },
    { "Mul x root2 > a; Erf a > b; Add b one > c; Mul x c > d; Mul d half > y", "scale map map mul scale" },
    { "Div root2 x > a; Erf a > b; Add b one > c; Mul x c > d; Mul d half > y", "combine map map mul scale" },
    { "Div x root2 > a; Erf a > b; Sub b one > c; Mul x c > d; Mul d half > y", "map map map mul scale" },
    { "Div x root2 > a; Erf a > b; Add b one > c; Mul x c > d; Mul d half > e; Mul e x > y", "gelu mul" },
    { "Div x root2 > a; Erf a > b; Add b one > c; Mul x c > d; Mul d half > e; Add d e > y", "map map map mul scale add" },   /* read again */
    { "Div x root2 > a; Erf a > b; Add b one > c; Mul x half > d; Mul d c > e; Mul e half > y", "gelu scale" },
    { "Mul x x > s; Mul s x > a; Mul a bell > b; Add x b > c; Mul c root > d; Tanh d > e; Add e one > f; Mul x f > g; Mul g half > y", "gelu" },
    { "Mul x x > a; Mul a x > b; Mul bell b > c; Add c x > d; Mul root d > e; Tanh e > f; Add one f > g; Mul half x > h; Mul h g > y", "gelu" },
    { "ReduceMean x > m; Mul x m > d; Tanh d > e; Add e one > f; Mul x f > g; Mul g half > y", "average-pool mul tanh map mul scale" },
    { "Pow x three > a; Mul a bell > b; Add x b > c; Mul c root > d; Tanh d > e; Add e one > f; Mul x f > g; Mul g half > y",     /* gelu_new has a power */
      "combine scale add scale tanh map mul scale" },
    { "Mul x x > s; Mul s x > a; Mul a bell > b; Add x b > c; Mul c root+ > d; Tanh d > e; Add e one > f; Mul x f > g; Mul g half > y", "gelu" },
    { "Mul x x > s; Mul s x > a; Mul a bell > b; Add x b > c; Mul c root++ > d; Tanh d > e; Add e one > f; Mul x f > g; Mul g half > y",
      "mul mul scale add scale tanh map mul scale" },
    { "Mul x x > s; Mul s x > a; Mul a third > b; Add x b > c; Mul c root > d; Tanh d > e; Add e one > f; Mul x f > g; Mul g half > y",
      "mul mul scale add scale tanh map mul scale" },
    { "Mul x x > s; Mul s x > a; Mul a bell > b; Sub x b > c; Mul c root > d; Tanh d > e; Add e one > f; Mul x f > g; Mul g half > y",
      "mul mul scale combine scale tanh map mul scale" },
    { "Mul u u > s; Mul s u > a; Mul a bell > b; Add x b > c; Mul c root > d; Tanh d > e; Add e one > f; Mul x f > g; Mul g half > y",
      "mul mul scale add scale tanh map mul scale" },
    { "Mul x x > s; Mul s x > a; Mul a bell > b; Add x b > c; Mul c root > d; Tanh d > e; Add e one > f; Mul x f > g; Mul g half > h; Add h a > y",
      "mul mul scale add scale tanh map mul scale add" },       /* read again */
    { "Div x root2 > a; Erf a > b; Add b one > c; Mul u c > d; Mul x half > e; Mul d e > y", "map map map mul scale mul" },      /* four factors */
    { "Div x root2 > a; Erf a > b; Add b one > c; Mul x c > d; Mul d u > e; Mul e half > y", "map map map mul mul scale" },
    { "Div x root2 > a; Erf a > b; Add b one > c; Mul x c > y", "map map map mul" },
    { LONG("Mul c4 one > c6; Mul c6"), "gelu" }, { LONG("Mul c4 one > c6; Mul c6 one > c7; Mul c7"), "mul mul scale add scale scale scale scale scale scale scale scale tanh map mul scale" },     /* 15 nodes, and 16 */
    { "Tanh x > e; Add e one > f; Mul x f > g; Mul g half > y", "tanh map mul scale" },
    { "Mul x u > g; Mul g half > y", "mul scale" }, { "Div x root2 > a; Erf a > b; Add b one > c; Mul half c > d; Mul d half > y", "map map map scale scale" },
    { "Div x root2 > a; Erf a > b; Add b one > c; Mul c c > d; Mul d half > y", "map map map mul scale" },       /* two curves, no x */
    /* tanh of a line or parabola that equals sqrt(2 / pi) (x + 0.044715 x^3) at -3 alone; at -3 and -0.5; at three
     * of -3, -0.5, 1 and 2. */
    { "Mul x steep > c; Tanh c > e; Add e one > f; Mul x f > g; Mul g half > y", "scale tanh map mul scale" },
    { "Mul x 1.18142 > b; Add b 0.18731 > c; Tanh c > e; Add e one > f; Mul x f > g; Mul g half > y", "scale map tanh map mul scale" },
    PARABOLA("-0.08919", "0.86924", "0.05352"), PARABOLA("-0.05352", "0.99411", "0.10703"), PARABOLA("0", "1.04763", "-0.21406"), PARABOLA("0.08919", "0.78005", "-0.03568"),
    { "Mul x x > a; Mul a bell > b; Add x b > c; Mul c root > d; Tanh d > e; Add e one > f; Mul x f > g; Mul g half > y",      /* a square */
      "mul scale add scale tanh map mul scale" },
    { "Mul x x > a; Mul a a > i; Mul i bell > b; Add x b > c; Mul c root > d; Tanh d > e; Add e one > f; Mul x f > g; Mul g half > y",
      "mul mul scale add scale tanh map mul scale" },
    { "Mul x x > s; Mul s x > a; Mul a bell > b; Add x b > c; Tanh c > e; Add e one > f; Mul x f > g; Mul g half > y", "mul mul scale add tanh map mul scale" },
    { "Mul x x > a; Mul a bell > b; Add b one > c; Mul c x > d; Mul d root > i; Tanh i > e; Add e one > f; Mul x f > g; Mul g half > y", "gelu" },
};

static const struct row gates[] = {
    { "Sigmoid x > a; Mul x a > y", "swish" }, { "Sigmoid x > a; Mul a x > y", "swish" }, { "Sigmoid x > a; Mul u a > y", "sigmoid mul" },
    { "HardSigmoid x > a alpha=0.16666667; Mul a x > y", "map" }, { "HardSigmoid x > a alpha=0.16666667 beta=0.5; Mul x a > y", "map" },
    { "HardSigmoid x > a alpha=0.1676; Mul a x > y", "map" }, { "HardSigmoid x > a alpha=0.1677; Mul a x > y", "map mul" },
    { "HardSigmoid x > a; Mul a x > y", "map mul" }, { "HardSigmoid x > a alpha=0.16666667 beta=0.25; Mul a x > y", "map mul" },
    { "Tanh x > a; Mul x a > y", "tanh mul" },
    { "Sigmoid x > a; Add x a > y", "sigmoid add" }, { "Sigmoid x > a; Mul x a > b; Add a b > y", "sigmoid mul add" },
    { "Sigmoid u > b; Sigmoid x > a; Mul b a > y", "sigmoid sigmoid mul" },
};

/* (x - mean) / sqrt(mean of squares + epsilon), then gamma and beta of four elements. */
#define NORM(square, gather, under) "ReduceMean x > m axes=-1; Sub x m > d; " square " > s; ReduceMean s > v axes=-1; " gather " > p; Sqrt p > r; Div " under
static const struct row norms[] = {
    { NORM("Pow d two", "Add v small", "d r > y"), "layer-norm" }, { NORM("Mul d d", "Add small v", "d r > y"), "layer-norm" },
    { NORM("Mul d d", "Add v small", "d r > n; Mul n g4 > y"), "layer-norm" }, { NORM("Mul d d", "Add v small", "d r > n; Mul g4 n > o; Add o b4 > y"), "layer-norm" },
    { NORM("Mul d d", "Add v small", "d r > n; Mul n g4 > o; Add b4 o > y"), "layer-norm" },
    { NORM("Mul d d", "Add v small", "d r > n; Add n b4 > y"), "layer-norm bias-add" },
    { NORM("Mul d d", "Add v small", "d r > n; Mul n g4 > o; Mul o b4 > y"), "layer-norm mul" },
    { NORM("Mul d d", "Add v small", "d r > n; Mul n g4 > o; Add o x > y"), "layer-norm add" },
    { NORM("Mul d d", "Add v small", "d r > n; Mul n half > o; Add o b4 > y"), "layer-norm scale bias-add" },
    { NORM("Mul d d", "Add v small", "d r > n; Mul n u > y"), "layer-norm mul" }, { NORM("Mul d d", "Add v small", "d r > n; Mul n n > y"), "layer-norm mul" },
    { NORM("Mul d d", "Add v small", "d r > n; Mul n g4 > o; Add o n > y"), "layer-norm mul add" },
    { NORM("Pow d three", "Add v small", "d r > y"), "average-pool combine combine average-pool map map combine" },
    { NORM("Mul d u", "Add v small", "d r > y"), "average-pool combine mul average-pool map map combine" },
    { NORM("Mul d d", "Add v small", "u r > y"), "average-pool combine mul average-pool map map combine" },
    { NORM("Mul d d", "Mul v small", "d r > y"), "average-pool combine mul average-pool scale map combine" },
    { "ReduceMean x > m axes=-1; Sub x m > d; Mul d d > s; ReduceMean s > v axes=-1; Add v small > p; Sqrt p > r; Mul d r > y",
      "average-pool combine mul average-pool map map mul" },
    { NORM("Mul d d", "Add v v", "d r > y"), "average-pool combine mul average-pool add map combine" },
    { "ReduceMean u > m axes=-1; Sub x m > d; Mul d d > s; ReduceMean s > v axes=-1; Add v small > p; Sqrt p > r; Div d r > y",
      "average-pool combine mul average-pool map map combine" },
    { "ReduceMean x > m axes=-1; Sub x m > d; Mul d d > s; ReduceSum s > v axes=-1; Add v small > p; Sqrt p > r; Div d r > y",
      "average-pool combine mul average-pool scale map map combine" },
    { "ReduceMean x > m axes=-1; Sub m x > d; Mul d d > s; ReduceMean s > v axes=-1; Add v small > p; Sqrt p > r; Div d r > y",
      "average-pool combine mul average-pool map map combine" },
    { "ReduceMean x > m axes=-1; Sub x m > d; Mul d d > s; ReduceMean s > v axes=-1; Add v small > p; Exp p > r; Div d r > y",
      "average-pool combine mul average-pool map map combine" },
};

/* TensorFlow's x f + (beta - mean f), with f = gamma / sqrt(variance + epsilon). */
#define FACTOR(less, square, root, f) "ReduceMean x > m axes=-1; " less " > d; " square " > s; ReduceMean s > v axes=-1; " root " > p; " \
    "Sqrt p > r; Reciprocal r > c; " f " > f; "
#define USUAL FACTOR("Sub x m", "Mul d d", "Add v small", "Mul c g4")
#define PIECES "average-pool combine mul average-pool map map map mul mul mul combine add"
static const struct row norms_by_factor[] = {
    { USUAL "Mul x f > t; Mul m f > k; Sub b4 k > h; Add t h > y", "layer-norm" },
    { USUAL "Mul f x > t; Mul f m > k; Sub b4 k > h; Add h t > y", "layer-norm" },
    { FACTOR("Sub m x", "Pow d two", "Add small v", "Mul g4 c") "Mul x f > t; Mul m f > k; Sub b4 k > h; Add t h > y", "layer-norm" },
    { FACTOR("Sub x u", "Mul d d", "Add v small", "Mul c g4") "Mul x f > t; Mul m f > k; Sub b4 k > h; Add t h > y", PIECES },
    { FACTOR("Sub u m", "Mul d d", "Add v small", "Mul c g4") "Mul x f > t; Mul m f > k; Sub b4 k > h; Add t h > y", PIECES },
    { FACTOR("Sub x m", "Mul d u", "Add v small", "Mul c g4") "Mul x f > t; Mul m f > k; Sub b4 k > h; Add t h > y", PIECES },
    { FACTOR("Sub x m", "Pow d three", "Add v small", "Mul c g4") "Mul x f > t; Mul m f > k; Sub b4 k > h; Add t h > y",
      "average-pool combine combine average-pool map map map mul mul mul combine add" },
    { FACTOR("Sub x m", "Mul d d", "Add v v", "Mul c g4") "Mul x f > t; Mul m f > k; Sub b4 k > h; Add t h > y",
      "average-pool combine mul average-pool add map map mul mul mul combine add" },
    { FACTOR("Sub x m", "Mul d d", "Mul v small", "Mul c g4") "Mul x f > t; Mul m f > k; Sub b4 k > h; Add t h > y",
      "average-pool combine mul average-pool scale map map mul mul mul combine add" },
    { FACTOR("Sub x m", "Mul d d", "Add v small", "Mul c half") "Mul x f > t; Mul m f > k; Sub b4 k > h; Add t h > y",
      "average-pool combine mul average-pool map map map scale mul mul combine add" },
    { "ReduceMean u > m axes=-1; Sub x m > d; Mul d d > s; ReduceMean s > v axes=-1; Add v small > p; Sqrt p > r; Reciprocal r > c; Mul c g4 > f; "
      "Mul x f > t; Mul m f > k; Sub b4 k > h; Add t h > y", PIECES },          /* the mean of another tensor */
    { USUAL "Mul u f > t; Mul m f > k; Sub b4 k > h; Add t h > y", PIECES }, { USUAL "Mul x f > t; Mul v f > k; Sub b4 k > h; Add t h > y", PIECES },
    { USUAL "Mul x f > t; Mul m c > k; Sub b4 k > h; Add t h > y",
      PIECES },
    { USUAL "Mul x f > t; Mul m f > k; Sub half k > h; Add t h > y",
      "average-pool combine mul average-pool map map map mul mul mul map map add" },
    { USUAL "Mul x f > t; Mul m f > k; Sub k b4 > h; Add t h > y",
      PIECES },
    { USUAL "Mul x f > t; Mul m f > k; Sub b4 k > h; Mul t h > y",
      "average-pool combine mul average-pool map map map mul mul mul combine mul" },
    { USUAL "Mul x f > t; Mul m f > k; Sub b4 k > h; Add t h > q; Add q k > y",
      "average-pool combine mul average-pool map map map mul mul mul combine add add" },
};
#undef PIECES
#undef USUAL
#undef FACTOR

/* An instance norm of channels in two groups, then gamma [6, 1, 1] and beta by channel. */
static const struct row group_norms[] = {
    { "Reshape i groups > a; InstanceNormalization a one2 zero2 > b; Reshape b back > y", "group-norm" },
    { "Reshape i groups > a; InstanceNormalization a one2 zero2 > b; Reshape b back > c; Mul c g6 > d; Add d b6 > y", "group-norm" },
    { "Reshape i groups > a; InstanceNormalization a one2 zero2 > b; Reshape b back > c; Mul c g6 > y", "group-norm" },
    { "Reshape i groups > a; InstanceNormalization a one2 zero2 > b; Reshape b back > c; Add c g6 > d; Mul d b6 > y", "group-norm bias-add mul" },
    { "Reshape i groups > a; InstanceNormalization a g2 zero2 > b; Reshape b back > y", "group-norm" },            /* a scale of groups, or a shift: not fused */
    { "Reshape i groups > a; InstanceNormalization a one2 g2 > b; Reshape b back > c; Mul c g6 > d; Add d b6 > y", "group-norm mul add" },
    { "Reshape v groups > a; InstanceNormalization a one2 zero2 > b; Reshape b flat > y", "group-norm" },          /* not an image: not fused */
    { "Reshape i groups > a; InstanceNormalization a one2 zero2 > b; Reshape b flat > y", "group-norm" },
    { "Reshape j groups > a; InstanceNormalization a one2 zero2 > b; Reshape b back3 > c; Mul c g61 > d; Add d b61 > y", "group-norm" },       /* one dimension */
    { "Reshape j groups > a; InstanceNormalization a one2 zero2 > b; Reshape b turned > c; Mul c g4 > d; Add d b4 > y", "group-norm mul bias-add" },
    { "Reshape i groups > a; Clip a third half > b; Reshape b back > y", "map" },             /* three operands between the reshapes, but no norm */
    { "Sum i i i i i > a; Mul a g6 > c; Add c b6 > y", "add add add add mul add" },           /* five operands, but no norm */
    { "InstanceNormalization i one6 zero6 > y", "group-norm" }, { "InstanceNormalization i one6 zero6 > a; Mul a g6 > y", "group-norm mul" },
};

/* A scale and a shift after a batch norm, for images and for rows. */
static const struct row batch_norms[] = {
    { "BatchNormalization i n6 n6 n6 one6 > a; Mul a g6 > b; Add b b6 > y", "mul bias-add" },
    { "BatchNormalization v n6 n6 n6 one6 > a; Mul a m6 > b; Add b n6 > y", "mul bias-add" },
    { "BatchNormalization v n6 n6 n6 one6 > a; Mul m6 a > y", "mul bias-add" },
    { "BatchNormalization v n6 n6 n6 one6 > a; Add a m6 > y", "mul bias-add bias-add" },
    { "BatchNormalization i n6 n6 n6 one6 > a; Mul a i > y", "mul bias-add mul" },
};

static char **split(struct draft *d, const char *text, const char *at, size_t *n)
{
    char **parts = ARENA_ARRAY(&d->arena, char *, strlen(text) + 1), *rest = arena_strdup(&d->arena, text);
    for (*n = 0; rest; (*n)++) {
        char *end = strstr(rest, at);
        parts[*n] = rest;
        if (end)
            *end = '\0';
        rest = end ? end + strlen(at) : NULL;
    }
    return parts;
}

/* Returns the names of all results, the last one first. */
static const char *draft_program(struct draft *d, const char *program)
{
    size_t n, n_parts;
    const char *all = "";
    char **nodes = split(d, program, "; ", &n);
    for (size_t i = 0; i < n; i++) {
        char **sides = split(d, nodes[i], " > ", &n_parts), *op = sides[0], *inputs = strchr(op, ' '), *made = sides[1], *attributes = strchr(made, ' ');
        *inputs++ = '\0';
        if (attributes)
            *attributes++ = '\0';
        draft_node(d, op, inputs, made, attributes ? attributes : "");
        all = arena_printf(&d->arena, "%s%s%s", made, i ? " " : "", all);
    }
    return all;
}

static void draft_all(struct draft *d)
{
    static const struct { const char *name; double x; } numbers[] = {
        { "root2", 1.4142135 }, { "over2", 0.70710678 }, { "root3", 1.7320508 }, { "one", 1 }, { "two", 2 }, { "three", 3 }, { "half", 0.5 }, { "half-", 0.4996 }, { "half+", 0.501 },
        { "third", 0.333 }, { "bell", 0.044715 }, { "root", 0.79788456 }, { "small", 0.25 },
        { "root+", 0.80179 }, { "root++", 0.80195 }, { "steep", 1.11898 },
    };
    static const char *const inputs[] = { "x", "u" };
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        draft_input(d, inputs[i], ONNX_FLOAT, "2,3,4");
    draft_text(d, "i: 2,6,3,4; v: 2,6; j: 2,6,4");
    static const char *const by_digits[] = { "1.18142", "0.18731", "-0.08919", "0.86924", "0.05352", "-0.05352", "0.99411", "0.10703", "0", "1.04763",
                                             "-0.21406", "0.08919", "0.78005", "-0.03568" };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        draft_number(d, numbers[i].name, numbers[i].x);
    for (size_t i = 0; i < sizeof by_digits / sizeof *by_digits; i++)
        draft_number(d, by_digits[i], strtod(by_digits[i], NULL));
    draft_text(d, "g4 = 4; b4 = 4; g2 = 2; n6 = 6; m6 = 6; g6 = 6,1,1; b6 = 6,1,1; groups = [2,2,-1]; back = [2,6,3,4]; "
                  "flat = [2,-1]; g61 = 6,1; b61 = 6,1; back3 = [2,6,4]; turned = [2,6,1,4]");
    for (uint64_t n = 2; n < 7; n += 4)
        for (int one = 0; one < 2; one++) {
            Onnx__TensorProto *t = draft_tensor(d, arena_printf(&d->arena, "%s%ju", one ? "one" : "zero", (uintmax_t)n), ONNX_FLOAT, 1, &n);
            t->n_float_data = n;
            t->float_data = ARENA_ARRAY(&d->arena, float, n);
            for (uint64_t i = 0; i < n; i++)
                t->float_data[i] = (float)one;
        }
    draft_text(d, "beside: 2,1; w = 1,1");
}

static struct imported *program(const char *text, bool in_pieces)
{
    struct draft *d = draft_start(12);
    draft_all(d);
    const char *all = draft_program(d, text);
    draft_node(d, "MatMul", "beside w", "z", "");
    const char *outputs = arena_printf(&d->arena, "%s z", in_pieces ? all : "y");
    return import(d, outputs, (struct onnx_options){ .inference = true, .batch = 2 });
}

/* Operations of the program, without views, changes of layout and the added product. */
static const char *kinds(struct imported *r)
{
    const char *text = "";
    for (size_t i = 0; i < r->g.n_ops; i++) {
        enum op_kind kind = r->g.ops[i].kind;
        if (kind != OP_VIEW && kind != OP_TRANSPOSE && kind != OP_EXPAND && kind != OP_MATMUL)
            text = arena_printf(&r->arena, "%s%s%s", text, *text ? " " : "", op_kind_names[kind]);
    }
    return text;
}

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct imported *whole = program(rows[i].program, false), *pieces = program(rows[i].program, true);
        double *found = outputs(whole), *want = outputs(pieces);
        const struct tensor *y = &whole->g.tensors[whole->im.output];
        if (!text_is(kinds(whole), rows[i].expected))
            print_error("%s\n", rows[i].program);
        assert_string_equal(kinds(whole), rows[i].expected);
        for (uint64_t e = 0; e < tensor_elements(y); e++) {
            if (!(fabs(found[e] - want[e]) <= 1e-3 * fmax(1, fabs(want[e]))))
                print_error("%s: element %ju is %g, want %g\n", rows[i].program, (uintmax_t)e, found[e], want[e]);
            assert_near(found[e], want[e], 1e-3 * fmax(1, fabs(want[e])));
        }
        done(whole);
        done(pieces);
    }
}
#define CHECK(rows) check_rows(rows, sizeof (rows) / sizeof *(rows))

static void bell(void **state) { (void)state; CHECK(gelus); }
static void gated(void **state) { (void)state; CHECK(gates); }
static void normed(void **state) { (void)state; CHECK(norms); }
static void normed_by_factor(void **state) { (void)state; CHECK(norms_by_factor); }
static void normed_in_groups(void **state) { (void)state; CHECK(group_norms); }
static void normed_by_channel(void **state) { (void)state; CHECK(batch_norms); }

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bell), cmocka_unit_test(gated), cmocka_unit_test(normed), cmocka_unit_test(normed_by_factor), cmocka_unit_test(normed_in_groups),
    cmocka_unit_test(normed_by_channel),
};
TAP_MAIN(tests)
