/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exchange.c - time of one exchange between tiles, message by message: the price of small messages, which collectives of whole tensors hide.
 *
 * Between tiles of one chip a message takes a sync, its transit, and its words at the exchange's rate. Between chips it
 * takes the sync of chips, the latency of its route, and its words at the rate of the exchange or of the busiest link. If
 * many tiles each send a short message, each message occupies the link pairs of its route for a while. A pair where it
 * enters, or turns from rung to rail, is occupied for longer than a pair that it passes straight on.
 *     T = sync + latency + max(n x occupancy, words, bytes / rate)
 * Source: measurements of arXiv:1912.03413 (GC2, DSS 8440). The costs of a message are in links/BOARD.csv, all else is on
 * the sheets. The report shows these effects, which no datasheet gives:
 *   - Pairs of tiles, and the tiles of an all-to-all, are at random places. One pair has the mean transit; n pairs have the
 *     longest of n transits (section 4.1.1: 0.13 us on average; Table 4.3: 0.165 us for many pairs; Table 4.15: 0.165 us
 *     besides a cycle per tile).
 *   - A gather of more than one word per tile takes one superstep more, whatever the number of tiles (Table 4.12: 0.41 us
 *     from 4 to 76 tiles besides the words, 0.074 for single words).
 *   - Messages in regular order use every pair of a rung, all other messages use one pair (Table 4.3: 2.521 against 4.282
 *     us).
 *   - "Random destinations" load the links as if every message crossed between the halves of the IPUs, so EXCHANGE_HALVES
 *     does that. (Table 4.6: two IPUs reach the rate of the test in both directions, and the sum does not grow from 2 to
 *     16 IPUs.) The short message of each tile waits at every rail of the longest route (Table 4.3: 4.27, 4.23 and 4.21 ns
 *     per message and rail for 1, 3 and 7 rails).
 *   - A broadcast to three or more IPUs is one stream to the first board. Each further board waits until the board before
 *     it has passed the whole stream on over the rail (Table 4.9: 19.6 us for 4 IPUs, 42.1 for 16; six hops more of 100 KiB
 *     at 27.5 GB/s).
 *   - The words of one message over a link have gaps between them, which follow from the link's efficiency. The two pairs
 *     of a rung take turns, which halves the gaps. A message of one word has none. (Cycles per word over rung and rail: 1.09
 *     and 1.17 for a broadcast, Table 4.9; for a scatter 1.10 and 1.19 in messages of 20 words, 1.0 in messages of one word,
 *     Tables 4.14 and 4.13.) A stream to one tile alone has more gaps (1.13 and 1.25, Table 4.4), which is not modelled.
 * Tables 4.11 and 4.12 disagree for 16 IPUs: the same 77,824 bytes take 25.2 and 14.1 us. The model has the first.
 * Not modelled: order of sends within a column, the transit of a broadcast over half a column and more, caches of the host.
 */
#include "results/published/exchange.h"

#include <math.h>
#include <stdlib.h>

enum {
    EXCHANGE_WORD_BYTES = 4,
    PARTIAL_CYCLES = 15,            /* the cycles in which a worker adds a partial from another tile: 10, and 5 for a vector (PopLibs, popops reduction) */
};

const char *const exchange_kind_names[N_EXCHANGE_KINDS + 1] = {
    "p2p", "halves", "hop", "broadcast", "gather", "scatter", "all-to-all", "reduce", "host", NULL,
};

/* The state of one exchange that is being priced. `from` and `to` are the request's, except in EXCHANGE_HOP, which tries pairs. */
struct exchange {
    const struct topology *t;
    const struct machine *m;
    const struct chip *chip;
    const struct message_costs *costs;
    const struct exchange_request *r;
    uint32_t from, to;
    struct arena *a;
};

/* ---- rates and times of one chip ------------------------------------------------------ */

static double cycles_s(const struct exchange *x, double cycles) { return cycles / x->chip->clock_hz; }

static double tile_bytes_per_s(const struct exchange *x)
{
    return chip_exchange_bytes_per_cycle(x->chip) * x->chip->clock_hz;
}

