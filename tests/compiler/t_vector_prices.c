/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_vector_prices.c - operations of PopART held against the library's own tables: tile cycles an element, for 10,000 elements on one tile.
 *
 * A price is worked out from the source that its row names, apart from the program's tables: PopLibs 7eac0f26 (H: lib/popops/popopsCycleEstimators.hpp,
 * C: its .cpp, PE: lib/popops/PerformanceEstimation.cpp, NP: lib/popnn/PerformanceEstimation.hpp, ASM: lib/popops/codelets/asm) and PopART
 * d2f20d78 (PA: willow/src/popx/op), for what an operation consists of. A worker's cycle is a tile's, as six workers issue in turn. Starts are left out,
 * so a price may be up to a tenth off.
 */
#include "tests/check.h"
#include "system-model/graph/graph.h"
#include "tests/chip_fixture.h"
#include "system-model/compiler/passes.h"

enum { ROWS = 10, WIDTH = 1000, N = ROWS * WIDTH };
enum second { NO_SECOND, AS_LARGE, ONE_NUMBER, CONDITION_AND_OTHER, GAMMA, GAMMA_BETA };
static const enum data_type halves = TYPE_FP16, floats = TYPE_FP32, integers = TYPE_INT32, bytes = TYPE_UINT8;

static struct op_plan planned(enum op_kind kind, struct op_attributes at, enum second second, bool backward, enum data_type type)
{
    struct chip chip = small_chip(1);
    struct arena arena = { 0 };
    struct plan_cache cache = { 0 };
    struct graph g;
    const uint64_t dims[] = { ROWS, WIDTH }, ones[] = { 1, 1 }, width[] = { WIDTH };
    graph_start(&g, "one", 1, &arena);
    graph_layer(&g, (struct layer){ .name = "layer", .n_parts = 1 });
    uint32_t in[3] = { graph_tensor(&g, "x", ROLE_ACTIVATION, type, 2, dims) }, n = 1;
    for (uint32_t more = second == CONDITION_AND_OTHER || second == GAMMA_BETA ? 2 : second != NO_SECOND; more-- > 0; )
        in[n++] = graph_tensor(&g, "y", ROLE_ACTIVATION, type, second >= GAMMA ? 1 : 2, second == ONE_NUMBER ? ones : second >= GAMMA ? width : dims);
    uint32_t y = graph_op(&g, kind, in, n, at), gradient = graph_tensor(&g, "gradient", ROLE_GRADIENT, type, 2, dims);
    g.tensors[gradient].of_tensor = in[0];
    if (backward)
        graph_append(&g, (struct op){ .kind = kind, .pass = PASS_BACKWARD_DATA, .forward_op = 0, .at = g.ops[0].at, .n_inputs = 1, .inputs = &y,
                                      .n_outputs = 1, .outputs = &gradient });
    struct op_plan p;
    struct op_plan_options options = { .available_memory = 0.6 };
    struct operands together = { .imbalance = 1, .together = true };
    op_plan_build(&p, &g, (uint32_t)g.n_ops - 1, together, &chip, &options, &cache);
    plan_cache_free(&cache);
    arena_free(&arena);
    return p;
}

static double price(enum op_kind kind, struct op_attributes at, enum second second, bool backward, enum data_type type)
{
    return (double)planned(kind, at, second, backward, type).compute_cycles / N;
}

