/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_vector_steps.c - operations written down as what a tile does, step by step, and their plans held against the whole list: cycles of computing,
 * exchange and sync, supersteps, bytes, code, tiles in use. What a vertex takes is t_vertex_cost's affair.
 *
 * Halves on 7 tiles come in fours: of 3000 elements the fullest tile holds 432, 9 rows of 50, 2 of a worker; of rows of 500 it holds a part of one.
 */
#include "tests/check.h"
#include "system-model/graph/graph.h"
#include "tests/chip_fixture.h"
#include "system-model/base/assumed.h"
#include "system-model/compiler/conv.h"
#include "system-model/compiler/passes.h"

enum { TILES = 7, MOST_STEPS = 40 };

/* MAP: a compute set of one vertex over n elements; SUM: the same, of which no result stays; ALSO: a vertex more in
 * the last compute set; SPREAD, SUMMED: rows, so many of a worker, that are combined with a value of their own, 7 cycles each, or
 * reduced to one, 12; MOVE: bytes to the fullest tile; MEET: n sums of `each`
 * partials, floats, on the fullest tile, arrive and are added; TAKE: a compute set of n cycles; LAYOUT: cycles of
 * computing in the last exchange's set. */
enum step_kind { END, MAP, SUM, ALSO, SPREAD, SUMMED, MOVE, MEET, TAKE, LAYOUT };
struct step { enum step_kind kind; uint64_t n; enum map_op op; uint64_t each, times; };
#define MAP(op, n)        { MAP, n, MAP_##op, 0, 1 }
#define SUM(op, n)        { SUM, n, MAP_##op, 0, 1 }
#define ALSO(op, n)       { ALSO, n, MAP_##op, 0, 1 }
#define SPREAD(n)         { SPREAD, n, 0, 0, 1 }
#define SUMMED(n)         { SUMMED, n, 0, 0, 1 }
#define COPIED_OUT        MAP(COPY, 3000), ALSO(BINARY, 3000)     /* a vector whose length is not in fours */
#define MOVE(n)           { MOVE, n, 0, 0, 1 }
#define MEET(n, each)     { MEET, n, 0, each, 1 }
#define TAKE(n)           { TAKE, n, 0, 0, 1 }
#define LAYOUT(n)         { LAYOUT, n, 0, 0, 1 }
#define MOVE_TIMES(n, t)  { MOVE, n, 0, 0, t }
#define TAKE_TIMES(n, t)  { TAKE, n, 0, 0, t }

static uint64_t on_fullest(uint64_t n, uint64_t element_bytes)
{
    uint64_t atom = 8 / element_bytes, atoms = (n + atom - 1) / atom;
    return (atoms + TILES - 1) / TILES * atom;
}

static void compute_set(struct op_plan *p, const struct chip *chip, uint64_t cycles, uint64_t times)
{
    p->compute_cycles += times * cycles;
    p->sync_cycles += times * (101 + chip->compute_set_cycles);
    p->n_supersteps += (uint32_t)times;
    p->code.supersteps++;
    p->code.state_bytes += 11;
}

static void move(struct op_plan *p, const struct chip *chip, uint64_t bytes, uint64_t times)
{
    p->exchange_cycles += times * ((uint64_t)((double)bytes / (4 * chip->exchange_efficiency)) + 1 + 37);
    p->exchanged_bytes += times * bytes * TILES;
    p->code.exchanges++;
    p->code.pieces += (uint32_t)((bytes + MOVED_PIECE_BYTES - 1) / MOVED_PIECE_BYTES);
    if (times == 1 && bytes > p->temp_bytes_per_tile)
        p->temp_bytes_per_tile = bytes;
}

static void take_step(struct op_plan *p, const struct chip *chip, const struct step *s, uint64_t element_bytes)
{
    uint64_t turn = chip->worker_turn_cycles, atom = 8 / element_bytes, atoms = (s->n + atom - 1) / atom, used = atoms < TILES ? atoms : TILES;
    uint64_t mapped = s->kind <= ALSO ? map_cycles(chip, s->op, on_fullest(s->n, element_bytes), element_bytes) : 0;
    switch (s->kind) {
    case MAP: p->n_tiles_used = used > p->n_tiles_used ? (uint32_t)used : p->n_tiles_used; compute_set(p, chip, mapped, 1); break;
    case SUM: compute_set(p, chip, mapped, 1); break;
    case ALSO: p->compute_cycles += mapped; break;
    case SPREAD: p->compute_cycles += turn * 7 * s->n; break;
    case SUMMED: p->compute_cycles += turn * 12 * s->n; break;
    case MOVE: move(p, chip, s->n, s->times); break;
    case MEET:
        move(p, chip, 4 * s->n * s->each, 1);
        compute_set(p, chip, map_cycles(chip, MAP_REDUCE, s->n * s->each, 4) + turn * 16 * ((s->n + 5) / 6 - 1), 1);
        break;
    case TAKE: compute_set(p, chip, s->n, s->times); break;
    case LAYOUT: p->compute_cycles += s->n; break;
    case END: break;
    }
}

static void assert_same(const char *name, const struct op_plan *got, const struct op_plan *want)
{
    const uint64_t pairs[][2] = {
        { got->compute_cycles, want->compute_cycles }, { got->exchange_cycles, want->exchange_cycles }, { got->sync_cycles, want->sync_cycles },
        { got->n_supersteps, want->n_supersteps }, { got->exchanged_bytes, want->exchanged_bytes },
        { got->temp_bytes_per_tile, want->temp_bytes_per_tile }, { got->code.supersteps, want->code.supersteps },
        { got->code.exchanges, want->code.exchanges }, { got->code.pieces, want->code.pieces }, { got->code.state_bytes, want->code.state_bytes },
        { got->code.field_bytes, want->code.field_bytes },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i][0] != pairs[i][1])
            print_error("%s: number %zu is %lu, not %lu\n", name, i, (unsigned long)pairs[i][0], (unsigned long)pairs[i][1]);
        assert_int_equal(pairs[i][0], pairs[i][1]);
    }
}

static void assert_steps(const char *name, const struct op_plan *plan, const struct step *steps, const struct chip *chip, uint64_t element_bytes)
{
    struct op_plan want = { 0 };
    for (; steps->kind != END; steps++)
        take_step(&want, chip, steps, element_bytes);
    assert_same(name, plan, &want);
}

