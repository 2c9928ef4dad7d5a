/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collective_methods.c - the methods of a collective: what each demands of the ranks, and how it plays a reduce-scatter or an all-gather on rings of
 * n ranks with V bytes each.
 *
 *     ring            n-1 steps of V/n to the next rank
 *     bidirectional   n-1 steps of V/2n to both neighbours
 *     meet in middle  n/2 steps of V/n to both neighbours (if n is even the last goes one way), and one to join
 *     quad            n-1 steps of V/4n each way on two rings that share no rail, over a whole torus
 *     broadcast       no ring: every rank sends V/n to every other in one step; an all-reduce sends V, which does both phases at once
 *
 * AUTO follows the open ancestor of the communication library (PopLibs before 887b9d3a, ReplicatedCollectives) on links in their default
 * configuration. Quad needs links that are set up as a twisted torus, and is used only if a recipe asks for it. When the library's successor
 * uses its broadcast is not known: here an all-reduce of three or more ranks uses it if it is faster (docs/maintainers/evidence.md).
 */
#include "system-model/base/assumed.h"
#include "system-model/network/collective_internal.h"

/* ---- what a method demands ---------------------------------------------------------------- */

static bool any_ranks(const struct collective *run, struct err *err)
{
    (void)run, (void)err;
    return true;
}

static bool ranks_in_same_domains(const struct collective *run, struct err *err)
{
    return run->at.spanning || fail(err, "%s: hierarchical wants every group to have ranks in the same number of domains of %s",
                                    collective_kind_names[run->req->kind], run->t->machine->name);
}

static bool fills_torus(const struct collective *run)
{
    const struct topology *t = run->t;
    return t->domain_topology == DOMAIN_TORUS && run->at.n_groups == 1 && run->at.regular &&
           run->at.n_local == t->ipus_per_domain && t->ipus_per_domain % 4 == 0 && t->ipus_per_domain >= 8;
}

static bool ranks_of_torus(const struct collective *run, struct err *err)
{
    return (fills_torus(run) && run->at.n_domains == 1) ||
           fail(err, "%s: quad-ring wants one group of all %u IPUs of one torus; %u ranks, %u groups, %u domains on %s",
                collective_kind_names[run->req->kind], run->t->ipus_per_domain, run->req->n_ranks, run->at.n_groups,
                run->at.n_domains, run->t->machine->name);
}

static bool ranks_spread_evenly(const struct collective *run, struct err *err)
{
    return run->at.regular || fail(err, "%s: broadcast wants equally many ranks of each group in every domain of %s",
                                   collective_kind_names[run->req->kind], run->t->machine->name);
}

/* ---- how a method plays a phase ----------------------------------------------------------- */

static bool one_way(struct collective *run, const struct ring_phase *p, struct err *err)
{
    uint32_t n = p->rings[0].n;
    return ring_phase_steps(run, p, n - 1, p->bytes / n, RING_FORWARD, err);
}

static bool both_ways(struct collective *run, const struct ring_phase *p, struct err *err)
{
    uint32_t n = p->rings[0].n;
    return ring_phase_steps(run, p, n - 1, p->bytes / n / 2, RING_BOTH_WAYS, err);
}

static bool meet_in_middle(struct collective *run, const struct ring_phase *p, struct err *err)
{
    uint32_t n = p->rings[0].n;
    double share = p->bytes / n;
    bool full = run->req->full_routes && run->t->domain_topology == DOMAIN_TORUS && run->width > 2;
    if (full && !ring_phase_full_routes(run, p, n / 2, share, err))
        return false;
    if (!full && !ring_phase_steps(run, p, (n - 1) / 2, share, RING_BOTH_WAYS, err))
        return false;
    if (!full && n % 2 == 0 && !ring_phase_steps(run, p, 1, share, RING_FORWARD, err))
        return false;
    collective_join(run, p->adds ? share : 0);
    return true;
}

/* Two rings, each over the rungs and every other rail: 0 1 3 2 4 5 7 6 ... and 1 0 2 3 5 4 6 7 ... */
static void twisted_order(uint32_t *ipus, uint32_t n, uint32_t first_ipu, uint32_t start_column)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = i / 2, column = (row + i + start_column) % 2;
        ipus[i] = first_ipu + 2 * row + column;
    }
}

/* Plays a phase on the two twisted rings of a torus that one group fills, both ways round: four flows per rank and step. */
static bool quad_ring(struct collective *run, const struct ring_phase *p, struct err *err)
{
    uint32_t n = p->rings->n, first_ipu = p->rings->ipus[0];
    double share = p->bytes / n / 4;
    struct ring twisted[2];
    for (uint32_t i = 0; i < 2; i++) {
        twisted[i] = (struct ring){ ARENA_ARRAY(run->a, uint32_t, n), n };
        twisted_order(twisted[i].ipus, n, first_ipu, i);
    }
    struct step_flows e = step_flows_new(4 * n, run->a);
    e.link_by_link = true;
    step_flows_add_rings(&e, &(struct ring_phase){ .rings = twisted, .n_rings = 2 }, RING_BOTH_WAYS);
    run->cost->bytes_sent_per_rank += (n - 1) * 4 * share;
    return collective_play(run, &e, share, n - 1, p->adds ? 4 * share : 0, err);
}