#define F(name) { .function = FUNCTION_##name }
static const struct row {
    const char *name, *source;
    enum op_kind kind;
    struct op_attributes at;
    enum second second;
    bool backward;
    double halves, floats;
} rows[] = {
    { "power", "H:383: 325; 312 an element; PA powx.cpp:38: never simplified", OP_COMBINE, F(POWER), ONE_NUMBER, false, 325, 312 },
    { "division by a number", "H:626: 8 of 2; 6 of 2; PA divx.cpp:34", OP_MAP, F(DIVIDE_BY), NO_SECOND, false, 4, 3 },
    { "scores divided", "the same", OP_SCALE, { .rate = 0.125, .divided = true }, NO_SECOND, false, 4, 3 },
    { "division", "H:348: 21 of 4; 10 of 2", OP_COMBINE, F(DIVIDE), AS_LARGE, false, 5.25, 5 },
    { "number over x", "the same, and the number copied out: PA reciprocalx.cpp", OP_COMBINE, { .function = FUNCTION_DIVIDE, .inverted = true }, ONE_NUMBER, false, 5.5, 5.5 },
    { "reciprocal", "the same", OP_MAP, F(RECIPROCAL), NO_SECOND, false, 5.5, 5.5 },
    { "remainder", "H:390: 300 of 4; 133 of 2", OP_COMBINE, F(REMAINDER), AS_LARGE, false, 75, 66.5 },
    { "clip", "ASM/Clamp.S:226, 84: 7 of 2; 4 of 1; two bounds made: PA clipx.cpp:132", OP_MAP, F(CLIP), NO_SECOND, false, 4, 5 },
    { "clip's gradient", "twice not-equal by a number 10 of 4; 18 of 4 (H:738), a cast 2, a product 3 of 4; 3 of 2: PA clipx.cpp:188", OP_MAP, F(CLIP), NO_SECOND, true, 10.5, 16 },
    { "maximum of a number", "H:636: 3 of 4; 3 of 2, and a copy: PA maxx.cpp", OP_COMBINE, F(MAXIMUM), ONE_NUMBER, false, 1, 2 },
    { "maximum", "H:357: 4 of 4; 3 of 2, and a copy", OP_COMBINE, F(MAXIMUM), AS_LARGE, false, 1.25, 2 },
    { "comparison", "H:417: 9 of 4; 14 of 4", OP_COMBINE, F(GREATER), AS_LARGE, false, 2.25, 3.5 },
    { "comparison with a number", "H:696: 8 of 4; 12 of 4", OP_COMBINE, F(GREATER), ONE_NUMBER, false, 2, 3 },
    { "where", "ASM/select_half.S:60: 8; select_int_float.S: 5", OP_SELECT, { 0 }, CONDITION_AND_OTHER, false, 8, 5 },
    { "where's gradient", "a cast from truth 2 (PE:287) and a product: PA wherex.cpp", OP_SELECT, { 0 }, CONDITION_AND_OTHER, true, 2.75, 3.5 },
    { "erf", "H:135: 13; 41", OP_MAP, F(ERF), NO_SECOND, false, 13, 41 },
    { "sine", "H:191: 25; 2300", OP_MAP, F(SIN), NO_SECOND, false, 25, 2300 },
    { "tangent", "H:200: 5700; 5100", OP_MAP, F(TAN), NO_SECOND, false, 5700, 5100 },
    { "arc sine", "H:110: 102 and a loop of 4", OP_MAP, F(ASIN), NO_SECOND, false, 106, 106 },
    { "sign", "H:188: 5 and a loop of 4, of a vector", OP_MAP, F(SIGN), NO_SECOND, false, 2.25, 4.5 },
    { "floor", "H:153: 2 and a loop of 4, of a vector", OP_MAP, F(FLOOR), NO_SECOND, false, 1.5, 3 },
    { "exponential", "H:142: 4 of 4; 6 of 2", OP_MAP, F(EXP), NO_SECOND, false, 1, 3 },
    { "logarithm", "H:172: 4 of 4; 12 of 2", OP_MAP, F(LOG), NO_SECOND, false, 1, 6 },
    { "root", "H:193: 23 of 4; 10 of 2", OP_MAP, F(SQRT), NO_SECOND, false, 5.75, 5 },
    { "tanh", "H:202: 4 of 4; 12 of 2, never in place: PA op/tanh.hpp:16", OP_TANH, { 0 }, NO_SECOND, false, 1, 6 },
    { "sigmoid", "H:297: 4 of 4; 10 of 2 in place", OP_SIGMOID, { 0 }, NO_SECOND, false, 1, 5 },
    { "relu", "H:301: 2 a vector in place", OP_RELU, { 0 }, NO_SECOND, false, 0.5, 1 },
    { "gelu", "NP:33: 5; 10 a vector", OP_GELU, { 0 }, NO_SECOND, false, 1.25, 5 },
    { "gelu's gradient", "NP:71: 5; 10 a vector", OP_GELU, { 0 }, NO_SECOND, true, 1.25, 5 },
    { "swish", "NP:44: 5; 11 a vector", OP_SWISH, { 0 }, NO_SECOND, false, 1.25, 5.5 },
    { "swish's gradient", "NP:80: 9; 15 a vector", OP_SWISH, { 0 }, NO_SECOND, true, 2.25, 7.5 },
    { "sum", "H:310: 1 and a loop of 2, of a vector", OP_ADD, { 0 }, AS_LARGE, false, 0.75, 1.5 },
    { "negation", "H:178: 2 of a vector", OP_MAP, F(NEGATE), NO_SECOND, false, 0.5, 1 },
    { "square", "H:372: a product with itself, 1 and a loop of 2, of a vector: PopTorch makes aten::square a product", OP_MAP, F(SQUARE), NO_SECOND, false, 0.75, 1.5 },
    { "a number added", "H:588: 1 and a loop of 1, of a vector", OP_MAP, F(ADD), NO_SECOND, false, 0.5, 1 },
    { "cosine", "H:130: 25; 2300", OP_MAP, F(COS), NO_SECOND, false, 25, 2300 },
    { "ceiling", "H:128: 2 and a loop of 4, of a vector", OP_MAP, F(CEIL), NO_SECOND, false, 1.5, 3 },
    { "rounding", "H:187: 2 and a loop of 4, of a vector", OP_MAP, F(ROUND), NO_SECOND, false, 1.5, 3 },
    { "no number", "H:171: 3 and a loop of 4, of a vector", OP_MAP, F(IS_NAN), NO_SECOND, false, 1.75, 3.5 },
    { "infinite", "H:166: 5; 3 and a loop of 4, of a vector", OP_MAP, F(IS_INF), NO_SECOND, false, 2.25, 3.5 },
    { "difference", "H:411: 1 and a loop of 2, of a vector", OP_COMBINE, F(SUBTRACT), AS_LARGE, false, 0.75, 1.5 },
    { "minimum", "H:365: 4 of 4; 3 of 2, and a copy: PA minx.cpp", OP_COMBINE, F(MINIMUM), AS_LARGE, false, 1.25, 2 },
    { "equal", "H:418: 9 of 4; 14 of 4", OP_COMBINE, F(EQUAL), AS_LARGE, false, 2.25, 3.5 },
    { "less", "H:445: 9 of 4; 14 of 4", OP_COMBINE, F(LESS), AS_LARGE, false, 2.25, 3.5 },
    { "greater or equal", "H:437: 9 of 4; 14 of 4", OP_COMBINE, F(GREATER_EQUAL), AS_LARGE, false, 2.25, 3.5 },
    { "less or equal", "H:453: 9 of 4; 14 of 4", OP_COMBINE, F(LESS_EQUAL), AS_LARGE, false, 2.25, 3.5 },
    { "product", "H:372: 1 and a loop of 2, of a vector", OP_MUL, { 0 }, AS_LARGE, false, 0.75, 1.5 },
    { "scale", "H:588: 1 and a loop of 1, of a vector", OP_SCALE, { .rate = 0.5 }, NO_SECOND, false, 0.5, 1 },
    { "dropout", "poprandCycleEstimators.cpp:135: 2 of a vector, one generator a tile; the states of six generators copied three times", OP_DROPOUT, { .rate = 0.1 }, NO_SECOND, false, 0.6, 1.1 },
    { "noise", "PT RandomSamplingOps.cpp:69: uniform 4 of a vector (ASM/Uniform.S), comparison with a number 8 of 4; 12 of 4, cast from truth 2, division by a number 8 of 2; 6 of 2; and the states of six generators", OP_NOISE, { .rate = 0.1 }, NO_SECOND, false, 9.1, 10.1 },
    { "softmax", "popnn NonLinearity.cpp:71: largest 1 of a vector and 12 a row, less it 2, exponential 4 of 4; 6 of 2, sum, times 2", OP_SOFTMAX, { 0 }, NO_SECOND, false, 2.6, 6.2 },
    { "layer norm", "sums and squares 1 a vector, mean and deviation 2 (C:232), gamma 1 of 4 and 9, beta 2 of 8 and 13 (C:700, 1035); floats copied out", OP_LAYER_NORM, { 0 }, GAMMA_BETA, false, 4.45, 7.1 },
    { "RMS norm", "graphcore/examples 3cc8f81 nlp/t5/popxl/modelling/layer_norm.py: halves cast to floats and back, 1 of 2 each; x x 3 of 2, a sum 1 of 2, a division by rows 6 of 2; gamma 9 for four channels and 1 for each of a worker's 2 rows (C:1035), floats copied out", OP_RMS_NORM, { 0 }, GAMMA, false, 7.65, 7 },
};