static double word_s(const struct exchange *x) { return EXCHANGE_WORD_BYTES / tile_bytes_per_s(x); }

static double near_s(const struct exchange *x) { return cycles_s(x, (double)x->costs->exchange_near_cycles); }

static double far_s(const struct exchange *x) { return cycles_s(x, (double)x->chip->exchange_transit_cycles); }

static double chip_sync_s(const struct exchange *x) { return cycles_s(x, (double)x->chip->on_chip_sync_cycles); }

/* The expected longest of n random transits between near and far. */
static double pairs_transit_s(const struct exchange *x, uint32_t n_pairs)
{
    return near_s(x) + n_pairs / (n_pairs + 1.0) * (far_s(x) - near_s(x));
}

/* Time for one tile to send or receive these bytes. The words of far tiles are in transit while those of near tiles move. */
static double endpoint_s(const struct exchange *x, double bytes, double beside_cycles)
{
    return fmax(cycles_s(x, (double)x->costs->exchange_least_cycles), cycles_s(x, beside_cycles) + bytes / tile_bytes_per_s(x));
}

/* Sync and transit from one tile to n tiles. Tiles that fit into one column are near and cost the least time. */
static double spread_s(const struct exchange *x)
{
    return x->r->n_tiles <= x->chip->n_tiles / x->costs->exchange_columns ? cycles_s(x, (double)x->costs->exchange_least_cycles) : chip_sync_s(x) + far_s(x);
}

/* ---- routes ------------------------------------------------------------------------------ */

struct path { uint32_t links[MAX_ROUTE]; size_t n; uint32_t n_rails; double latency_s; };

static bool find_path(struct path *p, const struct exchange *x, uint32_t from, uint32_t to, struct err *err)
{
    *p = (struct path){ .n = 0 };
    if (!topology_route(p->links, MAX_ROUTE, &p->n, x->t, from, to, err))
        return false;
    p->latency_s = route_latency_s(x->t, p->links, p->n);
    for (size_t i = 0; i < p->n; i++)
        p->n_rails += topology_link(x->t, p->links[i]).kind == LINK_RAIL;
    return true;
}

static double rung_pairs(const struct machine *m) { return (double)(m->rung_links - m->rung_through_links) / 2; }

/* How long a message occupies the link pairs of its route. Messages in regular order are spread over every pair of a rung. */
static double occupancy_s(const struct exchange *x, const struct path *p, bool regular)
{
    const struct message_costs *costs = x->costs;
    double time_s = 0;
    for (size_t i = 0; i < p->n; i++) {
        struct link l = topology_link(x->t, p->links[i]);
        bool straight = i > 0 && topology_link(x->t, p->links[i - 1]).kind == l.kind;
        if (l.kind == LINK_RUNG)
            time_s += l.through ? costs->rung_through_message_s : costs->rung_message_s / (regular ? rung_pairs(x->m) : 1);
        else
            time_s += straight ? costs->rail_through_message_s : costs->rail_message_s;
    }
    return time_s;
}

/* Occupancy of a message that waits at each rail of its route for messages that join from the rung. */
static double turns_s(const struct exchange *x, const struct path *p)
{
    struct path first = *p;
    uint32_t turns = max_u32(p->n_rails, 1);
    first.n -= turns - 1;                           /* a route begins with its rungs */
    return occupancy_s(x, &first, false) * turns;
}

/* Time of one message of one tile. Messages that take turns over the pairs of a rung share the gaps between words. */
static double message_s(const struct exchange *x, const struct path *p, bool regular)
{
    struct link first = topology_link(x->t, p->links[0]);
    double pairs = regular && first.kind == LINK_RUNG && !first.through ? rung_pairs(x->m) : 1;
    double gap_s = word_s(x) * (1 / x->chip->link_efficiency - 1) / pairs, n_words = x->r->bytes / EXCHANGE_WORD_BYTES;
    return n_words * word_s(x) + fmax(0, n_words - 1) * gap_s;
}

