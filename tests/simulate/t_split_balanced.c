/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * t_split_balanced.c - the longest stage is as short as can be: as in the best of all divisions, tried one by one; and what a unit takes.
 */
#include "tests/planned.h"
#include "results/simulate/split.h"
#include "system-model/graph/graph.h"

/* ---- all divisions ------------------------------------------------------------------------------------------ */

struct question { struct units u; struct chip chip; struct plan_request o; uint32_t n_stages; bool alone; };

/* The longest stage of one division; UINT64_MAX where a stage but the first and the last is empty, or one has no room. */
static uint64_t longest_stage(const struct question *q, const uint32_t *border)
{
    static const struct { uint32_t of_all, behind; } depth[N_SCHEDULES] = {
        [SCHEDULE_NONE] = { 1, 0 }, [SCHEDULE_SEQUENTIAL] = { 1, 0 }, [SCHEDULE_INTERLEAVED] = { 1, 1 }, [SCHEDULE_GROUPED] = { 1, 2 },
        [SCHEDULE_POPART] = { 1, 2 },
    };
    uint64_t longest = 0;
    for (uint32_t s = 0; s < q->n_stages; s++) {
        bool first = s == 0, last = s == q->n_stages - 1;
        uint64_t flying = q->o.training ? depth[q->o.schedule].of_all + depth[q->o.schedule].behind * (uint64_t)(q->n_stages - 1 - s) : 1, time = 0, bytes = 0;
        for (uint32_t i = border[s]; i < border[s + 1]; i++) {
            time += q->u.time[i + 1] - q->u.time[i];
            bytes += q->u.fixed_bytes[i + 1] - q->u.fixed_bytes[i] + flying * (q->u.kept_bytes[i + 1] - q->u.kept_bytes[i]);
        }
        time += (first ? q->u.first_time : 0) + ((q->alone ? first : last) ? q->u.last_time : 0);
        if ((border[s] == border[s + 1] && !first && !last) || bytes > q->chip.tile_memory_bytes * (q->chip.n_tiles - q->o.io_tiles))
            return UINT64_MAX;
        longest = max_u64(longest, time);
    }
    return longest;
}

static uint64_t best_of_all(const struct question *q, uint32_t *border, uint32_t stage)
{
    uint64_t best = UINT64_MAX;
    if (stage == q->n_stages)
        return longest_stage(q, border);
    for (border[stage] = border[stage - 1]; border[stage] <= q->u.n; border[stage]++) {
        uint64_t one = best_of_all(q, border, stage + 1);
        best = one < best ? one : best;
    }
    return best;
}

static uint64_t draw(uint64_t *seed, uint64_t low, uint64_t high)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return low + (*seed >> 33) % (high - low + 1);
}

enum { MOST_UNITS = 6 };
struct sums { uint64_t time[MOST_UNITS + 1], fixed[MOST_UNITS + 1], kept[MOST_UNITS + 1]; };

static struct question random_question(struct sums *s, uint64_t *seed)
{
    struct question q = { .u = { .n = (uint32_t)draw(seed, 1, MOST_UNITS), .time = s->time, .fixed_bytes = s->fixed, .kept_bytes = s->kept,
                                 .first_time = draw(seed, 0, 9), .last_time = draw(seed, 0, 9) },
                          .chip = { .n_tiles = 5, .tile_memory_bytes = draw(seed, 2, 30) },
                          .o = { .training = draw(seed, 0, 2), .schedule = (enum schedule)draw(seed, 0, N_SCHEDULES - 1), .io_tiles = (uint32_t)draw(seed, 0, 2) },
                          .n_stages = (uint32_t)draw(seed, 2, 4), .alone = draw(seed, 0, 1) };
    for (uint32_t i = 0; i < q.u.n; i++) {
        s->time[i + 1] = s->time[i] + draw(seed, 0, 12);
        s->fixed[i + 1] = s->fixed[i] + draw(seed, 0, 20);
        s->kept[i + 1] = s->kept[i] + draw(seed, 0, 6);
    }
    return q;
}