struct shape { enum data_type type; uint64_t dims[MAX_DIMS]; };
struct operation {
    const char *name;
    enum op_kind kind;
    enum op_pass pass;
    struct op_attributes at;
    struct shape in[4], gradients[3];       /* the forward operation's; what a backward pass makes */
    uint64_t rearrange_cycles, n_tiles_used;
    bool log_softmax;
    struct step steps[MOST_STEPS];
};
#define IN(...)    .in = { __VA_ARGS__ }
#define MAKES(...) .gradients = { __VA_ARGS__ }
#define H(...)     { TYPE_FP16, { __VA_ARGS__ } }
#define I(...)     { TYPE_INT32, { __VA_ARGS__ } }
#define AT(...)    { __VA_ARGS__ }
#define NONE       { 0 }

static uint32_t add_tensor(struct graph *g, const struct shape *s)
{
    uint32_t n = 0;
    while (n < MAX_DIMS && s->dims[n])
        n++;
    return graph_tensor(g, "t", ROLE_ACTIVATION, s->type, n, s->dims);
}

static struct op_plan planned(const struct operation *o, const struct chip *chip, bool inference)
{
    struct arena arena = { 0 };
    struct plan_cache cache = { 0 };
    struct graph g;
    uint32_t in[4], out[3], n_in = 0, n_out = 0;
    graph_start(&g, "one", 1, &arena);
    graph_layer(&g, (struct layer){ .name = "layer", .n_parts = 1 });
    for (; n_in < 4 && o->in[n_in].dims[0]; n_in++)
        in[n_in] = add_tensor(&g, &o->in[n_in]);
    uint32_t y = graph_op(&g, o->kind, in, n_in, o->at);
    for (; n_out < 3 && o->gradients[n_out].dims[0]; n_out++) {
        out[n_out] = add_tensor(&g, &o->gradients[n_out]);
        g.tensors[out[n_out]].of_tensor = in[n_out];
    }
    if (o->pass != PASS_FORWARD)
        graph_append(&g, (struct op){ .kind = o->kind, .pass = o->pass, .forward_op = 0, .at = g.ops[0].at, .n_inputs = 1, .inputs = &y,
                                      .n_outputs = n_out, .outputs = out });
    struct op_plan p;
    struct op_plan_options options = { .available_memory = 0.6, .inference = inference, .log_softmax = o->log_softmax };
    op_plan_build(&p, &g, (uint32_t)g.n_ops - 1, even_operands, chip, &options, &cache);
    plan_cache_free(&cache);
    arena_free(&arena);
    return p;
}

static void check(const struct operation *operations, size_t n, bool inference)
{
    struct chip chip = wide_chip(TILES);
    for (const struct operation *o = operations; o < operations + n; o++) {
        struct op_plan p = planned(o, &chip, inference);
        assert_steps(o->name, &p, o->steps, &chip, 2);
        if (p.rearrange_cycles != o->rearrange_cycles || p.n_tiles_used != o->n_tiles_used)
            print_error("%s: rearranged in %lu, on %u tiles\n", o->name, (unsigned long)p.rearrange_cycles, p.n_tiles_used);
        assert_int_equal(p.rearrange_cycles, o->rearrange_cycles);
        assert_int_equal(p.n_tiles_used, o->n_tiles_used);
    }
}
#define CHECK(operations, inference) check(operations, sizeof operations / sizeof *operations, inference)

/* A vector of 50, repeated for 60 rows: 100 bytes go to each tile. Its gradient: each tile adds its elements up for
 * all 50, and 8 sums of 7 partials meet on the fullest tile. */
static void test_two_operands(void **state)
{
    (void)state;
    static const struct operation operations[] = {
        { "bias", OP_BIAS_ADD, PASS_FORWARD, NONE, IN(H(60, 50), H(50)), .n_tiles_used = 7, .steps = { MOVE(100), COPIED_OUT } },
        { "bias's gradient", OP_BIAS_ADD, PASS_BACKWARD_WEIGHT, NONE, IN(H(60, 50), H(50)), MAKES(H(50)),
          .steps = { SUM(REDUCE, 3000), MEET(8, 7) } },
        { "product", OP_MUL, PASS_FORWARD, NONE, IN(H(60, 50), H(60, 50)), .n_tiles_used = 7, .steps = { MOVE(864), MAP(BINARY, 3000) } },
        { "product's gradients", OP_MUL, PASS_BACKWARD_DATA, NONE, IN(H(60, 50), H(1, 50)), MAKES(H(60, 50), H(1, 50)), .n_tiles_used = 7,
          .steps = { MAP(BINARY, 3000), MAP(BINARY, 3000), SUM(REDUCE, 3000), MEET(8, 7) } },
        { "repeated addend", OP_ADD, PASS_BACKWARD_DATA, NONE, IN(H(60, 50), H(1, 50)), MAKES(H(1, 50)), .steps = { SUM(REDUCE, 3000), MEET(8, 7) } },
        { "addend", OP_ADD, PASS_BACKWARD_DATA, NONE, IN(H(60, 50), H(60, 50)), MAKES(H(60, 50)), .steps = { { 0 } } },
        { "power", OP_COMBINE, PASS_FORWARD, AT(.function = FUNCTION_POWER), IN(H(60, 50), H(1, 50)), .n_tiles_used = 7,
          .steps = { MOVE(100), MAP(POWER, 3000) } },
        { "power's gradients", OP_COMBINE, PASS_BACKWARD_DATA, AT(.function = FUNCTION_POWER), IN(H(60, 50), H(1, 50)),
          MAKES(H(60, 50), H(1, 50)), .n_tiles_used = 7,
          .steps = { MAP(POWER, 3000), MAP(BINARY, 3000), MAP(BINARY, 3000), MAP(BINARY, 3000), SUM(REDUCE, 3000), MEET(8, 7) } },
        { "selection", OP_SELECT, PASS_FORWARD, NONE, IN(H(60, 50), H(1, 50), H(60, 50)), .n_tiles_used = 7,
          .steps = { MOVE(100), MOVE(864), MAP(SELECT, 3000) } },
        { "selection's gradients", OP_SELECT, PASS_BACKWARD_DATA, NONE, IN(H(60, 50), H(1, 50), H(60, 50)), MAKES(H(60, 50), H(1, 50)),
          .n_tiles_used = 7, .steps = { MAP(CAST_ELEMENT, 3000), MAP(BINARY, 3000), MAP(BINARY, 3000), SUM(REDUCE, 3000), MEET(8, 7) } },
        { "repeated", OP_EXPAND, PASS_FORWARD, AT(.view = { 60, 50 }), IN(H(1, 50)), .n_tiles_used = 7, .steps = { MOVE(100), MAP(COPY, 3000) } },
        { "repeated, back", OP_EXPAND, PASS_BACKWARD_DATA, AT(.view = { 60, 50 }), IN(H(1, 50)), MAKES(H(1, 50)),
          .steps = { SUM(REDUCE, 3000), MEET(8, 7) } },
        /* 600 of the first go where the 3000 of the result need them; back, sums over the second's 5 and over the
         * first's 4: of 750, which 432 x 7 partials reach in 5 parts */
        { "outer sum", OP_OUTER_ADD, PASS_FORWARD, NONE, IN(H(3, 4, 50), H(3, 5, 50)), .n_tiles_used = 7, .steps = { MOVE(864), MAP(VECTOR, 3000) } },
        { "outer sum's gradients", OP_OUTER_ADD, PASS_BACKWARD_DATA, NONE, IN(H(3, 4, 50), H(3, 5, 50)), MAKES(H(3, 4, 50), H(3, 5, 50)),
          .steps = { SUM(REDUCE, 3000), SUMMED(2), SUM(REDUCE, 3000), MEET(108, 5) } },
    };
    CHECK(operations, false);
}

