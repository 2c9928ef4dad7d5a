/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plan_cache.c - plans of convolutions and fully connected layers, each searched once.
 *
 * Plans are found by the shape of the convolution (matmuls are one) and by a digest of the chip's rates and the options. The digest has 64 bits: two
 * chips or option sets with the same digest are not told apart (chance 2^-64 a pair). The memory for temporaries is not in the key: a plan holds for
 * every bound from its own memory to the least memory of a plan that the bound left out.
 */
#include "system-model/compiler/conv.h"
#include "system-model/graph/graph.h"

/* splits_of is the digest of the chip whose splits are priced; 0 if splits are searched. */
struct plan_key { struct conv_shape shape; uint64_t digest, splits_of, fully_connected; };
_Static_assert(offsetof(struct conv_shape, columns_are_field) + sizeof(uint32_t) == sizeof(struct conv_shape), "a shape ends without padding");
_Static_assert(sizeof(struct plan_key) == sizeof(struct conv_shape) + 3 * sizeof(uint64_t), "so does a key");

/* One answer to a key, for a range of bounds on the memory. */
struct known_plan {
    struct bounds within;               /* bounds of the search on the chip that the splits are for */
    struct op_plan *plans;              /* one for each pass of a fully connected layer, else one */
    const struct plan_choice *choice;   /* NULL if the splits are those of another chip */
    struct known_plan *next;
};

/* A digest of everything in the chip and the options that a plan may depend on, apart from the memory for temporaries. Training or inference is
 * left out: it decides which planner plans a product, and the key has the planner. So an evaluation shares the plans of the training's forward
 * pass. */
static uint64_t chip_digest(const struct chip *c, const struct op_plan_options *o)
{
    const uint64_t words[] = {
        c->n_tiles, c->n_workers, chip_turn_cycles(c), c->tile_memory_bytes, c->interleaved_bytes, c->load_bytes_per_cycle,
        c->mac_fp16_fp16_per_cycle, c->mac_fp16_fp32_per_cycle, c->mac_fp32_per_cycle, c->mac_fp8_per_cycle, c->vector_bytes_per_cycle,
        c->weight_load_bytes_per_cycle,
        c->conv_units_fp16_fp16, c->conv_units_fp16_fp32, c->conv_units_fp32, c->exchange_bytes_per_cycle,
        c->tiles_per_exchange_bus, (uint64_t)c->planner_copies, (uint64_t)c->planner_input, superstep_cycles(c), c->exchange_transit_cycles,
        o->n_tiles, (uint64_t)o->partials,
    };
    const double rates[] = { chip_exchange_bytes_per_cycle(c), c->amp_efficiency };
    return hash_bytes(rates, sizeof rates, hash_bytes(words, sizeof words, 0));
}

void plan_cache_free(struct plan_cache *c)
{
    arena_free(&c->arena);
    *c = (struct plan_cache){ 0 };
}

static struct layer_shape layer_shape_of(const struct conv_shape *s)
{
    return (struct layer_shape){ s->groups, s->out_chans, (uint32_t)s->in_chans, s->field_h, (enum data_type)s->type };
}

static void search_plan(struct known_plan *out, const struct plan_key *key, const struct chip *chip, const struct op_plan_options *opt, struct arena *a)
{
    struct layer_shape layer = layer_shape_of(&key->shape);
    struct plan_choice *choice = ARENA_NEW(a, struct plan_choice);
    if (key->fully_connected) {
        conv_plan_fully_connected(out->plans, choice, &layer, chip, opt);
    } else {
        conv_plan_search(&out->plans[0], &choice->of_pass[0], &key->shape, chip, opt);
        choice->within = choice->of_pass[0].within;
    }
    out->within = choice->within;
    out->choice = choice;
}

static bool plan_as(struct known_plan *out, const struct plan_key *key, const struct plan_choice *choice, const struct chip *chip,
                    const struct op_plan_options *opt)
{
    struct layer_shape layer = layer_shape_of(&key->shape);
    out->within = choice->within;
    return key->fully_connected ? conv_plan_fully_connected_as(out->plans, choice, &layer, chip, opt)
                                : conv_plan_as(&out->plans[0], &choice->of_pass[0], &key->shape, chip, opt);
}

static const struct known_plan *cached(const struct plan_key *key, const struct chip *chip, const struct op_plan_options *opt, struct plan_cache *c);

/* If splits are taken from another chip, the choice made there is looked up first. A chip that cannot use it searches again. */
static struct known_plan *plan_anew(const struct plan_key *key, uint64_t bound_bytes, const struct chip *chip, const struct op_plan_options *opt,
                                    struct plan_cache *c)
{
    struct known_plan *out = ARENA_NEW(&c->arena, struct known_plan);
    out->plans = ARENA_ARRAY(&c->arena, struct op_plan, key->fully_connected ? N_OP_PASSES : 1);
    if (key->splits_of) {
        struct plan_key there = *key;
        there.digest = key->splits_of;
        there.splits_of = 0;
        if (plan_as(out, key, cached(&there, opt->splits_of, opt, c)->choice, chip, opt))
            return out;
    }
    search_plan(out, key, chip, opt, &c->arena);
    if (key->splits_of)
        out->within = (struct bounds){ bound_bytes, bound_bytes };
    return out;
}

static const struct known_plan *cached(const struct plan_key *key, const struct chip *chip, const struct op_plan_options *opt, struct plan_cache *c)
{
    uint64_t bound_bytes = conv_bound_bytes(key->splits_of ? opt->splits_of : chip, opt);
    struct known_plan **list = hash_table_find(&c->plans, key, sizeof *key);
    for (const struct known_plan *p = list ? *list : NULL; p; p = p->next)
        if (p->within.least_bytes <= bound_bytes && bound_bytes <= p->within.most_bytes) {
            c->hits++;
            return p;
        }
    struct known_plan *p = plan_anew(key, bound_bytes, chip, opt, c);
    c->misses++;
    list = list ? list : hash_table_add(&c->plans, key, sizeof *key, sizeof *list, &c->arena);
    p->next = *list;
    return *list = p;
}

static struct plan_key plan_key_of(const struct conv_shape *s, bool fully_connected, const struct chip *chip, const struct op_plan_options *opt)
{
    return (struct plan_key){ *s, chip_digest(chip, opt), opt->splits_of ? chip_digest(opt->splits_of, opt) : 0, fully_connected };
}

void cached_conv_plan(struct op_plan *out, const struct conv_shape *s, const struct chip *chip,
                      const struct op_plan_options *opt, struct plan_cache *cache)
{
    struct plan_key key = plan_key_of(s, false, chip, opt);
    *out = cached(&key, chip, opt, cache)->plans[0];
}

void cached_fully_connected(struct op_plan *out, const struct matmul_shape *m, enum data_type type,
                                   enum op_pass pass, const struct chip *chip, const struct op_plan_options *opt,
                                   struct plan_cache *cache)
{
    struct conv_shape s = matmul_conv_shape((uint32_t)m->groups, (uint32_t)m->rows, (uint32_t)m->inner, (uint32_t)m->columns,
                                            type, PASS_FORWARD);
    struct plan_key key = plan_key_of(&s, true, chip, opt);
    *out = cached(&key, chip, opt, cache)->plans[pass];
}
