/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collective_layout.c - the ranks of each group sorted by domain, and what is regular about them.
 */
#include "system-model/network/collective_layout.h"

#include <stdlib.h>
#include <string.h>

static uint32_t n_bits(uint64_t x)
{
    uint32_t n = 0;
    for (; x; x &= x - 1)
        n++;
    return n;
}

static int by_domain_number(const void *a, const void *b)
{
    uint32_t x = ((const struct place *)a)->domain, y = ((const struct place *)b)->domain;
    return x < y ? -1 : x > y;
}

/* Appends the places of group g. slot[domain]: 1 + its place among them, 0: none yet; left as it was found. */
static bool place_group(struct layout *at, uint32_t g, uint32_t *slot, const struct topology *t, const struct collective_request *r,
                        struct err *err)
{
    struct place *places = at->places + at->first[g];
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        uint32_t ipu = rank_of(r, g, i), domain = ipu / t->ipus_per_domain;
        if (slot[domain] == 0) {
            places[n] = (struct place){ domain, 0 };
            slot[domain] = ++n;
        }
        uint64_t *positions = &places[slot[domain] - 1].positions, bit = (uint64_t)1 << ipu % t->ipus_per_domain;
        if (*positions & bit)
            return fail(err, "%s: IPU %u stands twice in group %u", collective_kind_names[r->kind], ipu, g);
        *positions |= bit;
    }
    for (uint32_t i = 0; i < n; i++)
        slot[places[i].domain] = 0;
    sort_items(places, n, sizeof *places, by_domain_number);
    at->first[g + 1] = at->first[g] + n;
    return true;
}

static void judge_layout(struct layout *at)
{
    for (uint32_t i = 0; i < at->first[at->n_groups]; i++)
        if (n_bits(at->places[i].positions) > at->n_local)
            at->n_local = n_bits(at->places[i].positions);
    for (uint32_t g = 0; g < at->n_groups; g++)
        if (at->first[g + 1] - at->first[g] > at->n_domains)
            at->n_domains = at->first[g + 1] - at->first[g];
    at->spanning = at->regular = at->first[at->n_groups] == at->n_groups * at->n_domains;
    for (uint32_t i = 0; i < at->first[at->n_groups]; i++)
        at->regular = at->regular && n_bits(at->places[i].positions) == at->n_local;
    at->alike = at->regular;
    for (uint32_t i = 0; at->alike && i < at->n_groups * at->n_domains; i++)
        at->alike = at->places[i].domain == at->places[i % at->n_domains].domain &&
                    at->places[i].positions == at->places[i - i % at->n_domains].positions;
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

static bool find_layout(struct layout *at, const struct topology *t, const struct collective_request *r, struct arena *a, struct err *err)
{
    uint32_t *slot = ARENA_ARRAY(a, uint32_t, t->n_domains);
    *at = (struct layout){ .n_groups = r->n_groups };
    at->places = ARENA_ARRAY(a, struct place, (size_t)r->n_groups * r->n_ranks);
    at->first = ARENA_ARRAY(a, uint32_t, (size_t)r->n_groups + 1);
    for (uint32_t g = 0; g < r->n_groups; g++)
        if (!place_group(at, g, slot, t, r, err))
            return false;
    judge_layout(at);
    return true;
}

/* No more of it than is used. */
static void keep_layout(struct layout *to, const struct layout *at, struct arena *a)
{
    uint32_t n_places = at->first[at->n_groups];
    *to = *at;
    to->places = ARENA_ARRAY(a, struct place, n_places);
    to->first = ARENA_ARRAY(a, uint32_t, (size_t)at->n_groups + 1);
    memcpy(to->places, at->places, n_places * sizeof *to->places);
    memcpy(to->first, at->first, ((size_t)at->n_groups + 1) * sizeof *to->first);
}

bool collective_layout(struct layout *at, const struct topology *t, const struct collective_request *r, struct collective_ways *ways,
                       struct arena *scratch, struct err *err)
{
    const struct layout *known = r->ranks ? NULL : memo_find(&ways->layouts, &r->pattern, sizeof r->pattern);
    if (known) {
        *at = *known;
        return true;
    }
    if (!check_ranks(t, r, err) || !find_layout(at, t, r, scratch, err))
        return false;
    if (!r->ranks)
        keep_layout(memo_add(&ways->layouts, &r->pattern, sizeof r->pattern, sizeof *at, ways->a), at, ways->a);
    return true;
}
