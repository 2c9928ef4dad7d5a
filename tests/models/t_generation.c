/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_generation.c - text token by token: a pass with kept keys and values gives the scores of the whole text; work and bytes by hand. */
#include "tests/built_graph.h"
#include "tests/execute.h"
#include "workloads/models/builders.h"

enum { LENGTH = 6 };
static const struct decoder_config gptj = { .kind = DECODER_GPTJ, .n_layers = 2, .hidden = 12, .heads = 2, .turned = 4, .vocabulary = 11 };
static const struct decoder_config llama = { .kind = DECODER_LLAMA, .n_layers = 2, .hidden = 24, .heads = 6, .key_heads = 2, .inner = 10, .vocabulary = 11, .epsilon = 1e-5 };
static const struct decoder_config bloom = { .kind = DECODER_BLOOM, .n_layers = 2, .hidden = 9, .heads = 3, .vocabulary = 11 };
static const struct decoder_config gpt2 = { .kind = DECODER_GPT2, .n_layers = 2, .hidden = 6, .heads = 2, .vocabulary = 11, .positions = 9 };
static const struct workload families[] = {
    { .name = "gptj", .build = decoder_build, .config = &gptj, .default_sequence_length = LENGTH },
    { .name = "llama", .build = decoder_build, .config = &llama, .default_sequence_length = LENGTH },
    { .name = "bloom", .build = decoder_build, .config = &bloom, .default_sequence_length = LENGTH },
    { .name = "gpt2", .build = decoder_build, .config = &gpt2, .default_sequence_length = LENGTH },
};
enum { N_FAMILIES = sizeof families / sizeof *families };

struct text { struct graph g; double **v; };

static double noise(uint64_t a, uint64_t b)
{
    uint64_t seed[2] = { a, b };
    return (double)(hash_bytes(seed, sizeof seed, 11) % 2000003) / 2000003 - 0.5;
}

/* Weights by their number, so that both forms of a model have the same. Tokens are 3, 5, 7..; positions count from `first`. */
static void fill(struct text *t, uint64_t first, struct arena *a)
{
    uint64_t n_weights = 0;
    t->v = ARENA_ARRAY(a, double *, t->g.n_tensors);
    for (uint32_t i = 0; i < t->g.n_tensors; i++) {
        const struct tensor *x = &t->g.tensors[i];
        uint64_t n = tensor_elements(x), number = x->role == ROLE_WEIGHT ? ++n_weights : 0;
        t->v[i] = ARENA_ARRAY(a, double, n);
        if (x->role == ROLE_STATE)
            state_values(t->v[i], x);
        for (uint64_t k = 0; k < n && number; k++)
            t->v[i][k] = noise(number, k);
        for (uint64_t k = 0; k < n && x->role == ROLE_INPUT; k++)
            t->v[i][k] = text_is(x->name, "last-token") ? LENGTH - 1 : text_is(x->name, "positions") ? (double)(first + k) : (double)((3 + 2 * (first + k)) % 11);
    }
}

static void build_text(struct text *t, const struct workload *w, int cache, uint64_t first, struct arena *a)
{
    struct err err = { "" };
    const struct model_options o = { .where = "r.ini", .micro_batch = 1, .inference = true, .generation = { .prompt_tokens = 2, .new_tokens = 3, .cache = cache } };
    assert_true(workload_graph(&t->g, w, &o, a, &err));
    t->g.n_forward_ops = t->g.n_ops;
    fill(t, first, a);
}

/* The k-th product of two results of four dimensions: scores and sums of values, in turn. Llama's keys are found before they are repeated. */
static uint32_t kept(const struct graph *g, uint32_t k)
{
    for (size_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].kind == OP_MATMUL && g->tensors[g->ops[i].inputs[1]].n_dims == 4 && k-- == 0) {
            const struct op *from = &g->ops[g->tensors[g->ops[i].inputs[1]].producer_op];
            while (from->kind == OP_VIEW || from->kind == OP_EXPAND)
                from = &g->ops[g->tensors[from->inputs[0]].producer_op];
            return from->outputs[0];
        }
    assert_true(false);
    return NO_ID;
}

/* Hands keys and values of all tokens but the last over. */
static void hand_over(struct text *newest, const struct text *whole)
{
    uint32_t k = 0;
    for (size_t i = 0; i < newest->g.n_ops; i++) {
        const struct op *op = &newest->g.ops[i];
        if (op->kind != OP_CONCAT)
            continue;
        uint32_t from = kept(&whole->g, k++);
        const struct tensor *t = &newest->g.tensors[op->inputs[0]];
        assert_int_equal(t->dims[2], LENGTH - 1);
        for (uint64_t h = 0; h < t->dims[1]; h++)
            memcpy(newest->v[op->inputs[0]] + h * (LENGTH - 1) * t->dims[3], whole->v[from] + h * LENGTH * t->dims[3], (LENGTH - 1) * t->dims[3] * sizeof(double));
    }
    assert_int_equal(k, 4);
}

