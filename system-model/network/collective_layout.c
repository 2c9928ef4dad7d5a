/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collective_layout.c - the ranks of each group sorted by domain, and what is regular about them.
 */
#include "system-model/network/collective_layout.h"

#include <stdlib.h>
#include <string.h>

static uint32_t n_bits(uint64_t x) { return (uint32_t)__builtin_popcountll(x); }

static int by_domain_number(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return (int)x->domain - (int)y->domain;
}

/* The places of group g: n of them. slot[domain]: 1 + its place among them, 0: none yet; left as it was found. */
static bool list_places(struct place *places, uint32_t *n_places, uint32_t g, uint32_t *slot, const struct topology *t,
                        const struct collective_request *r, struct err *err)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        uint32_t ipu = rank_of(r, g, i), domain = ipu / t->ipus_per_domain;
        if (slot[domain] == 0) {
            places[n] = (struct place){ domain, 0 };
            slot[domain] = ++n;
        }
        uint64_t *positions = &places[slot[domain] - 1].positions, bit = (uint64_t)1 << ipu % t->ipus_per_domain;
        if (*positions & bit)
            return fail(err, "%s: IPU %u appears twice in group %u", collective_kind_names[r->kind], ipu, g);
        *positions |= bit;
    }
    for (uint32_t i = 0; i < n; i++)
        slot[places[i].domain] = 0;
    sort_items(places, n, sizeof *places, by_domain_number);
    *n_places = n;
    return true;
}

static void judge_layout(struct layout *at)
{
    for (uint32_t i = 0; i < at->first[at->n_groups]; i++)
        at->n_local = max_u32(at->n_local, n_bits(at->places[i].positions));
    for (uint32_t g = 0; g < at->n_groups; g++)
        at->n_domains = max_u32(at->n_domains, at->first[g + 1] - at->first[g]);
    at->spanning = at->regular = at->first[at->n_groups] == at->n_groups * at->n_domains;
    for (uint32_t i = 0; i < at->first[at->n_groups]; i++)
        at->regular = at->regular && n_bits(at->places[i].positions) == at->n_local;
}

static bool check_ranks(const struct topology *t, const struct collective_request *r, struct err *err)
{
    for (uint32_t g = 0; g < r->n_groups; g++)
        for (uint32_t i = 0; i < r->n_ranks; i++)
            if (rank_of(r, g, i) >= t->n_ipus)
                return fail(err, "%s: rank %u of group %u is IPU %u; %s has IPUs 0 to %u", collective_kind_names[r->kind], i, g,
                            rank_of(r, g, i), t->machine->name, t->n_ipus - 1);
    return true;
}

/* Has the group these domains, and in each the same positions? Those are as many as group 0 has, as the ranks of each group are. */
static bool is_alike(const struct layout *at, const struct place *places, uint32_t n)
{
    if (n != at->n_domains)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (places[i].domain != at->places[i].domain || places[i].positions != places[0].positions)
            return false;
    return true;
}

/* alike stays false where the groups are not. */
static bool find_alike(struct layout *at, uint32_t *slot, const struct topology *t, const struct collective_request *r, struct arena *a,
                       struct err *err)
{
    struct place *places = ARENA_ARRAY(a, struct place, min_u32(r->n_ranks, t->n_domains));
    at->places = ARENA_ARRAY(a, struct place, min_u32(r->n_ranks, t->n_domains));
    at->positions = ARENA_ARRAY(a, uint64_t, r->n_groups);
    for (uint32_t g = 0; g < r->n_groups; g++) {
        uint32_t n;
        if (!list_places(places, &n, g, slot, t, r, err))
            return false;
        if (g == 0) {
            memcpy(at->places, places, n * sizeof *places);
            at->n_domains = n, at->n_local = n_bits(places[0].positions);
        }
        if (!is_alike(at, places, n))
            return true;
        at->positions[g] = places[0].positions;
    }
    at->spanning = at->regular = at->alike = true;
    return true;
}

static bool find_layout(struct layout *at, const struct topology *t, const struct collective_request *r, struct arena *a, struct err *err)
{
    uint32_t *slot = ARENA_ARRAY(a, uint32_t, t->n_domains);
    *at = (struct layout){ .n_groups = r->n_groups };
    if (!find_alike(at, slot, t, r, a, err) || at->alike)
        return at->alike;
    *at = (struct layout){ .n_groups = r->n_groups };
    at->places = ARENA_ARRAY(a, struct place, (size_t)r->n_groups * r->n_ranks);
    at->first = ARENA_ARRAY(a, uint32_t, (size_t)r->n_groups + 1);
    for (uint32_t g = 0; g < r->n_groups; g++) {
        uint32_t n;
        if (!list_places(at->places + at->first[g], &n, g, slot, t, r, err))
            return false;
        at->first[g + 1] = at->first[g] + n;
    }
    judge_layout(at);
    return true;
}

static void *copy_of(const void *items, size_t n_bytes, struct arena *a)
{
    return memcpy(arena_alloc(a, n_bytes), items, n_bytes);
}

/* No more of it than is used. */
static void keep_layout(struct layout *to, const struct layout *at, struct arena *a)
{
    uint32_t n_places = at->alike ? at->n_domains : at->first[at->n_groups];
    *to = *at;
    to->places = copy_of(at->places, n_places * sizeof *at->places, a);
    if (at->alike)
        to->positions = copy_of(at->positions, at->n_groups * sizeof *at->positions, a);
    else
        to->first = copy_of(at->first, ((size_t)at->n_groups + 1) * sizeof *at->first, a);
}

bool collective_layout(struct layout *at, const struct topology *t, const struct collective_request *r, struct collective_ways *ways,
                       struct arena *scratch, struct err *err)
{
    const struct layout *known = r->ranks ? NULL : hash_table_find(&ways->layouts, &r->pattern, sizeof r->pattern);
    if (known) {
        *at = *known;
        return true;
    }
    if (!check_ranks(t, r, err) || !find_layout(at, t, r, scratch, err))
        return false;
    if (!r->ranks)
        keep_layout(hash_table_add(&ways->layouts, &r->pattern, sizeof r->pattern, sizeof *at, ways->a), at, ways->a);
    return true;
}
