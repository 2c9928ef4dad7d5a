/*
 * collective_layout.h - where the ranks of a collective are: by group and domain. Private to the collectives.
 */
#ifndef COLLECTIVE_LAYOUT_H
#define COLLECTIVE_LAYOUT_H
#include "system-model/network/collective.h"

/* What one group has in one domain; bit i: IPU i of the domain takes part. */
struct place { uint32_t domain; uint64_t positions; };

/* Where the ranks are. Places of group g: places[first[g] .. first[g + 1]), in ascending order of domains. */
struct layout {
    uint32_t n_groups, n_domains, n_local;  /* of a group: its domains at most, its ranks in a domain at most */
    struct place *places;
    uint32_t *first;
    bool spanning;                          /* every group has n_domains domains */
    bool regular;                           /* and n_local ranks in each */
    bool alike;                             /* and all groups the same domains, each domain the same positions */
};

/* Fails where an IPU stands twice in a group. */
bool collective_layout(struct layout *at, const struct topology *t, const struct collective_request *r, struct arena *a,
                       struct err *err);

#endif