/* An exchange on one or two IPUs counts both ends, `from` and `to`. */
static uint32_t n_participants(const struct exchange *x) { return max_u32(x->r->n_ipus, 2); }

static uint32_t ipu_of(const struct exchange *x, uint32_t i)
{
    return x->r->n_ipus <= 2 && x->to != x->from ? (i ? x->to : x->from) : i;
}

/* The sync of all IPUs that take part, and the route from `from` with the longest latency. */
static bool exchange_span(double *sync_s, struct path *longest, const struct exchange *x, struct err *err)
{
    uint32_t n = n_participants(x), *ipus = ARENA_ARRAY(x->a, uint32_t, n);
    *longest = (struct path){ .n = 0 };
    for (uint32_t i = 0; i < n; i++) {
        struct path p;
        ipus[i] = ipu_of(x, i);
        if (!find_path(&p, x, ipus[i], x->from, err))
            return false;
        if (longest->n == 0 || p.latency_s > longest->latency_s)
            *longest = p;
    }
    *sync_s = topology_sync_s(x->t, ipus, n);
    return true;
}

static bool on_one_chip(const struct exchange *x) { return x->r->n_ipus == 1 && x->from == x->to; }

/* ---- kinds of exchange: seconds, and the bytes that count ------------------------------------------ */

static bool exchange_p2p(double *time_s, double *bytes, struct exchange *x, struct err *err)
{
    *bytes = x->r->bytes * x->r->n_tiles * (x->r->both_ways ? 2 : 1);
    if (on_one_chip(x)) {
        *time_s = chip_sync_s(x) + pairs_transit_s(x, x->r->n_tiles) + x->r->bytes / tile_bytes_per_s(x);
        return true;
    }
    struct flow flows[2] = { { x->from, x->to, x->r->bytes * x->r->n_tiles }, { x->to, x->from, x->r->bytes * x->r->n_tiles } };
    uint32_t ends[2] = { x->from, x->to };
    struct path p;
    double links_s;
    if (!find_path(&p, x, x->from, x->to, err) || !topology_flows(&links_s, x->t, flows, x->r->both_ways ? 2 : 1, NULL, x->a, err))
        return false;
    double tiles_s = p.latency_s + message_s(x, &p, true);
    double messages_s = p.latency_s + (x->r->n_tiles > 1 ? x->r->n_tiles * occupancy_s(x, &p, true) : 0);
    double longest_s = fmax(links_s, tiles_s);
    *time_s = topology_sync_s(x->t, ends, 2) + fmax(longest_s, messages_s);
    return true;
}

/* Every tile of each half of the IPUs sends one message to the other half; the messages load all links evenly. */
static bool exchange_halves(double *time_s, double *bytes, struct exchange *x, struct err *err)
{
    uint32_t n = x->r->n_ipus, half = n / 2;
    size_t n_flows = 0;
    struct flow *flows = ARENA_ARRAY(x->a, struct flow, (size_t)2 * half * half);
    double links_s, sync_s;
    struct path longest;
    if (n % 2)
        return fail(err, "halves: ipus %u, want an even number", n);
    double share = x->r->bytes * x->r->n_tiles / half;
    for (uint32_t i = 0; i < half; i++) {
        for (uint32_t j = half; j < n; j++) {
            flows[n_flows++] = (struct flow){ ipu_of(x, i), ipu_of(x, j), share };
            flows[n_flows++] = (struct flow){ ipu_of(x, j), ipu_of(x, i), share };
        }
    }
    if (!topology_flows(&links_s, x->t, flows, n_flows, NULL, x->a, err) || !exchange_span(&sync_s, &longest, x, err))
        return false;
    double messages_s = longest.latency_s + x->r->n_tiles * turns_s(x, &longest);
    *time_s = sync_s + fmax(links_s, messages_s);
    *bytes = x->r->bytes * x->r->n_tiles * n;
    return true;
}