/* A softmax of 60 rows; zeros and ones for their labels, of which 15 vectors of 4 go to 7 tiles, brought to 432 halves of the fullest; a copy of those. */
#define SOFTMAX_OF_ROWS   SUM(REDUCE, 3000), SUMMED(2), MOVE(120), MAP(VECTOR, 3000), SPREAD(2), MAP(EXP, 3000), SUM(REDUCE, 3000), SUMMED(2), \
                          MAP(INVERSE, 60), MOVE(120), MAP(VECTOR, 3000), SPREAD(2)
#define COPY_ON_TILE      TAKE(7 * (48 + 18))
#define LABELS_OF_ROWS    MAP(FILL, 3000), TAKE(11 + 74 * 12), MOVE(864)

/* Rows of 50 lie on a tile; rows of 500 on two, and 6 sums, or 12 of two kinds, are put together from 7 parts. */
static void test_rows(void **state)
{
    (void)state;
    static const struct operation operations[] = {
        { "softmax", OP_SOFTMAX, PASS_FORWARD, NONE, IN(H(60, 50)), .n_tiles_used = 7,
          .steps = { SUM(REDUCE, 3000), SUMMED(2), MOVE(120), MAP(VECTOR, 3000), SPREAD(2), MAP(EXP, 3000), SUM(REDUCE, 3000), SUMMED(2),
                     MAP(INVERSE, 60), MOVE(120), MAP(VECTOR, 3000), SPREAD(2) } },
        { "softmax of long rows", OP_SOFTMAX, PASS_FORWARD, NONE, IN(H(6, 500)), .n_tiles_used = 7,
          .steps = { SUM(REDUCE, 3000), SUMMED(1), MEET(1, 7), MOVE(12), MAP(VECTOR, 3000), SPREAD(1), MAP(EXP, 3000), SUM(REDUCE, 3000), SUMMED(1),
                     MEET(1, 7), MAP(INVERSE, 6), MOVE(12), MAP(VECTOR, 3000), SPREAD(1) } },
        { "softmax's gradient", OP_SOFTMAX, PASS_BACKWARD_DATA, NONE, IN(H(60, 50)), MAKES(H(60, 50)), .n_tiles_used = 7,
          .steps = { MAP(BINARY, 3000), SUM(REDUCE, 3000), SUMMED(2), MOVE(120), MAP(VECTOR, 3000), SPREAD(2), MAP(BINARY_IN_PLACE, 3000) } },
        /* 7 parts of rows: their largest and its place, 12 numbers, are found from 5 on the fullest tile */
        { "place of the largest", OP_ARG_MAX, PASS_FORWARD, NONE, IN(H(6, 500)), .n_tiles_used = 7,
          .steps = { MAP(ARG_MAX, 3000), SUM(REDUCE, 7), ALSO(REDUCE_SQUARE, 7), MEET(2, 5) } },
        { "place of the largest of short rows", OP_ARG_MAX, PASS_FORWARD, NONE, IN(H(60, 50)), .n_tiles_used = 7, .steps = { MAP(ARG_MAX, 3000) } },
        { "cross entropy", OP_CROSS_ENTROPY, PASS_FORWARD, NONE, IN(H(60, 50), I(60)), .n_tiles_used = 7,
          .steps = { SOFTMAX_OF_ROWS, LABELS_OF_ROWS, MAP(BINARY_IN_PLACE, 3000), SUM(REDUCE, 3000), SUMMED(2) } },
        { "cross entropy's gradient", OP_CROSS_ENTROPY, PASS_BACKWARD_DATA, NONE, IN(H(60, 50), I(60)), MAKES(H(60, 50)), .n_tiles_used = 7,
          .steps = { MAP(BINARY_IN_PLACE, 3000), MAP(SCALAR, 3000) } },
        { "likelihood of log-probabilities", OP_CROSS_ENTROPY, PASS_FORWARD, NONE, IN(H(60, 50), I(60)), .n_tiles_used = 7, .log_softmax = true,
          .steps = { COPY_ON_TILE, SOFTMAX_OF_ROWS, LABELS_OF_ROWS, MAP(BINARY_IN_PLACE, 3000), SUM(REDUCE, 3000), SUMMED(2) } },
        { "gradient through log-probabilities", OP_CROSS_ENTROPY, PASS_BACKWARD_DATA, NONE, IN(H(60, 50), I(60)), MAKES(H(60, 50)), .n_tiles_used = 7, .log_softmax = true,
          .steps = { LABELS_OF_ROWS, MAP(SCALAR, 3000), MAP(VECTOR, 3000), SPREAD(2), MAP(SCALAR, 3000), COPY_ON_TILE, SOFTMAX_OF_ROWS,
                     SUM(REDUCE, 3000), SUMMED(2), MAP(VECTOR, 3000), SPREAD(2), MAP(BINARY_IN_PLACE, 3000) } },
        /* a lattice of 4 x 5 for each of 3: 9 steps forward and 9 back, the widest of 4 cells, on 7 tiles: 2 cells of 4 bytes
         * of the fullest; of 8 x 5 in two slices, which run twice: a quarter of 26 steps, the widest of 5 cells: 3 */
        { "transducer loss", OP_TRANSDUCER_LOSS, PASS_FORWARD, NONE, IN(H(3, 4, 5, 50), I(3)), .n_tiles_used = 7,
          .steps = { SUM(REDUCE, 3000), SUMMED(2), MOVE(120), MAP(VECTOR, 3000), SPREAD(2), MAP(EXP, 3000), SUM(REDUCE, 3000), SUMMED(2),
                     MAP(INVERSE, 60), MOVE(120), MAP(VECTOR, 3000), SPREAD(2), MAP(LOG, 3000),
                     MOVE_TIMES(8, 18), TAKE_TIMES(11 + 7 * (20 + 44), 18) } },
        { "transducer loss, a slice of two", OP_TRANSDUCER_LOSS, PASS_FORWARD, AT(.pieces = 2), IN(H(3, 4, 5, 50), I(3)), .n_tiles_used = 7,
          .steps = { SUM(REDUCE, 3000), SUMMED(2), MOVE(120), MAP(VECTOR, 3000), SPREAD(2), MAP(EXP, 3000), SUM(REDUCE, 3000), SUMMED(2),
                     MAP(INVERSE, 60), MOVE(120), MAP(VECTOR, 3000), SPREAD(2), MAP(LOG, 3000),
                     MOVE_TIMES(12, 7), TAKE_TIMES(11 + 7 * (20 + 44), 7) } },
        { "transducer loss's gradient", OP_TRANSDUCER_LOSS, PASS_BACKWARD_DATA, NONE, IN(H(3, 4, 5, 50), I(3)), MAKES(H(3, 4, 5, 50)),
          .n_tiles_used = 7, .steps = { MAP(EXP, 3000), MAP(BINARY_IN_PLACE, 3000) } },
    };
    CHECK(operations, false);
}