/* Kinds and functions that the tables above leave out, each with the reason or the test that holds its steps. Steps are vertices of the table, so that their
 * prices follow. */
static const struct { enum op_kind kind; const char *why; } other_kinds[] = {
    { OP_CONV, "planned: t_conv_plan, t_conv_search" }, { OP_MATMUL, "planned: t_conv_plan, t_conv_search" }, { OP_CONV_TRANSPOSE, "planned: t_conv_plan, t_conv_search" }, { OP_SPARSE_MATMUL, "planned: t_sparse" },
    { OP_BIAS_ADD, "steps: t_vector_steps" }, { OP_BATCH_NORM, "steps: t_vector_steps" }, { OP_GROUP_NORM, "steps: t_vector_steps" }, { OP_LOCAL_NORM, "steps: t_vector_steps" },
    { OP_MAX_POOL, "windows: t_vector_steps" }, { OP_AVERAGE_POOL, "windows: t_vector_steps" }, { OP_RESIZE, "steps: t_vector_steps" }, { OP_EXPAND, "steps: t_vector_steps" },
    { OP_OUTER_ADD, "steps: t_vector_steps" }, { OP_CROSS_ENTROPY, "steps: t_vector_steps" }, { OP_TRANSDUCER_LOSS, "steps: t_vector_steps" }, { OP_ARG_MAX, "steps: t_vector_steps" },
    { OP_TRANSPOSE, "moves: t_vector_steps" }, { OP_CONCAT, "moves: t_vector_steps" }, { OP_SLICE, "moves: t_vector_steps" }, { OP_PAD, "moves, as a concatenation" },
    { OP_INPUT_PREPARE, "a cast and two scales: t_vector_steps" }, { OP_LSTM, "products and gates: t_vector_steps" }, { OP_GRU, "products and gates: t_vector_steps" },
    { OP_GATHER, "planned: t_vector_lookups" }, { OP_SCATTER, "planned: t_vector_lookups" }, { OP_ROTARY, "single operations: golden text of t_op_costs" },
    { OP_DISTANCE, "a vertex of compiled code, assumed (DISTANCE_SLOPE_CYCLES)" }, { OP_CODELET, "priced by its sheet: t_vector_codelet" }, { OP_VIEW, "nothing moves" },
    { OP_ALL_REDUCE, "links" }, { OP_SHARE, "links" }, { OP_ALL_GATHER, "links" }, { OP_ALL_TO_ALL, "links" },
    { OP_MAP, "by function" }, { OP_COMBINE, "by function" }, { OP_RANDOM, "random_numbers" }, { OP_CAST, "integers_take_one_element_at_a_time" }, { OP_TOP_K, "a_stage_of_the_largest_takes_eleven_a_pair" },
};
static const struct { enum op_function function; const char *why; } other_functions[] = {
    { FUNCTION_ABS, "PopLibs' estimate has 5 an element out of place (H:105), its codelet a vector in 2 cycles (lib/popops/codelets/asm), which is taken" },
    { FUNCTION_AND, "of truth values alone" }, { FUNCTION_OR, "of truth values alone" },
    { FUNCTION_LEAKY_RELU, "an expression: sum of its parts" }, { FUNCTION_ELU, "an expression: sum of its parts" }, { FUNCTION_HARD_SIGMOID, "an expression: sum of its parts" },
    { FUNCTION_HARD_SWISH, "a chain: sum of its parts" }, { FUNCTION_SOFTPLUS, "an expression: sum of its parts" }, { FUNCTION_ACOS, "an expression: sum of its parts" },
    { FUNCTION_ATAN, "a chain: sum of its parts" }, { FUNCTION_SINH, "a chain: sum of its parts" }, { FUNCTION_COSH, "a chain: sum of its parts" },
    { FUNCTION_ASINH, "a chain: sum of its parts" }, { FUNCTION_ACOSH, "a chain: sum of its parts" }, { FUNCTION_ATANH, "a chain: sum of its parts" },
};

