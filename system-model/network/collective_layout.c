/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collective_layout.c - the ranks of each group sorted by domain, and what is regular about them.
 */
#include "system-model/network/collective_internal.h"

static uint32_t n_bits(uint64_t x) { return (uint32_t)__builtin_popcountll(x); }

/* Lists the places of group g. slot[domain] is 1 + the index of its place, or 0; it is all 0 before and after. */
static bool list_places(struct group_place *places, uint32_t *n_places, uint32_t g, uint32_t *slot, const struct topology *t,
                        const struct collective_request *r, struct err *err)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        uint32_t ipu = collective_rank(r, g, i), domain = ipu / t->ipus_per_domain;
        if (slot[domain] == 0) {
            places[n] = (struct group_place){ domain, 0 };
            slot[domain] = ++n;
        }
        uint64_t *positions = &places[slot[domain] - 1].positions, bit = (uint64_t)1 << ipu % t->ipus_per_domain;
        if (*positions & bit)
            return fail(err, "%s: IPU %u appears twice in group %u", collective_kind_names[r->kind], ipu, g);
        *positions |= bit;
    }
    for (uint32_t i = 0; i < n; i++)
        slot[places[i].domain] = 0;
    SORT_BY(places, n, RISING(struct group_place, domain));
    *n_places = n;
    return true;
}

static void classify_layout(struct collective_layout *at)
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
            if (collective_rank(r, g, i) >= t->n_ipus)
                return fail(err, "%s: rank %u of group %u is IPU %u; %s has only IPUs 0 to %u", collective_kind_names[r->kind], i, g,
                            collective_rank(r, g, i), t->machine->name, t->n_ipus - 1);
    return true;
}

/* True if a group has the domains of group 0, with the same positions in each. */
static bool is_alike(const struct collective_layout *at, const struct group_place *places, uint32_t n)
{
    if (n != at->n_domains)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (places[i].domain != at->places[i].domain || places[i].positions != places[0].positions)
            return false;
    return true;
}

/* Fills the layout if all groups are alike; else at->alike stays false. */
static bool find_alike(struct collective_layout *at, uint32_t *slot, const struct topology *t, const struct collective_request *r, struct arena *a,
                       struct err *err)
{
    struct group_place *places = ARENA_ARRAY(a, struct group_place, min_u32(r->n_ranks, t->n_domains));
    at->places = ARENA_ARRAY(a, struct group_place, min_u32(r->n_ranks, t->n_domains));
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

static bool find_layout(struct collective_layout *at, const struct topology *t, const struct collective_request *r, struct arena *a, struct err *err)
{
    uint32_t *slot = ARENA_ARRAY(a, uint32_t, t->n_domains);
    *at = (struct collective_layout){ .n_groups = r->n_groups };
    if (!find_alike(at, slot, t, r, a, err) || at->alike)
        return at->alike;
    *at = (struct collective_layout){ .n_groups = r->n_groups };
    at->places = ARENA_ARRAY(a, struct group_place, (size_t)r->n_groups * r->n_ranks);
    at->first = ARENA_ARRAY(a, uint32_t, (size_t)r->n_groups + 1);
    for (uint32_t g = 0; g < r->n_groups; g++) {
        uint32_t n;
        if (!list_places(at->places + at->first[g], &n, g, slot, t, r, err))
            return false;
        at->first[g + 1] = at->first[g] + n;
    }
    classify_layout(at);
    return true;
}

static void *copy_of(const void *items, size_t n_bytes, struct arena *a)
{
    return memcpy(arena_alloc(a, n_bytes), items, n_bytes);
}

/* Copies the part that is in use into the cache. */
static void cache_layout(struct collective_layout *to, const struct collective_layout *at, struct arena *a)
{
    uint32_t n_places = at->alike ? at->n_domains : at->first[at->n_groups];
    *to = *at;
    to->places = copy_of(at->places, n_places * sizeof *at->places, a);
    if (at->alike)
        to->positions = copy_of(at->positions, at->n_groups * sizeof *at->positions, a);
    else
        to->first = copy_of(at->first, ((size_t)at->n_groups + 1) * sizeof *at->first, a);
}

bool collective_layout_find(struct collective_layout *at, const struct topology *t, const struct collective_request *r, struct collective_cache *cache,
                       struct arena *scratch, struct err *err)
{
    const struct collective_layout *known = r->ranks ? NULL : hash_table_find(&cache->layouts, &r->pattern, sizeof r->pattern);
    if (known) {
        *at = *known;
        return true;
    }
    if (!check_ranks(t, r, err) || !find_layout(at, t, r, scratch, err))
        return false;
    if (!r->ranks)
        cache_layout(hash_table_add(&cache->layouts, &r->pattern, sizeof r->pattern, sizeof *at, cache->a), at, cache->a);
    return true;
}