/* A norm has a mean and a deviation, gamma and beta. A layer norm has 60 rows of them, a group norm 5 groups for
 * each of 5 samples, and a batch norm 50 channels, which three replicas share; of it frameworks make the multiplicand and the addend of each channel, and the
 * variance. Its gradient begins with the moving averages. */
static void test_norms(void **state)
{
    (void)state;
    static const struct operation operations[] = {
        { "layer norm", OP_LAYER_NORM, PASS_FORWARD, NONE, IN(H(60, 50), H(50), H(50)), .n_tiles_used = 7,
          .steps = { SUM(REDUCE, 3000), ALSO(REDUCE_SQUARE, 3000), SUMMED(2 * 2), MAP(RSQRT, 60), MOVE(240), MAP(VECTOR, 3000), SPREAD(2),
                     MAP(VECTOR, 3000), SPREAD(2), MOVE(200), COPIED_OUT, COPIED_OUT } },
        { "layer norm's gradient", OP_LAYER_NORM, PASS_BACKWARD_DATA, NONE, IN(H(60, 50), H(50), H(50)), MAKES(H(60, 50)), .n_tiles_used = 7,
          .steps = { MOVE(240), MAP(VECTOR, 3000), SPREAD(2), MAP(VECTOR, 3000), SPREAD(2), COPIED_OUT, MAP(BINARY, 3000),
                     SUM(REDUCE, 6000), SUMMED(3), MAP(SCALAR, 60), MOVE(240), MAP(VECTOR, 3000), SPREAD(2), MAP(VECTOR, 3000), SPREAD(2),
                     MAP(SCALED_ADD, 3000), MAP(VECTOR, 3000), SPREAD(2) } },
        { "layer norm's weights", OP_LAYER_NORM, PASS_BACKWARD_WEIGHT, NONE, IN(H(60, 50), H(50), H(50)), MAKES(H(50), H(50)), .n_tiles_used = 7,
          .steps = { MAP(BINARY, 3000), SUM(REDUCE, 6000), MEET(15, 7) } },
        { "group norm", OP_GROUP_NORM, PASS_FORWARD, AT(.norm_groups = 5), IN(H(5, 3, 4, 50), H(50), H(50)), .n_tiles_used = 7,
          .steps = { SUM(REDUCE, 3000), ALSO(REDUCE_SQUARE, 3000), MEET(8, 7), MAP(RSQRT, 25), MOVE(100), COPIED_OUT, COPIED_OUT,
                     MOVE(200), COPIED_OUT, COPIED_OUT } },
        { "batch norm", OP_BATCH_NORM, PASS_FORWARD, AT(.norm_groups = 3), IN(H(5, 3, 4, 50), H(50), H(50)), .n_tiles_used = 7,
          .steps = { SUM(REDUCE, 3000), ALSO(REDUCE_SQUARE, 3000), MEET(15, 7), MAP(COPY, 100), MAP(BINARY, 100), MAP(RSQRT, 50),
                     MAP(BINARY, 50), MAP(BINARY, 50), MAP(BINARY, 50), MOVE(200), COPIED_OUT, COPIED_OUT } },
        { "batch norm of one replica", OP_BATCH_NORM, PASS_FORWARD, AT(.norm_groups = 1), IN(H(5, 3, 4, 50), H(50), H(50)), .n_tiles_used = 7,
          .steps = { SUM(REDUCE, 3000), ALSO(REDUCE_SQUARE, 3000), MEET(15, 7), MAP(RSQRT, 50),
                     MAP(BINARY, 50), MAP(BINARY, 50), MAP(BINARY, 50), MOVE(200), COPIED_OUT, COPIED_OUT } },
        { "stable batch norm", OP_BATCH_NORM, PASS_FORWARD, AT(.norm_groups = 3, .stable = true), IN(H(5, 3, 4, 50), H(50), H(50)), .n_tiles_used = 7,
          .steps = { SUM(REDUCE, 3000), MEET(8, 7), MAP(COPY, 50), MAP(BINARY, 50), MOVE(100), COPIED_OUT, SUM(REDUCE, 3000), MEET(8, 7),
                     MAP(COPY, 50), MAP(BINARY, 50), MAP(RSQRT, 50),
                     MAP(BINARY, 50), MAP(BINARY, 50), MAP(BINARY, 50), MOVE(200), COPIED_OUT, COPIED_OUT } },
        { "batch norm's gradient", OP_BATCH_NORM, PASS_BACKWARD_DATA, AT(.norm_groups = 2), IN(H(5, 3, 4, 50), H(50), H(50)), MAKES(H(5, 3, 4, 50)),
          .n_tiles_used = 7,
          .steps = { MAP(CAST, 50), MAP(BINARY, 50), MAP(BINARY, 50), MAP(RSQRT, 50), MOVE(200), COPIED_OUT, COPIED_OUT, COPIED_OUT,
                     MAP(BINARY, 3000), SUM(REDUCE, 6000), MEET(15, 7), MAP(COPY, 100), MAP(BINARY, 100), MAP(SCALAR, 50), MOVE(200), COPIED_OUT, COPIED_OUT,
                     MAP(SCALED_ADD, 3000), COPIED_OUT } },
        { "local norm", OP_LOCAL_NORM, PASS_FORWARD, AT(.kernel_w = 5), IN(H(5, 3, 4, 50)), .n_tiles_used = 7,
          .steps = { MAP(SQUARE, 3000), MAP(BINARY_IN_PLACE, 3000), MAP(BINARY_IN_PLACE, 3000), MAP(BINARY_IN_PLACE, 3000),
                     MAP(BINARY_IN_PLACE, 3000), MAP(SCALAR, 3000), MAP(POWER, 3000), MAP(BINARY, 3000) } },
        { "local norm's gradient", OP_LOCAL_NORM, PASS_BACKWARD_DATA, AT(.kernel_w = 3), IN(H(5, 3, 4, 50)), MAKES(H(5, 3, 4, 50)), .n_tiles_used = 7,
          .steps = { MAP(SQUARE, 3000), MAP(BINARY_IN_PLACE, 3000), MAP(BINARY_IN_PLACE, 3000), MAP(SCALAR, 3000), MAP(POWER, 3000),
                     MAP(POWER, 3000), MAP(SQUARE, 3000), MAP(SCALAR, 3000), MAP(BINARY, 3000), MAP(BINARY, 3000), MAP(BINARY, 3000) } },
    };
    CHECK(operations, false);
}