/* The last row of the whole text's table of angles. */
static void turn_to_last(struct text *newest, const struct text *whole)
{
    static const char *const names[][2] = { { "newest-cosines", "rotary-cosines" }, { "newest-sines", "rotary-sines" } };
    for (uint32_t i = 0; i < newest->g.n_tensors; i++)
        for (uint32_t k = 0; k < whole->g.n_tensors; k++)
            for (int n = 0; n < 2; n++)
                if (text_is(newest->g.tensors[i].name, names[n][0]) && text_is(whole->g.tensors[k].name, names[n][1])) {
                    uint64_t half = newest->g.tensors[i].dims[2];
                    memcpy(newest->v[i], whole->v[k] + (LENGTH - 1) * half, half * sizeof(double));
                }
}

static void kept_keys_give_the_same_scores(void **state)
{
    (void)state;
    for (int f = 0; f < N_FAMILIES; f++) {
        struct arena a = { 0 };
        struct text whole, newest;
        build_text(&whole, &families[f], CACHE_NONE, 0, &a);
        build_text(&newest, &families[f], CACHE_ON_CHIP, LENGTH - 1, &a);
        graph_execute(&whole.g, whole.v);
        hand_over(&newest, &whole);
        turn_to_last(&newest, &whole);
        graph_execute(&newest.g, newest.v);
        const double *want = whole.v[whole.g.ops[whole.g.n_ops - 1].outputs[0]], *got = newest.v[newest.g.ops[newest.g.n_ops - 1].outputs[0]];
        for (int i = 0; i < 11; i++)
            assert_near(got[i], want[i], 1e-12);
        arena_free(&a);
    }
}

/* GPT-2 small, one token of 1024: 12 layers of 12 h^2 and 2 T h, and the head V h, with h = 768, T = 1024, V = 50257. */
static void work_of_a_token(void **state)
{
    struct arena a;
    struct graph g;
    struct model_options o = { .micro_batch = 1, .inference = true, .generation = { .prompt_tokens = 1, .new_tokens = 1, .cache = CACHE_ON_CHIP } };
    (void)state;
    build(&g, "gpt2-small", &o, &a);
    assert_int_equal(graph_forward_mac(&g), 12 * (12 * 768 * 768 + 2 * 1024 * 768) + 50257 * 768);
    uint64_t cache_bytes = 0;
    for (size_t i = 0; i < g.n_tensors; i++)
        cache_bytes += text_is(g.tensors[i].name, "keys") || text_is(g.tensors[i].name, "values") ? tensor_bytes(&g.tensors[i]) : 0;
    assert_int_equal(cache_bytes, 12 * 2 * 1023 * 768 * 2);
    arena_free(&a);
}

/* 4 bits a number, and a scale and an addend of 2 bytes for each 64 of them: a layer's 12 h^2 numbers in 12 h^2 (1 / 2 + 4 / 64) bytes. The word table stays. */
static void bytes_of_packed_weights(void **state)
{
    struct arena a;
    struct graph g;
    struct model_options o = { .micro_batch = 1, .inference = true, .generation = { .prompt_tokens = 1, .new_tokens = 1, .weight_bits = 4 } };
    uint64_t packed = 0, n_unpacked = 0;
    (void)state;
    build(&g, "gpt2-small", &o, &a);
    for (size_t i = 0; i < g.n_tensors; i++)
        packed += g.tensors[i].type == TYPE_INT4 ? tensor_bytes(&g.tensors[i]) : 0;
    for (size_t i = 0; i < g.n_ops; i++)
        n_unpacked += g.ops[i].kind == OP_CAST && g.tensors[g.ops[i].inputs[0]].type == TYPE_INT4;
    assert_int_equal(packed, 12 * 12 * 768 * 768 * 9 / 16);
    assert_int_equal(n_unpacked, 12 * 4);
    assert_int_equal(graph_parameters(&g), 124439808);
    arena_free(&a);
}

/* The device hands out one number a text, the host gets all scores of one token. */
static void results_of_a_call(void **state)
{
    (void)state;
    for (int choice = CHOICE_BY_HOST; choice <= CHOICE_BY_DEVICE; choice++) {
        struct arena a;
        struct graph g;
        struct model_options o = { .micro_batch = 3, .inference = true, .sequence_length = 16, .generation = { .prompt_tokens = 1, .new_tokens = 1, .choice = choice } };
        build(&g, "flan-t5-base", &o, &a);
        const struct tensor *last = &g.tensors[g.ops[g.n_ops - 1].outputs[0]];
        assert_int_equal(tensor_elements(last), choice == CHOICE_BY_DEVICE ? 3 : 3 * 32128);
        assert_int_equal(last->type, choice == CHOICE_BY_DEVICE ? TYPE_INT32 : TYPE_FP16);
        arena_free(&a);
    }
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(kept_keys_give_the_same_scores), cmocka_unit_test(work_of_a_token),
                                           cmocka_unit_test(bytes_of_packed_weights), cmocka_unit_test(results_of_a_call) };
TAP_MAIN(tests)