/* Every rank sends to every other rank of its ring. */
static bool send_to_all(struct collective *run, const struct ring_phase *p, struct err *err)
{
    uint32_t n = p->rings[0].n;
    double share = p->bytes / n;
    struct step_flows e = step_flows_new(p->n_rings * n * (n - 1), run->a);
    e.link_by_link = run->req->bytes > (double)(UNCUT_TILE_BYTES * run->t->machine->chip.n_tiles);
    for (size_t i = 0; i < p->n_rings; i++)
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t k = 1; k < n; k++)
                step_flows_add(&e, p->rings[i].ipus[j], p->rings[i].ipus[(j + k) % n]);
    run->cost->bytes_sent_per_rank += (n - 1) * share;
    return collective_play(run, &e, share, 1, p->adds ? (n - 1) * share : 0, err);
}

/* ---- the table ---------------------------------------------------------------------------- */

/* Supersteps of a phase that neither send between IPUs nor add: some once, some in each iteration. */
struct control { uint32_t once, each; };

/* Each direction of a reduce-scatter rearranges its input, finds its place in the ring (2), and copies a slice (2) before it begins; an iteration moves the
 * index on and copies the next slice (2). A gather finds its place (2), copies its own piece twice, and rearranges its output; an iteration moves the index
 * on and copies what came twice. Rings that meet in the middle also count their iterations, and decide by the count twice (graphcore/poplibs 887b9d3a^
 * lib/popops/ReplicatedCollectives.cpp:229-271, 882-952, 1237-1278, and CollectivesProgram.hpp, multiDirectionalSequence and meetInMiddle...Sequence). What
 * its successor's broadcast does is not published. */
static const struct { struct control reduce, gather; } controls[N_COLLECTIVE_METHODS] = {
    [METHOD_RING] = { { 5, 3 }, { 5, 3 } }, [METHOD_BIDIRECTIONAL_RING] = { { 10, 6 }, { 10, 6 } }, [METHOD_QUAD_RING] = { { 20, 12 }, { 20, 12 } },
    [METHOD_MEET_IN_MIDDLE] = { { 10, 10 }, { 9, 9 } },
};

static uint32_t n_iterations(enum collective_method method, uint32_t n) { return method == METHOD_MEET_IN_MIDDLE ? n / 2 : n - 1; }

typedef bool method_demand(const struct collective *, struct err *);
typedef bool method_play(struct collective *, const struct ring_phase *, struct err *);

static const struct method_rule { bool by_domain; method_demand *demands; method_play *plays; } rules[] = {
#define RULE(method, text, by_domain, demands, plays) [METHOD_##method] = { by_domain, demands, plays },
    COLLECTIVE_METHODS(RULE)
#undef RULE
};
_Static_assert(sizeof rules / sizeof *rules == N_COLLECTIVE_METHODS, "one row a method");

const char *const collective_method_names[] = {
#define NAME(method, text, ...) text,
    COLLECTIVE_METHODS(NAME) NULL
#undef NAME
};

bool ring_phase_play(struct collective *run, const struct ring_phase *p, enum collective_method method, struct err *err)
{
    const struct control control = p->adds ? controls[method].reduce : controls[method].gather;
    if (p->rings[0].n == 1)
        return true;
    collective_control(run, control.once + control.each * n_iterations(method, p->rings[0].n));
    return rules[method].plays(run, p, err);
}

/* ---- which method ------------------------------------------------------------------------- */

/* Thresholds: PopLibs before 887b9d3a, for an all-gather; a reduce-scatter has twice these. */
static double meet_in_middle_below(uint32_t n_ranks, bool gather)
{
    double bytes = n_ranks > 16 ? HUGE_VAL : n_ranks > 8 ? 19922944 : n_ranks > 4 ? 2490368 : 622592;
    return gather ? bytes : 2 * bytes;
}

static enum collective_method choose_method(const struct collective *run, uint32_t n)
{
    const struct collective_request *r = run->req;
    if (n <= 2)
        return METHOD_RING;
    if (run->width > 1)
        return run->t->domain_topology == DOMAIN_TORUS ? METHOD_MEET_IN_MIDDLE : METHOD_RING;
    return r->bytes < meet_in_middle_below(n, !run->phases->reduces) ? METHOD_MEET_IN_MIDDLE : METHOD_BIDIRECTIONAL_RING;
}

bool collective_method_settle(enum collective_method *local, bool *by_domain, const struct collective *run, struct err *err)
{
    const struct method_rule *rule = &rules[run->req->method];
    bool several = run->at.n_domains > 1;
    if (!rule->demands(run, err))
        return false;
    *by_domain = several && run->at.spanning && rule->by_domain;
    *local = run->req->method;
    if (!rule->plays)
        *local = several && !run->at.spanning ? METHOD_RING : choose_method(run, *by_domain ? run->at.n_local : run->req->n_ranks);
    return true;
}
