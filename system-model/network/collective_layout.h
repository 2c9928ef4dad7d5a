/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collective_layout.h - where the ranks of a collective are: by group and domain. Private to the collectives.
 */
#ifndef COLLECTIVE_LAYOUT_H
#define COLLECTIVE_LAYOUT_H
#include "system-model/network/collective.h"

/* What one group has in one domain; bit i: IPU i of the domain takes part. */
struct place { uint32_t domain; uint64_t positions; };

/* Where the ranks are: place_of() tells. Where all groups are alike, one list of domains and the positions of each group say it all. */
struct layout {
    uint32_t n_groups, n_domains, n_local;  /* of a group: its domains at most, its ranks in a domain at most */
    struct place *places;                   /* of group g: places[first[g] .. first[g + 1]), in ascending order of domains; alike: of group 0 */
    uint32_t *first;                        /* alike: NULL */
    uint64_t *positions;                    /* alike: of each group, in each of its domains; else NULL */
    bool spanning;                          /* every group has n_domains domains */
    bool regular;                           /* and n_local ranks in each */
    bool alike;                             /* and all groups the same domains, each domain the same positions */
};

static inline uint32_t n_places_of(const struct layout *at, uint32_t g)
{
    return at->alike ? at->n_domains : at->first[g + 1] - at->first[g];
}

/* Place k of group g. */
static inline struct place place_of(const struct layout *at, uint32_t g, uint32_t k)
{
    return at->alike ? (struct place){ at->places[k].domain, at->positions[g] } : at->places[at->first[g] + k];
}

/* Rank i of group g. */
static inline uint32_t rank_of(const struct collective_request *r, uint32_t g, uint32_t i)
{
    const struct rank_pattern *p = &r->pattern;
    if (r->ranks)
        return r->ranks[(size_t)g * r->n_ranks + i];
    uint32_t start = g / p->n_ipus, first = start / p->stride * p->stride * p->n_ranks + start % p->stride;
    return (first + i * p->stride) * p->width + p->first_ipu + g % p->n_ipus;
}

/* Fails where a rank is no IPU of the machine, or stands twice in a group. Those of a pattern are found once. */
bool collective_layout(struct layout *at, const struct topology *t, const struct collective_request *r, struct collective_ways *ways,
                       struct arena *scratch, struct err *err);

#endif