/* Three replicas share a norm's mean and mean square: two sums of 50 channels, whose copies into the all-reduce and out of it belong to it. */
static void test_shared_statistics(void **state)
{
    (void)state;
    static const struct operation shared = { "shared statistics", OP_BATCH_NORM, PASS_FORWARD, AT(.norm_groups = 3), IN(H(5, 3, 4, 50), H(50), H(50)),
        .steps = { SUM(REDUCE, 3000), ALSO(REDUCE_SQUARE, 3000), MEET(15, 7), MAP(COPY, 100), MAP(BINARY, 100) } };
    struct operation alone = shared;
    struct chip chip = wide_chip(TILES);
    struct op_plan want = { 0 }, got = planned(&shared, &chip, false);
    for (const struct step *s = shared.steps; s->kind != END; s++)
        take_step(&want, &chip, s, 2);
    assert_int_equal(got.shared_cycles[0], want.compute_cycles);
    assert_int_equal(got.shared_cycles[1], want.exchange_cycles);
    assert_int_equal(got.shared_cycles[2], want.sync_cycles);
    alone.at.norm_groups = 1;
    got = planned(&alone, &chip, false);
    assert_true(got.shared_cycles[0] == 0 && got.shared_cycles[1] == 0 && got.shared_cycles[2] == 0);
}

/* A batch norm's statistics are known: the deviation of a variance, multiplicand and addend of a channel, one scale, one shift. Those of other norms are not known. */
static void test_inference(void **state)
{
    (void)state;
    static const struct operation operations[] = {
        { "batch norm", OP_BATCH_NORM, PASS_FORWARD, AT(.norm_groups = 3), IN(H(5, 3, 4, 50), H(50), H(50)), .n_tiles_used = 7,
          .steps = { MAP(RSQRT, 50), MAP(BINARY, 50), MAP(BINARY, 50), MOVE(200), COPIED_OUT, COPIED_OUT } },
        { "group norm", OP_GROUP_NORM, PASS_FORWARD, AT(.norm_groups = 5), IN(H(5, 3, 4, 50), H(50), H(50)), .n_tiles_used = 7,
          .steps = { SUM(REDUCE, 3000), ALSO(REDUCE_SQUARE, 3000), MEET(8, 7), MAP(RSQRT, 25), MOVE(100), COPIED_OUT, COPIED_OUT,
                     MOVE(200), COPIED_OUT, COPIED_OUT } },
    };
    CHECK(operations, true);
}

/* Windows of 3 x 2, two apart, over 7 x 9 pixels of 10 channels give 3 x 4. Channels come in fours: of 2 samples 18
 * rows of outputs, 72 vectors; six workers of 7 tiles take two each at a time, 6 such on a tile: one a worker of 13 + 20
 * + 2 x (7 + 3 x 6) cycles. The 180 inputs of the fullest tile, 360 bytes, pass by fours: 450 / 8. Back: 42 rows of 9,
 * all of one for each worker; 72 elements of windows over 63 pixels: 2; steps of 5 where it has to be compared; 36
 * elements of 2 bytes, 90 / 8. */
static void test_windows(void **state)
{
    (void)state;
    enum { FORWARD = 11 + 7 * (33 + 2 * 25), COMPARED = 11 + 7 * (33 + 9 * 17), ADDED = 11 + 7 * (33 + 9 * 13) };
    static const struct operation operations[] = {
        { "average", OP_AVERAGE_POOL, PASS_FORWARD, AT(.kernel_h = 3, .kernel_w = 2, .stride = 2), IN(H(2, 7, 9, 10)), .n_tiles_used = 7,
          .rearrange_cycles = 57, .steps = { MOVE(360), LAYOUT(57), TAKE(FORWARD) } },
        { "maximum", OP_MAX_POOL, PASS_FORWARD, AT(.kernel_h = 3, .kernel_w = 2, .stride = 2), IN(H(2, 7, 9, 10)), .n_tiles_used = 7,
          .rearrange_cycles = 57, .steps = { MOVE(360), LAYOUT(57), TAKE(FORWARD) } },
        { "average's gradient", OP_AVERAGE_POOL, PASS_BACKWARD_DATA, AT(.kernel_h = 3, .kernel_w = 2, .stride = 2), IN(H(2, 7, 9, 10)),
          MAKES(H(2, 7, 9, 10)), .n_tiles_used = 7, .rearrange_cycles = 12, .steps = { MOVE(72), LAYOUT(12), TAKE(ADDED) } },
        { "maximum's gradient", OP_MAX_POOL, PASS_BACKWARD_DATA, AT(.kernel_h = 3, .kernel_w = 2, .stride = 2), IN(H(2, 7, 9, 10)),
          MAKES(H(2, 7, 9, 10)), .n_tiles_used = 7, .rearrange_cycles = 12, .steps = { MOVE(72), LAYOUT(12), TAKE(COMPARED) } },
        /* one window over all of 3 x 5: sums of 20, 3 on the fullest tile, in 7 parts */
        { "average of all", OP_AVERAGE_POOL, PASS_FORWARD, AT(.kernel_h = 3, .kernel_w = 5, .stride = 1), IN(H(2, 3, 5, 10)), .n_tiles_used = 5,
          .steps = { SUM(REDUCE, 300), MEET(3, 7), MAP(SCALAR, 20) } },
        { "maximum of all", OP_MAX_POOL, PASS_FORWARD, AT(.kernel_h = 3, .kernel_w = 5, .stride = 1), IN(H(2, 3, 5, 10)),
          .steps = { SUM(REDUCE, 300), MEET(3, 7) } },
        { "average of all, back", OP_AVERAGE_POOL, PASS_BACKWARD_DATA, AT(.kernel_h = 3, .kernel_w = 5, .stride = 1), IN(H(2, 3, 5, 10)),
          MAKES(H(2, 3, 5, 10)), .n_tiles_used = 7, .steps = { MOVE(40), MAP(VECTOR, 300) } },
        { "maximum of all, back", OP_MAX_POOL, PASS_BACKWARD_DATA, AT(.kernel_h = 3, .kernel_w = 5, .stride = 1), IN(H(2, 3, 5, 10)),
          MAKES(H(2, 3, 5, 10)), .n_tiles_used = 7, .steps = { MOVE(40), MAP(BINARY, 300) } },
        /* 300 pixels become 1200: all of the fullest tile's 44 move; back its 172, and sums over 4, 11 pieces, 2 of a
         * worker */
        { "larger, linear", OP_RESIZE, PASS_FORWARD, AT(.view = { 2, 6, 10, 10 }, .linear = true), IN(H(2, 3, 5, 10)), .n_tiles_used = 7,
          .steps = { MOVE(88), MAP(SCALED_ADD, 1200), MAP(SCALED_ADD, 1200), MAP(COPY, 1200) } },
        { "larger, linear, back", OP_RESIZE, PASS_BACKWARD_DATA, AT(.view = { 2, 6, 10, 10 }, .linear = true), IN(H(2, 3, 5, 10)),
          MAKES(H(2, 3, 5, 10)), .n_tiles_used = 7,
          .steps = { MOVE(344), MAP(SCALED_ADD, 1200), MAP(SCALED_ADD, 1200), SUM(REDUCE, 1200), SUMMED(3) } },
        { "smaller, nearest", OP_RESIZE, PASS_FORWARD, AT(.view = { 2, 1, 2, 10 }), IN(H(2, 3, 5, 10)), .n_tiles_used = 7,
          .steps = { MOVE(88), MAP(COPY, 40) } },
    };
    CHECK(operations, false);
}