static void no_division_is_more_even(void **state)
{
    uint64_t seed = 90210, n_valid = 0, n_none = 0;
    (void)state;
    for (int i = 0; i < 4000; i++) {
        struct sums sums = { { 0 }, { 0 }, { 0 } };
        struct question q = random_question(&sums, &seed);
        uint32_t border[6] = { 0 };
        border[q.n_stages] = q.u.n;
        uint64_t best = best_of_all(&q, border, 1);
        struct split got = split_balanced(&q.u, &q.chip, &q.o, q.n_stages, q.alone);
        assert_int_equal(got.valid, best != UINT64_MAX);
        assert_int_equal(got.n_stages, q.n_stages + q.alone);
        n_valid += got.valid;
        n_none += !got.valid;
        if (!got.valid)
            continue;
        assert_int_equal(got.border[0], 0);
        assert_int_equal(got.border[q.n_stages], q.u.n);
        assert_int_equal(got.border[got.n_stages], q.u.n);
        assert_int_equal(longest_stage(&q, got.border), best);
        for (uint32_t s = got.n_stages + 1; s <= MAX_STAGES; s++)
            assert_int_equal(got.border[s], 0);
    }
    assert_true(n_valid > 1000 && n_none > 500);
}

/* ---- what a unit takes --------------------------------------------------------------------------------------- */

struct asked { bool training; enum recompute recompute; enum optimizer_place place; uint32_t shard, n_replicas, grad_accum; };

static void assert_units(const struct plan *p, const struct asked *q)
{
    struct arena a = { 0 };
    struct units u;
    uint64_t around[2] = { 0 };
    uint32_t n = 0;
    units_of_plan(&u, p, &a);
    for (uint32_t i = 0; i < p->graph->n_layers; i++) {
        const struct layer_cost *l = &p->stages[0].compiled->layers[i];
        uint64_t again = q->recompute == RECOMPUTE_NONE ? 0 : l->forward_cycles, kept = q->recompute == RECOMPUTE_NONE ? l->kept_bytes : 0;
        uint64_t time = q->training ? l->forward_cycles + again + l->backward_cycles : l->forward_cycles;
        uint64_t state = q->place == OPTIMIZER_ON_CHIP ? (uint64_t)(7 * (double)l->n_parameters / q->shard) : 0;
        if (p->graph->layers[i].role != LAYER_BODY) {
            around[p->graph->layers[i].role == LAYER_LAST] += time;
            continue;
        }
        assert_true(n < u.n && u.layer[n] == i);
        n++;
        assert_int_equal(u.time[n] - u.time[n - 1], time);
        assert_int_equal(u.fixed_bytes[n] - u.fixed_bytes[n - 1], l->weight_bytes * (q->training && q->n_replicas * q->grad_accum > 1 ? 2 : 1) + (q->training ? state : 0));
        assert_int_equal(u.kept_bytes[n] - u.kept_bytes[n - 1], !q->training ? 0 : q->recompute == RECOMPUTE_LAYER ? l->output_bytes : kept);
    }
    assert_int_equal(u.n, n);
    assert_int_equal(u.first_time, around[0]);
    assert_int_equal(u.last_time, around[1]);
    assert_int_equal(u.time[0] + u.fixed_bytes[0] + u.kept_bytes[0], 0);
    arena_free(&a);
}

/* Training: forward, backward, and forward again where less than all is kept; a weight, its gradients and seven bytes of state for each parameter,
 * or a share of it. Inference: forward, and the weights. */
static void a_unit_by_hand(void **state)
{
    static const struct asked cases[] = {
        { true, RECOMPUTE_NONE, OPTIMIZER_ON_CHIP, 1, 3, 8 }, { true, RECOMPUTE_LAYER, OPTIMIZER_ON_CHIP, 3, 3, 8 },
        { true, RECOMPUTE_STAGE, OPTIMIZER_STREAMING, 1, 1, 8 }, { true, RECOMPUTE_LAYER, OPTIMIZER_ON_CHIP, 1, 1, 1 },
        { true, RECOMPUTE_LAYER, OPTIMIZER_ON_CHIP, 2, 2, 1 }, { false, RECOMPUTE_NONE, OPTIMIZER_ON_CHIP, 1, 3, 8 },
        { false, RECOMPUTE_LAYER, OPTIMIZER_ON_CHIP, 1, 1, 1 },
    };
    struct planned y;
    struct plan p;
    (void)state;
    start(&y, "vendor-ipu-pod16-resnet50-pipelined");
    assert_true(build(&y, &p));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan_request *o = &p.request;
        o->training = cases[i].training;
        o->recompute = cases[i].recompute;
        o->state.place = cases[i].place;
        o->optimizer.state_bytes_per_param = 7;
        o->state.rts = cases[i].shard > 1 ? RTS_YES : RTS_NO;
        o->state.rts_domain = RTS_DOMAIN_ALL;
        o->n_replicas = cases[i].n_replicas;
        o->grad_accum = cases[i].grad_accum;
        assert_units(&p, &cases[i]);
    }
    stop(&y);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(no_division_is_more_even), cmocka_unit_test(a_unit_by_hand) };
TAP_MAIN(tests)