/* The mean time over all pairs of IPUs at the requested distance, in the same column or in different columns as requested. */
static bool exchange_hop(double *time_s, double *bytes, struct exchange *x, struct err *err)
{
    uint32_t n = x->t->ipus_per_domain, n_pairs = 0;
    double sum_s = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            uint32_t rows = (uint32_t)abs((int)(i / 2) - (int)(j / 2));
            if (i == j || rows != x->r->boards_apart || (i % 2 != j % 2) != x->r->other_column)
                continue;
            x->from = i;
            x->to = j;
            if (!exchange_p2p(time_s, bytes, x, err))
                return false;
            sum_s += *time_s;
            n_pairs++;
        }
    }
    if (n_pairs == 0)
        return fail(err, "hop: no two IPUs of %s are %u boards apart", x->m->name, x->r->boards_apart);
    *time_s = sum_s / n_pairs;
    return true;
}

/* The time on all rails of a route but the first; each rail passes the bytes on after it has received them. */
static double further_rails_s(const struct exchange *x, const struct path *p)
{
    return (max_u32(p->n_rails, 1) - 1) * x->r->bytes / topology_link(x->t, p->links[p->n - 1]).bytes_per_s;
}

static bool exchange_broadcast(double *time_s, double *bytes, struct exchange *x, struct err *err)
{
    const struct chip *chip = x->chip;
    double sync_s, own_rate = tile_bytes_per_s(x) * (x->r->n_tiles >= x->costs->exchange_island_tiles ? (double)chip->tiles_per_exchange_bus : 1);
    struct path longest;
    *bytes = x->r->bytes * x->r->n_tiles * x->r->n_ipus;
    if (on_one_chip(x)) {
        *time_s = spread_s(x) + x->r->bytes / own_rate;
        return true;
    }
    if (!exchange_span(&sync_s, &longest, x, err))
        return false;
    double own_s = x->r->n_ipus == 2 ? x->r->bytes / own_rate : 0;    /* tiles on the source's own chip are served separately */
    *time_s = sync_s + longest.latency_s + far_s(x) + own_s + message_s(x, &longest, true) + further_rails_s(x, &longest);
    return true;
}

/* Bytes that the one tile exchanges with tiles of its own chip (own) and of other chips (remote). */
static void endpoint_bytes(double *own, double *remote, const struct exchange *x)
{
    double chip_bytes = x->r->bytes * x->r->n_tiles;
    bool has_own = x->r->n_ipus > 1 || x->from == x->to;
    *own = has_own ? chip_bytes : 0;
    *remote = chip_bytes * x->r->n_ipus - *own;
}

/* Time for the one tile to exchange its words with the other chips in turn. */
static bool remote_words_s(double *time_s, const struct exchange *x, bool regular, struct err *err)
{
    *time_s = 0;
    for (uint32_t i = 0; i < n_participants(x); i++) {
        uint32_t ipu = ipu_of(x, i);
        struct path p;
        if (ipu == x->from)
            continue;
        if (!find_path(&p, x, x->from, ipu, err))
            return false;
        *time_s += x->r->n_tiles * message_s(x, &p, regular);
    }
    return true;
}

static bool exchange_gather(double *time_s, double *bytes, struct exchange *x, struct err *err)
{
    double own, remote, sync_s;
    struct path longest;
    endpoint_bytes(&own, &remote, x);
    *bytes = own + remote;
    double order_s = x->r->bytes > EXCHANGE_WORD_BYTES ? cycles_s(x, (double)superstep_cycles(x->chip)) : 0;
    if (on_one_chip(x)) {
        *time_s = endpoint_s(x, own, (double)x->costs->exchange_gather_cycles) + order_s;
        return true;
    }
    double words_s;
    if (!exchange_span(&sync_s, &longest, x, err) || !remote_words_s(&words_s, x, false, err))
        return false;
    double messages_s = x->r->n_tiles * occupancy_s(x, &longest, false) + remote / x->r->bytes * word_s(x);
    *time_s = sync_s + longest.latency_s + fmax(messages_s, words_s) + own / tile_bytes_per_s(x) + order_s;
    return true;
}