/* The largest 3 of rows of 75, as 4, and as floats: runs of 4 sorted in 1 + 2 stages; then 75 become 38, 19, 10, 5 and 4 (3, but no
 * fewer than a run), the larger halves of 4 x 75, 150, 75, 38 and 19 elements, each sorted in 2 stages. A stage compares
 * half of them as pairs; where partners lie as far apart as a tile has elements (4 of the last 19, then 2 of 10),
 * they come over first, 4 bytes and 4 of a place. */
static void test_sorted(void **state)
{
    (void)state;
#define STAGE(pairs)         MAP(COMPARE_EXCHANGE, pairs)
#define HALVED(half, sorted) STAGE(half), STAGE(sorted), STAGE(sorted)
    static const struct operation o = { "largest", OP_TOP_K, PASS_FORWARD, AT(.length = 3), IN(H(4, 75)) };
    static const struct step cast = MAP(CAST, 300), stages[] = {
        STAGE(150), STAGE(150), STAGE(150), HALVED(150, 75), HALVED(75, 38), HALVED(38, 19), HALVED(19, 10),
        MOVE(4 * 8), STAGE(10), MOVE(2 * 8), STAGE(5), STAGE(5) };
    struct chip chip = wide_chip(TILES);
    struct op_plan p = planned(&o, &chip, false), want = { 0 };
    take_step(&want, &chip, &cast, 2);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        take_step(&want, &chip, &stages[i], 4);
    assert_same("largest", &p, &want);
    assert_int_equal(p.n_tiles_used, 7);
}

/* The fullest tile has 432 of 3000 halves, 864 bytes, which a transpose moves one by one and a quarter slower. It
 * has 688 halves of 60 x 80, and 60 of 60 x 7. Each of six workers copies 8 bytes a cycle. All of the time but one
 * sync counts as rearrangement. */
static void test_moved(void **state)
{
    (void)state;
    enum { COPY_864 = 7 * (48 + 18), COPY_1376 = 7 * (48 + 29), COPY_120 = 7 * (48 + 3),
           MOVE_864 = 260 + 1 + 37, MOVE_1376 = 414 + 1 + 37, MOVE_120 = 36 + 1 + 37 };
    static const struct operation operations[] = {
        { "transposed", OP_TRANSPOSE, PASS_FORWARD, AT(.order = { 1, 0 }), IN(H(60, 50)), .n_tiles_used = 7, .rearrange_cycles = 540 + MOVE_864,
          .steps = { MOVE(864), TAKE(540) } },
        { "put together", OP_CONCAT, PASS_FORWARD, AT(.axis = 1), IN(H(60, 50), H(60, 30)), .n_tiles_used = 7,
          .rearrange_cycles = COPY_1376 + MOVE_1376, .steps = { MOVE(1376), TAKE(COPY_1376) } },
        { "range", OP_SLICE, PASS_FORWARD, AT(.axis = 1, .begin = 11, .length = 7), IN(H(60, 50)), .n_tiles_used = 7,
          .rearrange_cycles = COPY_120 + MOVE_120, .steps = { MOVE(120), TAKE(COPY_120) } },
        { "range's gradient", OP_SLICE, PASS_BACKWARD_DATA, AT(.axis = 1, .begin = 11, .length = 7), IN(H(60, 50)), MAKES(H(60, 50)),
          .n_tiles_used = 7, .rearrange_cycles = COPY_864 + MOVE_864, .steps = { MOVE(864), TAKE(COPY_864) } },
        { "pieces", OP_SLICE, PASS_FORWARD, AT(.axis = 1, .pieces = 5), IN(H(60, 50)), .steps = { { 0 } } },
        { "pieces' gradient", OP_SLICE, PASS_BACKWARD_DATA, AT(.axis = 1, .pieces = 5), IN(H(60, 50)), MAKES(H(60, 50)), .steps = { { 0 } } },
        { "prepared", OP_INPUT_PREPARE, PASS_FORWARD, AT(.to_type = TYPE_FP16), IN({ TYPE_UINT8, { 60, 50 } }), .n_tiles_used = 7,
          .steps = { TAKE(12 + 7 * (37 + 18 * 9)), MAP(VECTOR, 3000), MAP(VECTOR, 3000), MOVE(864) } },
    };
    CHECK(operations, false);
}

/* A weight has 3000 elements. The fullest tile has 432 halves or 430 floats: 72 for a worker, in 18 or 36 vectors. A
 * gradient is on other tiles than its accumulator. A norm has 7 partial sums. If one operand is half and the other
 * float, a scaled addition takes four elements in 5 cycles, 60 + 7 (15 + 5 x 18); other work first casts two halves
 * a cycle, 12 + 7 (37 + 36). */