/* Each kind and each function has a price by its source above, or a reason here, and no reason is left over. */
static void none_is_without_a_source(void **state)
{
    unsigned of_kind[N_OP_KINDS] = { 0 }, of_function[N_OP_FUNCTIONS] = { 0 };
    (void)state;
    for (const struct row *r = rows; r < rows + sizeof rows / sizeof *rows; r++)
        if (r->kind == OP_MAP || r->kind == OP_COMBINE)
            of_function[r->at.function] = 1;
        else
            of_kind[r->kind] = 1;
    for (size_t i = 0; i < sizeof other_kinds / sizeof *other_kinds; i++)
        of_kind[other_kinds[i].kind]++;
    for (size_t i = 0; i < sizeof other_functions / sizeof *other_functions; i++)
        of_function[other_functions[i].function]++;
    for (int i = 0; i < N_OP_KINDS; i++) {
        if (of_kind[i] != 1)
            print_error("%s has %u places\n", op_kind_names[i], of_kind[i]);
        assert_int_equal(of_kind[i], 1);
    }
    for (int i = 0; i < N_OP_FUNCTIONS; i++) {
        if (of_function[i] != 1)
            print_error("function %d has %u places\n", i, of_function[i]);
        assert_int_equal(of_function[i], 1);
    }
}