static bool exchange_scatter(double *time_s, double *bytes, struct exchange *x, struct err *err)
{
    double own, remote, sync_s;
    struct path longest;
    endpoint_bytes(&own, &remote, x);
    *bytes = own + remote;
    if (on_one_chip(x)) {
        *time_s = endpoint_s(x, own, (double)x->costs->exchange_scatter_cycles);
        return true;
    }
    double words_s;
    if (!exchange_span(&sync_s, &longest, x, err) || !remote_words_s(&words_s, x, true, err))
        return false;
    *time_s = sync_s + longest.latency_s + own / tile_bytes_per_s(x) + words_s;
    return true;
}

static bool exchange_all_to_all(double *time_s, double *bytes, struct exchange *x, struct err *err)
{
    if (!on_one_chip(x))
        return fail(err, "all-to-all: is modelled on one chip only");
    *time_s = chip_sync_s(x) + pairs_transit_s(x, x->r->n_tiles) + x->r->n_tiles * x->r->bytes / tile_bytes_per_s(x);
    *bytes = x->r->bytes * x->r->n_tiles * x->r->n_tiles;
    return true;
}

static double superstep_s(const struct exchange *x) { return cycles_s(x, (double)superstep_cycles(x->chip)); }

/* Time to add on the tiles, without reading operands and without the superstep. */
static double vertex_s(const struct exchange *x) { return cycles_s(x, (double)add_vertex_cycles(x->chip, 0)); }

/* Time for a tile to sum its own operands, one per cycle. Many operands are shared among workers, whose sums take another superstep. */
static double own_sum_s(const struct exchange *x)
{
    const struct chip *chip = x->chip;
    double time_s = x->r->n_operands > 1 ? vertex_s(x) + x->r->n_operands * word_s(x) : 0;
    /* the real threshold is unknown: 16 operands are not shared, 1000 are (Tables 4.17 and 4.18) */
    return time_s + (x->r->n_operands > chip->n_workers * chip->n_workers ? superstep_s(x) : 0);
}

/* Time to add the partials of all tiles: one worker adds them all, or two stages do, whichever is faster. */
static double partials_s(const struct exchange *x, double between_chips_s)
{
    double n = (double)x->r->n_tiles * x->r->n_ipus, turn_s = cycles_s(x, (double)chip_turn_cycles(x->chip));
    double exchange_s = x->r->n_tiles > 1 ? chip_sync_s(x) + far_s(x) : between_chips_s;
    return fmin((n - 1) * PARTIAL_CYCLES * turn_s, superstep_s(x) + vertex_s(x) + exchange_s);
}

/* Each tile sums its own words. Then one word of each tile is collected and summed. */
static bool exchange_reduce(double *time_s, double *bytes, struct exchange *x, struct err *err)
{
    double sync_s = 0;
    struct path longest = { .n = 0 };
    *bytes = (double)x->r->n_operands * x->r->n_tiles * x->r->n_ipus * EXCHANGE_WORD_BYTES;
    *time_s = superstep_s(x) + vertex_s(x) + own_sum_s(x);
    if (on_one_chip(x))
        *time_s += x->r->n_tiles > 1 ? endpoint_s(x, (double)x->r->n_tiles * EXCHANGE_WORD_BYTES, (double)x->costs->exchange_gather_cycles) : 0;
    else if (!exchange_span(&sync_s, &longest, x, err))
        return false;
    *time_s += sync_s + longest.latency_s + (x->r->n_tiles > 1 ? x->r->n_tiles * occupancy_s(x, &longest, false) : 0);
    *time_s += partials_s(x, sync_s + longest.latency_s);
    return true;
}

static bool exchange_host(double *time_s, double *bytes, struct exchange *x, struct err *err)
{
    struct flow *flows = ARENA_ARRAY(x->a, struct flow, x->r->n_ipus);
    for (uint32_t i = 0; i < x->r->n_ipus; i++) {
        uint32_t ipu = x->r->n_ipus == 1 ? x->to : ipu_of(x, i);
        flows[i] = (struct flow){ x->t->first_host + (uint32_t)(ipu / x->m->ipus_per_host), ipu, x->r->bytes * x->r->n_tiles };
    }
    *bytes = x->r->bytes * x->r->n_tiles * x->r->n_ipus;
    return topology_flows(time_s, x->t, flows, x->r->n_ipus, NULL, x->a, err);
}