static void test_updates(void **state)
{
    (void)state;
    enum { BOTH = 795, CAST = 523, ADD_2 = 543, ADD_4 = 921, SQUARE_4 = 643, SQRT_4 = 2659, SCALAR_4 = 655, DIVIDE_4 = 2659, FILL_2 = 308, NORM_2 = 256, NORM_4 = 382 };
#define NORM           SUM(REDUCE_SQUARE, 3000), MEET(1, 7)
#define ADAM           MAP(SCALED_ADD, 3000), MAP(SQUARE, 3000), MAP(SCALED_ADD, 3000), MAP(SQRT, 3000), MAP(SCALAR, 3000), MAP(DIVIDE, 3000), \
                       MAP(SCALED_ADD, 3000), MAP(SCALED_ADD, 3000), MAP(FILL, 3000)
#define SECOND         TAKE(CAST), TAKE(SQUARE_4), TAKE(ADD_4), TAKE(SQRT_4), TAKE(SCALAR_4)
    static const struct {
        const char *name;
        enum vector_work work;
        enum data_type type;
        double moment_bytes;
        struct step steps[MOST_STEPS];
    } works[] = {
        { "accumulate", WORK_ACCUMULATE, TYPE_FP16, 4, { MOVE(864), MAP(SCALED_ADD, 3000) } },
        { "zero", WORK_ZERO, TYPE_FP16, 4, { MAP(FILL, 3000) } },
        { "rearrange", WORK_REARRANGE, TYPE_FP16, 0, { MOVE(864), TAKE(7 * (48 + 18)) } },
        { "squares", WORK_SQUARES, TYPE_FP16, 4, { NORM } },
        { "scale", WORK_SCALE, TYPE_FP16, 4, { MAP(SCALAR, 3000) } },
        { "momentum", WORK_SGD_MOMENTUM, TYPE_FP16, 2, { MAP(SCALED_ADD, 3000), MAP(SCALED_ADD, 3000), MAP(SCALED_ADD, 3000) } },
        { "momentum, less than floats", WORK_SGD_MOMENTUM, TYPE_FP16, 3.5, { MAP(SCALED_ADD, 3000), MAP(SCALED_ADD, 3000), MAP(SCALED_ADD, 3000) } },
        { "momentum, floats", WORK_SGD_MOMENTUM, TYPE_FP16, 4, { TAKE(ADD_2), TAKE(BOTH), TAKE(BOTH) } },
        { "momentum, halves of floats", WORK_SGD_MOMENTUM, TYPE_FP32, 2, { TAKE(ADD_4), TAKE(BOTH), TAKE(BOTH) } },
        { "momentum, all floats", WORK_SGD_MOMENTUM, TYPE_FP32, 4, { TAKE(ADD_4), TAKE(ADD_4), TAKE(ADD_4) } },
        { "LARS", WORK_LARS, TYPE_FP16, 2, { MAP(SCALED_ADD, 3000), MAP(SCALED_ADD, 3000), MAP(SCALED_ADD, 3000), NORM, NORM } },
        { "LARS, floats", WORK_LARS, TYPE_FP16, 5, { TAKE(ADD_2), TAKE(BOTH), TAKE(BOTH), NORM, NORM } },
        { "Adam", WORK_ADAM, TYPE_FP16, 2, { ADAM } },
        { "Adam, quarters", WORK_ADAM, TYPE_FP16, 1, { ADAM } },
        { "Adam, all floats", WORK_ADAM, TYPE_FP32, 4, { ADAM } },
        { "Adam, floats", WORK_ADAM, TYPE_FP16, 4, { TAKE(BOTH), SECOND, TAKE(DIVIDE_4), TAKE(BOTH), TAKE(BOTH), TAKE(FILL_2) } },
        { "Adam, both", WORK_ADAM, TYPE_FP16, 3, { TAKE(ADD_2), SECOND, TAKE(CAST), TAKE(DIVIDE_4), TAKE(BOTH), TAKE(BOTH), TAKE(FILL_2) } },
        { "LAMB", WORK_LAMB, TYPE_FP16, 2, { ADAM, NORM, NORM } },
        { "LAMB, floats", WORK_LAMB, TYPE_FP16, 4, { TAKE(BOTH), SECOND, TAKE(DIVIDE_4), TAKE(BOTH), TAKE(BOTH), TAKE(FILL_2),
                                                     TAKE(NORM_2), MEET(1, 7), TAKE(NORM_4), MEET(1, 7) } },
    };
    struct chip chip = wide_chip(TILES);
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        struct op_plan p;
        vector_work_plan(&p, works[i].work, 3000, works[i].type, works[i].moment_bytes, &chip, &(struct op_plan_options){ 0 });
        assert_steps(works[i].name, &p, works[i].steps, &chip, data_type_bytes(works[i].type));
        assert_int_equal(p.n_tiles_used, 7);
    }
}

/* ---- through time ------------------------------------------------------------------------------------------------------------------------ */

static void add_times(struct op_plan *to, const struct op_plan *p, uint64_t times)
{
    to->compute_cycles += times * p->compute_cycles;
    to->exchange_cycles += times * p->exchange_cycles;
    to->sync_cycles += times * p->sync_cycles;
    to->n_supersteps += (uint32_t)times * p->n_supersteps;
    to->exchanged_bytes += times * p->exchanged_bytes;
    to->rearrange_cycles += times * p->rearrange_cycles;
    to->mac += times * p->mac;
    to->code.supersteps += p->code.supersteps;
    to->code.exchanges += p->code.exchanges;
    to->code.pieces += p->code.pieces;
    to->code.state_bytes += p->code.state_bytes;
    to->code.field_bytes += p->code.field_bytes;
    to->temp_bytes_per_tile = p->temp_bytes_per_tile > to->temp_bytes_per_tile ? p->temp_bytes_per_tile : to->temp_bytes_per_tile;
}

struct product { uint32_t rows, inner, columns; enum op_pass pass; uint64_t times; };
static struct op_plan product_plan(const struct product *m, const struct chip *chip, struct plan_cache *cache)
{
    struct op_plan_options options = { .available_memory = 0.6 };
    struct conv_shape s = matmul_conv_shape(1, m->rows, m->inner, m->columns, TYPE_FP16, m->pass);
    struct op_plan p;
    cached_conv_plan(&p, &s, chip, &options, cache);
    return p;
}

/* 3 samples of 11 steps of 24 inputs, 20 hidden: 60 units a step. All gates of all steps are 2640 (LSTM) or 1980
 * (GRU) products. */