static void prices_are_the_librarys(void **state)
{
    (void)state;
    for (const struct row *r = rows; r < rows + sizeof rows / sizeof *rows; r++) {
        double half = price(r->kind, r->at, r->second, r->backward, halves), single = price(r->kind, r->at, r->second, r->backward, floats);
        if (fabs(half / r->halves - 1) > 0.1 || fabs(single / r->floats - 1) > 0.1)
            print_error("%s: %.3g and %.3g cycles an element, not %.3g and %.3g (%s)\n", r->name, half, single, r->halves, r->floats, r->source);
        assert_near(half / r->halves, 1, 0.1);
        assert_near(single / r->floats, 1, 0.1);
    }
}

/* Normal numbers are drawn 4 at a time in halves, 2 in floats, in 4 cycles (poprandCycleEstimators.cpp); the states of six generators are copied. */
static void random_numbers(void **state)
{
    (void)state;
    struct op_attributes at = { .draw = DRAW_NORMAL, .high = 1, .to_type = halves, .view = { ROWS, WIDTH } };
    assert_near(price(OP_RANDOM, at, NO_SECOND, false, integers), 1.05, 0.1);
    at.to_type = floats;
    assert_near(price(OP_RANDOM, at, NO_SECOND, false, integers), 2.05, 0.1);
}

/* Cycles of an integer element: 7 for a sum of two tensors (H:312), 6 for a product with a number (H:590), 277 for a division (H:350), 22 for
 * four comparisons (H:419). Four bytes become halves in 9 (PE:257); another cast takes 2 each (PE:287). Rounding integers takes nothing. */
static void integers_take_one_element_at_a_time(void **state)
{
    (void)state;
    const struct op_attributes divides = F(DIVIDE), compares = F(GREATER), rounds = F(FLOOR), plain = { 0 };
    assert_near(price(OP_ADD, plain, AS_LARGE, false, integers), 7, 0.2);
    assert_near(price(OP_MUL, plain, ONE_NUMBER, false, integers), 6, 0.2);
    assert_near(price(OP_COMBINE, divides, AS_LARGE, false, integers), 277, 1);
    assert_near(price(OP_COMBINE, compares, AS_LARGE, false, integers), 5.5, 0.2);
    assert_near(price(OP_MAP, rounds, NO_SECOND, false, integers), 0, 0);
    assert_near(price(OP_CAST, (struct op_attributes){ .to_type = TYPE_FP16 }, NO_SECOND, false, bytes), 2.25, 0.1);
    assert_near(price(OP_CAST, (struct op_attributes){ .to_type = TYPE_FP32 }, NO_SECOND, false, integers), 2, 0.1);
    assert_near(price(OP_CAST, (struct op_attributes){ .to_type = TYPE_FP32 }, NO_SECOND, false, halves), 0.5, 0.05);
}

/* C:2571: 11 cycles a pair and stage, of floats: ten halvings of rows of 1000 compare 5000, 2500, 1250, ... pairs. */
static void a_stage_of_the_largest_takes_eleven_a_pair(void **state)
{
    (void)state;
    assert_near(price(OP_TOP_K, (struct op_attributes){ .length = 1 }, NO_SECOND, false, floats), 11, 0.6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prices_are_the_librarys), cmocka_unit_test(none_is_without_a_source), cmocka_unit_test(random_numbers), cmocka_unit_test(integers_take_one_element_at_a_time),
        cmocka_unit_test(a_stage_of_the_largest_takes_eleven_a_pair),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