/* ---- the exchange ---------------------------------------------------------------------------- */

/* Refuses exchanges within a chip, and broadcasts, on boards whose small messages were not measured. */
static bool has_costs(const struct exchange *x, struct err *err)
{
    enum exchange_kind kind = x->r->kind;
    bool at_one_tile = kind == EXCHANGE_GATHER || kind == EXCHANGE_SCATTER || kind == EXCHANGE_REDUCE;
    return x->costs->exchange_least_cycles || !(kind == EXCHANGE_BROADCAST || (at_one_tile && on_one_chip(x)))
        || fail(err, "%s: the costs of small messages on %s are not known", exchange_kind_names[kind], x->chip->name);
}

static bool exchange_check(const struct exchange *x, struct err *err)
{
    const struct exchange_request *r = x->r;
    if (r->from >= x->t->n_ipus || r->to >= x->t->n_ipus || r->n_ipus > x->t->n_ipus)
        return fail(err, "%s has only IPUs 0 to %u", x->m->name, x->t->n_ipus - 1);
    if (r->n_tiles > x->chip->n_tiles)
        return fail(err, "%u tiles, but a chip has %llu", r->n_tiles, (unsigned long long)x->chip->n_tiles);
    return has_costs(x, err);
}

bool exchange_run(struct exchange_cost *out, const struct topology *t, const struct message_costs *costs, const struct exchange_request *r,
                  struct arena *scratch, struct err *err)
{
    static bool (*const run[N_EXCHANGE_KINDS])(double *, double *, struct exchange *, struct err *) = {
        exchange_p2p, exchange_halves, exchange_hop, exchange_broadcast, exchange_gather, exchange_scatter, exchange_all_to_all, exchange_reduce,
        exchange_host,
    };
    struct exchange x = { t, t->machine, &t->machine->chip, costs, r, r->from, r->to, scratch };
    return exchange_check(&x, err) && run[r->kind](&out->time_s, &out->bytes, &x, err);
}

/* ---- costs of small messages ------------------------------------------------------------------ */

#define COUNT(member, unit_name, most) FIELD_OF(struct message_costs, member, .unit = unit_name, .min = 1, .max = most, .required = true)
#define TIME(member) FIELD_OF(struct message_costs, member, .unit = "s", .max = 1, .required = true)
static const struct field cost_fields[] = {
    COUNT(exchange_near_cycles, "cycles", 1e6), COUNT(exchange_columns, "columns", 1e6), COUNT(exchange_island_tiles, "tiles", 1e6),
    COUNT(exchange_least_cycles, "cycles", 1e6), COUNT(exchange_gather_cycles, "cycles", 1e6), COUNT(exchange_scatter_cycles, "cycles", 1e6),
    TIME(rung_message_s), TIME(rung_through_message_s), TIME(rail_message_s), TIME(rail_through_message_s),
};
#undef COUNT
#undef TIME

static bool set_cost(void *costs, const struct sheet *s, const struct sheet_row *row, struct arena *a, struct err *err)
{
    const struct field *f = field_find(cost_fields, N_FIELDS(cost_fields), row->key);
    if (!f)
        return fail(err, "%s:%u: %.60s: is no known cost of small messages", s->path, row->line, row->key);
    return sheet_row_set(costs, f, s, row, a, err);
}

bool message_costs_load(struct message_costs *out, const char *folder, const struct machine *m, struct arena *a, struct err *err)
{
    struct sheet s;
    *out = (struct message_costs){ .exchange_near_cycles = m->chip.exchange_transit_cycles };
    if (!sheet_read_rows(&s, NULL, arena_printf(a, "%s/%s.csv", folder, m->board_name), set_cost, out, a, err))
        return false;
    for (const struct field *f = cost_fields; s.n_rows && f < cost_fields + N_FIELDS(cost_fields); f++)
        if (!sheet_find(&s, f->name))
            return fail(err, "%s: %s: missing", s.path, f->name);
    return true;
}