#define LSTM_IN IN(H(3, 11, 24), H(24, 80), H(20, 80), H(160))
#define GRU_IN  IN(H(3, 11, 24), H(24, 60), H(20, 60), H(120))
#define LSTM_BACK { MOVE(72), MAP(VECTOR, 240), MAP(TANH_IN_PLACE, 60), MAP(BINARY, 120), MAP(TANH_GRAD, 60), MAP(BINARY_IN_PLACE, 60), MAP(BINARY, 240), \
                    MAP(SIGMOID_GRAD, 180), MAP(TANH_GRAD, 60), MAP(COPY, 240) }
#define GRU_FORTH { MOVE(56), MAP(VECTOR, 180), MAP(SIGMOID, 120), MAP(BINARY, 60), MAP(BINARY_IN_PLACE, 60), MAP(TANH_IN_PLACE, 60), MAP(BINARY, 60), \
                    MAP(BINARY, 60), MAP(BINARY_IN_PLACE, 60), MAP(COPY, 60) }
#define GRU_BACK  { MOVE(56), MAP(VECTOR, 180), MAP(BINARY, 180), MAP(TANH_GRAD, 60), MAP(BINARY, 120), MAP(SIGMOID_GRAD, 120), \
                    MAP(BINARY_IN_PLACE, 60), MAP(COPY, 240) }
static const struct recurrence { struct operation op; uint64_t kept_bytes; struct product products[4]; struct step once[3]; } recurrences[] = {
    { { "LSTM", OP_LSTM, PASS_FORWARD, AT(.hidden = 20), LSTM_IN,
        .steps = { MOVE(72), MAP(VECTOR, 240), MAP(SIGMOID, 180), MAP(TANH_IN_PLACE, 60), MAP(BINARY, 60), MAP(BINARY, 60), MAP(BINARY_IN_PLACE, 60),
                   MAP(TANH_IN_PLACE, 60), MAP(BINARY, 60), MAP(COPY, 60) } },
      755, { { 33, 24, 80, PASS_FORWARD, 1 }, { 3, 20, 80, PASS_FORWARD, 11 } }, { { 0 } } },
    { { "LSTM's data", OP_LSTM, PASS_BACKWARD_DATA, AT(.hidden = 20), LSTM_IN, MAKES(H(3, 11, 24), H(3, 11, 80)), .steps = LSTM_BACK },
      755, { { 33, 80, 24, PASS_BACKWARD_DATA, 1 }, { 3, 80, 20, PASS_FORWARD, 11 } }, { { 0 } } },
    { { "LSTM's data, of the first layer", OP_LSTM, PASS_BACKWARD_DATA, AT(.hidden = 20), LSTM_IN, MAKES(H(3, 11, 80)), .steps = LSTM_BACK },
      0, { { 3, 80, 20, PASS_FORWARD, 11 } }, { { 0 } } },
    { { "LSTM's weights", OP_LSTM, PASS_BACKWARD_WEIGHT, AT(.hidden = 20), LSTM_IN, MAKES(H(24, 80)), .steps = { { 0 } } },
      0, { { 44, 33, 80, PASS_BACKWARD_WEIGHT, 1 } }, { SUM(REDUCE, 2640), MEET(12, 7) } },
    { { "GRU", OP_GRU, PASS_FORWARD, AT(.hidden = 20), GRU_IN, .steps = GRU_FORTH },
      566, { { 33, 24, 60, PASS_FORWARD, 1 }, { 3, 20, 60, PASS_FORWARD, 11 } }, { { 0 } } },
    { { "GRU reset before", OP_GRU, PASS_FORWARD, AT(.hidden = 20, .reset_before = true), GRU_IN, .steps = GRU_FORTH },
      566, { { 33, 24, 60, PASS_FORWARD, 1 }, { 3, 20, 40, PASS_FORWARD, 11 }, { 3, 20, 20, PASS_FORWARD, 11 } }, { { 0 } } },
    { { "GRU's data", OP_GRU, PASS_BACKWARD_DATA, AT(.hidden = 20), GRU_IN, MAKES(H(3, 11, 24), H(3, 11, 80)), .steps = GRU_BACK },
      566, { { 33, 60, 24, PASS_BACKWARD_DATA, 1 }, { 3, 60, 20, PASS_FORWARD, 11 } }, { { 0 } } },
    { { "GRU's data, reset before", OP_GRU, PASS_BACKWARD_DATA, AT(.hidden = 20, .reset_before = true), GRU_IN, MAKES(H(3, 11, 80)),
        .steps = GRU_BACK },
      0, { { 3, 40, 20, PASS_FORWARD, 11 }, { 3, 20, 20, PASS_FORWARD, 11 } }, { { 0 } } },
    { { "GRU's weights", OP_GRU, PASS_BACKWARD_WEIGHT, AT(.hidden = 20), GRU_IN, MAKES(H(24, 60)), .steps = { { 0 } } },
      0, { { 44, 33, 60, PASS_BACKWARD_WEIGHT, 1 } }, { SUM(REDUCE, 1980), MEET(9, 7) } },
};

static void check_recurrences(const struct chip *chip)
{
    for (size_t i = 0; i < sizeof recurrences / sizeof *recurrences; i++) {
        const struct recurrence *r = &recurrences[i];
        struct plan_cache cache = { 0 };
        struct op_plan want = { 0 }, cell = { 0 }, got = planned(&r->op, chip, false);
        for (const struct product *m = r->products; m->rows; m++) {
            struct op_plan p = product_plan(m, chip, &cache);
            add_times(&want, &p, m->times);
        }
        for (const struct step *s = r->once; s->kind != END; s++)
            take_step(&want, chip, s, 2);
        for (const struct step *s = r->op.steps; s->kind != END; s++)
            take_step(&cell, chip, s, 2);
        cell.temp_bytes_per_tile = r->kept_bytes;
        add_times(&want, &cell, 11);
        want.temp_bytes_per_tile = cell.temp_bytes_per_tile > want.temp_bytes_per_tile ? cell.temp_bytes_per_tile : want.temp_bytes_per_tile;
        assert_same(r->op.name, &got, &want);
        assert_int_equal(got.mac, want.mac);
        assert_int_equal(got.rearrange_cycles, want.rearrange_cycles);
        plan_cache_free(&cache);
    }
}

/* A cell's steps run 11 times, but their code exists once. If a tile has ten times the memory that the products of
 * all steps take, they are multiplied at once, and kept. */
static void test_through_time(void **state)
{
    (void)state;
    struct chip chip = wide_chip(TILES);
    check_recurrences(&chip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_operands), cmocka_unit_test(test_rows), cmocka_unit_test(test_norms), cmocka_unit_test(test_shared_statistics), cmocka_unit_test(test_inference),
        cmocka_unit_test(test_windows), cmocka_unit_test(test_sorted), cmocka_unit_test(test_moved), cmocka_unit_test(test_updates),
        cmocka_unit_test(test_through_time),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
