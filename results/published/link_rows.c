/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * link_rows.c - measured micro-benchmarks of the links, from the machine's sheet alone.
 *
 * A message between tiles of one chip takes a sync, the way to the tile, and its words at the exchange's rate. Between chips
 * it takes the sync of chips, the latency of its route, and its words at the rate of the exchange or of the busiest link. Where many
 * tiles each send a short message, what counts is how long a message holds the link pairs of its route: the pair's own time where it
 * enters or turns from rung to rail, less where it passes straight on.
 *     T = sync + latency + max(n x hold, words, bytes / rate)
 * Source of the measurements: arXiv:1912.03413 (GC2, DSS 8440). Structure that the report shows and no datasheet gives:
 *   - pairs of tiles, and the tiles of an all-to-all, have random places: one pair waits for the mean way, n for the longest of n
 *     (section 4.1.1: 0.13 us on average; Table 4.3: 0.165 us for many pairs; Table 4.15: 0.165 us beside a cycle a tile);
 *   - a gather of more than one word per tile takes one superstep more, however many tiles (Table 4.12: 0.41 us from 4 to 76 tiles beside
 *     the words, 0.074 for single words);
 *   - messages in regular order use every pair of a rung, all others one (Table 4.3: 2.521 against 4.282 us);
 *   - "random destinations" load the links as if every message crossed between the halves of the IPUs (Table 4.6: two IPUs get
 *     what the both-ways test gets, and the sum does not grow from 2 to 16), so that is what `halves` does; each tile's short message
 *     takes a turn at every rail of the longest route (Table 4.3: 4.27, 4.23 and 4.21 ns a message and rail for 1, 3 and 7 rails);
 *   - a broadcast over three and more IPUs is one stream to the first board, and each further board waits until the one before it
 *     has passed all of it on over the rail (Table 4.9: 19.6 us for 4 IPUs, 42.1 for 16; six hops more of 100 KiB at 27.5 GB/s);
 *   - the words of one message over a link have gaps between them, as many as the link's efficiency leaves; a rung's two pairs take turns
 *     and halve them; messages of one word have none (cycles a word over rung and rail: 1.09 and 1.17 of a broadcast, Table 4.9; of a
 *     scatter 1.10 and 1.19 in messages of 20 words, 1.0 in those of one, Tables 4.14 and 4.13). A stream to one tile alone has more
 *     (1.13 and 1.25, Table 4.4), which is not modelled.
 * Tables 4.11 and 4.12 disagree for 16 IPUs: the same 77,824 bytes take 25.2 and 14.1 us. The model has the first.
 * Not modelled: order of sends within a column, a broadcast's way over half a column and more, caches of the host.
 */
#include "results/published/link_rows.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_COLUMNS = 16,                 /* of tiles on a chip (iPUG 2021; osmarks/ipu-stack) */
    ISLAND_TILES = 4,               /* a broadcast reaches the shared buses' double rate from one island on (iPUG 2021) */
    WORD_BYTES = 4,
    LEAST_CYCLES = 150,             /* a word from or to tiles nearby: 0.094 us at 1.6 GHz (arXiv:1912.03413 Tables 4.8 and 4.11) */
    GATHER_CYCLES = 119,            /* beside a cycle a word: 0.074 us (Table 4.11, 38 to 1216 tiles) */
    SCATTER_CYCLES = 287,           /* the same of the one tile that sends: 0.181 us for two words (Table 4.13) */
    WORKER_START_CYCLES = 26,       /* of a vertex, a turn of its workers each (PopLibs, popops binary vertex) */
    PARTIAL_CYCLES = 15,            /* of the worker that adds what came from another tile: 10 and a vector's 5 (PopLibs, popops reduction) */
    MOST_IPUS = 64,
};

struct link_case {
    const char *experiment, *machine_name;
    uint32_t from, to, n_ipus, n_tiles, operands, apart;
    double bytes;
    bool both;
    int column;
    struct machine machine;
    struct topology topology;
    struct arena *a;
};

static const char *const column_names[] = { "same", "other", NULL };
static const struct field case_fields[] = {
    { .name = "machine", .type = FIELD_TEXT, .offset = offsetof(struct link_case, machine_name), .required = true, .help = "sheet" },
    { "from", "", FIELD_U32, offsetof(struct link_case, from), 0, 1e6, NULL, false, "IPU that sends, or gathers" },
    { "to", "", FIELD_U32, offsetof(struct link_case, to), 0, 1e6, NULL, false, "the other IPU, where there is one" },
    { "ipus", "", FIELD_U32, offsetof(struct link_case, n_ipus), 1, MOST_IPUS, NULL, false, "2: from and to; more: the first so many" },
    { "tiles", "", FIELD_U32, offsetof(struct link_case, n_tiles), 1, 1e6, NULL, false, "of each IPU" },
    { "bytes", "", FIELD_F64, offsetof(struct link_case, bytes), 1, 1e9, NULL, false, "a message" },
    { "operands", "", FIELD_U32, offsetof(struct link_case, operands), 1, 1e6, NULL, false, "floats a tile, for reduce" },
    { .name = "both", .unit = "", .type = FIELD_BOOL, .offset = offsetof(struct link_case, both), .help = "both ways at once" },
    { "apart", "", FIELD_U32, offsetof(struct link_case, apart), 0, 1000, NULL, false, "boards between the two, for hop" },
    { .name = "column", .unit = "", .type = FIELD_CHOICE, .offset = offsetof(struct link_case, column), .choices = column_names, .help = "of the two, for hop" },
};
enum { N_CASE_FIELDS = sizeof case_fields / sizeof *case_fields };

/* ---- rates and times of one chip ------------------------------------------------------ */

static double cycles_s(const struct link_case *c, double cycles)
{
    return cycles / c->machine.chip.clock_hz;
}

static double tile_bytes_per_s(const struct link_case *c)
{
    const struct chip *chip = &c->machine.chip;
    return (double)chip->exchange_bytes_per_cycle * chip->exchange_efficiency * chip->clock_hz;
}

static double word_s(const struct link_case *c)
{
    return WORD_BYTES / tile_bytes_per_s(c);
}

static double near_s(const struct link_case *c)
{
    return cycles_s(c, (double)c->machine.chip.exchange_near_cycles);
}

static double far_s(const struct link_case *c)
{
    return cycles_s(c, (double)c->machine.chip.exchange_transit_cycles);
}

static double chip_sync_s(const struct link_case *c)
{
    return cycles_s(c, (double)c->machine.chip.on_chip_sync_cycles);
}

/* Pairs at random places: the longest of n even draws from near to far. */
static double pairs_transit_s(const struct link_case *c, uint32_t n_pairs)
{
    return near_s(c) + n_pairs / (n_pairs + 1.0) * (far_s(c) - near_s(c));
}

/* One tile's words, in or out; the far words are under way while the near ones move. */
static double endpoint_s(const struct link_case *c, double bytes, double beside_cycles)
{
    return fmax(cycles_s(c, LEAST_CYCLES), cycles_s(c, beside_cycles) + bytes / tile_bytes_per_s(c));
}

/* Sync and way of a word from one tile to n: those of a column are near. */
static double spread_s(const struct link_case *c)
{
    return c->n_tiles <= c->machine.chip.n_tiles / N_COLUMNS ? cycles_s(c, LEAST_CYCLES) : chip_sync_s(c) + far_s(c);
}

/* ---- routes ------------------------------------------------------------------------------ */

struct path { uint32_t links[2 * MOST_IPUS]; size_t n; uint32_t n_rails; double latency_s; };

static bool find_path(struct path *p, const struct link_case *c, uint32_t from, uint32_t to, struct err *err)
{
    *p = (struct path){ .n = 0 };
    if (!topology_route(p->links, sizeof p->links / sizeof *p->links, &p->n, &c->topology, from, to, err))
        return false;
    for (size_t i = 0; i < p->n; i++) {
        struct link l = topology_link(&c->topology, p->links[i]);
        p->latency_s += l.latency_s;
        p->n_rails += l.kind == LINK_RAIL;
    }
    return true;
}

static double rung_pairs(const struct machine *m)
{
    return (double)(m->rung_links - m->rung_through_links) / 2;
}

/* How long a message holds the pairs of its route; regular: spread over every pair of a rung. */
static double hold_s(const struct link_case *c, const struct path *p, bool regular)
{
    const struct machine *m = &c->machine;
    double time_s = 0;
    for (size_t i = 0; i < p->n; i++) {
        struct link l = topology_link(&c->topology, p->links[i]);
        bool straight = i > 0 && topology_link(&c->topology, p->links[i - 1]).kind == l.kind;
        if (l.kind == LINK_RUNG)
            time_s += l.through ? m->rung_through_message_s : m->rung_message_s / (regular ? rung_pairs(m) : 1);
        else
            time_s += straight ? m->rail_through_message_s : m->rail_message_s;
    }
    return time_s;
}

/* The same of a message that takes a turn at each rail of its route, as others join it there from the rung. */
static double turns_s(const struct link_case *c, const struct path *p)
{
    struct path first = *p;
    uint32_t turns = max_u32(p->n_rails, 1);
    first.n -= turns - 1;                           /* rungs come first */
    return hold_s(c, &first, false) * turns;
}

/* One message of one tile: the gaps between its words are shared by a rung's pairs where it goes over them in turn. */
static double message_s(const struct link_case *c, const struct path *p, bool regular)
{
    struct link first = topology_link(&c->topology, p->links[0]);
    double pairs = regular && first.kind == LINK_RUNG && !first.through ? rung_pairs(&c->machine) : 1;
    double gap_s = word_s(c) * (1 / c->machine.chip.link_efficiency - 1) / pairs, n_words = c->bytes / WORD_BYTES;
    return n_words * word_s(c) + fmax(0, n_words - 1) * gap_s;
}

/* Who takes part: of one IPU and another, those two. */
static uint32_t n_participants(const struct link_case *c)
{
    return max_u32(c->n_ipus, 2);
}

static uint32_t ipu_of(const struct link_case *c, uint32_t i)
{
    return c->n_ipus <= 2 && c->to != c->from ? (i ? c->to : c->from) : i;
}

/* Over all participants: the sync, and the route from `from` that takes longest. */
static bool span(double *sync_s, struct path *longest, const struct link_case *c, struct err *err)
{
    uint32_t ipus[MOST_IPUS], n = n_participants(c);
    *longest = (struct path){ .n = 0 };
    for (uint32_t i = 0; i < n; i++) {
        struct path p;
        ipus[i] = ipu_of(c, i);
        if (!find_path(&p, c, ipus[i], c->from, err))
            return false;
        if (longest->n == 0 || p.latency_s > longest->latency_s)
            *longest = p;
    }
    *sync_s = topology_sync_s(&c->topology, ipus, n);
    return true;
}

static bool on_one_chip(const struct link_case *c)
{
    return c->n_ipus == 1 && c->from == c->to;
}

/* ---- experiments: seconds, and the bytes that count ------------------------------------------ */

static bool p2p(double *time_s, double *bytes, struct link_case *c, struct err *err)
{
    *bytes = c->bytes * c->n_tiles * (c->both ? 2 : 1);
    if (on_one_chip(c)) {
        *time_s = chip_sync_s(c) + pairs_transit_s(c, c->n_tiles) + c->bytes / tile_bytes_per_s(c);
        return true;
    }
    struct flow flows[2] = { { c->from, c->to, c->bytes * c->n_tiles }, { c->to, c->from, c->bytes * c->n_tiles } };
    uint32_t ends[2] = { c->from, c->to };
    struct path p;
    double links_s;
    if (!find_path(&p, c, c->from, c->to, err) || !topology_flows(&links_s, &c->topology, flows, c->both ? 2 : 1, NULL, c->a, err))
        return false;
    double tiles_s = p.latency_s + message_s(c, &p, true);
    double messages_s = p.latency_s + (c->n_tiles > 1 ? c->n_tiles * hold_s(c, &p, true) : 0);
    double longest_s = fmax(links_s, tiles_s);
    *time_s = topology_sync_s(&c->topology, ends, 2) + fmax(longest_s, messages_s);
    return true;
}

/* Every tile of each half of the IPUs sends one message to the other half, evenly spread. */
static bool halves(double *time_s, double *bytes, struct link_case *c, struct err *err)
{
    uint32_t n = c->n_ipus, half = n / 2;
    size_t n_flows = 0;
    struct flow *flows = ARENA_ARRAY(c->a, struct flow, (size_t)2 * half * half);
    double links_s, sync_s;
    struct path longest;
    if (n % 2)
        return fail(err, "link case: halves: ipus %u, want an even number", n);
    double share = c->bytes * c->n_tiles / half;
    for (uint32_t i = 0; i < half; i++) {
        for (uint32_t j = half; j < n; j++) {
            flows[n_flows++] = (struct flow){ ipu_of(c, i), ipu_of(c, j), share };
            flows[n_flows++] = (struct flow){ ipu_of(c, j), ipu_of(c, i), share };
        }
    }
    if (!topology_flows(&links_s, &c->topology, flows, n_flows, NULL, c->a, err) || !span(&sync_s, &longest, c, err))
        return false;
    double messages_s = longest.latency_s + c->n_tiles * turns_s(c, &longest);
    *time_s = sync_s + fmax(links_s, messages_s);
    *bytes = c->bytes * c->n_tiles * n;
    return true;
}

/* Mean over every pair of IPUs so many boards apart, in the same column or not. */
static bool hop(double *time_s, double *bytes, struct link_case *c, struct err *err)
{
    uint32_t n = c->topology.ipus_per_domain, n_pairs = 0;
    double sum_s = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            uint32_t rows = (uint32_t)abs((int)(i / 2) - (int)(j / 2));
            if (i == j || rows != c->apart || (i % 2 != j % 2) != (c->column == 1))
                continue;
            c->from = i;
            c->to = j;
            if (!p2p(time_s, bytes, c, err))
                return false;
            sum_s += *time_s;
            n_pairs++;
        }
    }
    if (n_pairs == 0)
        return fail(err, "link case: hop: no two IPUs of %s are %u boards apart", c->machine.name, c->apart);
    *time_s = sum_s / n_pairs;
    return true;
}

/* Seconds for the bytes to pass over the rails of a route one after the other, all but the first. */
static double further_rails_s(const struct link_case *c, const struct path *p)
{
    return (max_u32(p->n_rails, 1) - 1) * c->bytes / topology_link(&c->topology, p->links[p->n - 1]).bytes_per_s;
}

static bool broadcast(double *time_s, double *bytes, struct link_case *c, struct err *err)
{
    const struct chip *chip = &c->machine.chip;
    double sync_s, own_rate = tile_bytes_per_s(c) * (c->n_tiles >= ISLAND_TILES ? (double)chip->tiles_per_exchange_bus : 1);
    struct path longest;
    *bytes = c->bytes * c->n_tiles * c->n_ipus;
    if (on_one_chip(c)) {
        *time_s = spread_s(c) + c->bytes / own_rate;
        return true;
    }
    if (!span(&sync_s, &longest, c, err))
        return false;
    double own_s = c->n_ipus == 2 ? c->bytes / own_rate : 0;    /* the source's own chip is served apart */
    *time_s = sync_s + longest.latency_s + far_s(c) + own_s + message_s(c, &longest, true) + further_rails_s(c, &longest);
    return true;
}

/* Bytes at the one tile, from (or to) its own chip and from (or to) others. */
static void endpoint_bytes(double *own, double *remote, const struct link_case *c)
{
    double chip_bytes = c->bytes * c->n_tiles;
    bool has_own = c->n_ipus > 1 || c->from == c->to;
    *own = has_own ? chip_bytes : 0;
    *remote = chip_bytes * c->n_ipus - *own;
}

/* The one tile's words from (or to) other chips, one chip after the other. */
static bool remote_words_s(double *time_s, const struct link_case *c, bool regular, struct err *err)
{
    *time_s = 0;
    for (uint32_t i = 0; i < n_participants(c); i++) {
        uint32_t ipu = ipu_of(c, i);
        struct path p;
        if (ipu == c->from)
            continue;
        if (!find_path(&p, c, c->from, ipu, err))
            return false;
        *time_s += c->n_tiles * message_s(c, &p, regular);
    }
    return true;
}

static bool gather(double *time_s, double *bytes, struct link_case *c, struct err *err)
{
    double own, remote, sync_s;
    struct path longest;
    endpoint_bytes(&own, &remote, c);
    *bytes = own + remote;
    double order_s = c->bytes > WORD_BYTES ? cycles_s(c, (double)superstep_cycles(&c->machine.chip)) : 0;
    if (on_one_chip(c)) {
        *time_s = endpoint_s(c, own, GATHER_CYCLES) + order_s;
        return true;
    }
    double words_s;
    if (!span(&sync_s, &longest, c, err) || !remote_words_s(&words_s, c, false, err))
        return false;
    double messages_s = c->n_tiles * hold_s(c, &longest, false) + remote / c->bytes * word_s(c);
    *time_s = sync_s + longest.latency_s + fmax(messages_s, words_s) + own / tile_bytes_per_s(c) + order_s;
    return true;
}

static bool scatter(double *time_s, double *bytes, struct link_case *c, struct err *err)
{
    double own, remote, sync_s;
    struct path longest;
    endpoint_bytes(&own, &remote, c);
    *bytes = own + remote;
    if (on_one_chip(c)) {
        *time_s = endpoint_s(c, own, SCATTER_CYCLES);
        return true;
    }
    double words_s;
    if (!span(&sync_s, &longest, c, err) || !remote_words_s(&words_s, c, true, err))
        return false;
    *time_s = sync_s + longest.latency_s + own / tile_bytes_per_s(c) + words_s;
    return true;
}

static bool all_to_all(double *time_s, double *bytes, struct link_case *c, struct err *err)
{
    if (!on_one_chip(c))
        return fail(err, "link case: all-to-all: on one chip only");
    *time_s = chip_sync_s(c) + pairs_transit_s(c, c->n_tiles) + c->n_tiles * c->bytes / tile_bytes_per_s(c);
    *bytes = c->bytes * c->n_tiles * c->n_tiles;
    return true;
}

static double superstep_s(const struct link_case *c)
{
    return cycles_s(c, (double)superstep_cycles(&c->machine.chip));
}

/* Adding on the tiles, besides the operands and the superstep. */
static double vertex_s(const struct link_case *c)
{
    const struct chip *chip = &c->machine.chip;
    return cycles_s(c, (double)(chip->supervisor_cycles + chip_turn_cycles(chip) * WORKER_START_CYCLES));
}

/* A tile's own operands, one a cycle; many are shared among its workers, whose sums take a superstep more. */
static double own_sum_s(const struct link_case *c)
{
    const struct chip *chip = &c->machine.chip;
    double time_s = c->operands > 1 ? vertex_s(c) + c->operands * word_s(c) : 0;
    /* where exactly is not known: 16 are not shared, 1000 are (Tables 4.17 and 4.18) */
    return time_s + (c->operands > chip->n_workers * chip->n_workers ? superstep_s(c) : 0);
}

/* What comes from each tile is added by one worker, one after the other, or in two stages, the second with an exchange of its own. */
static double partials_s(const struct link_case *c, double between_chips_s)
{
    double n = (double)c->n_tiles * c->n_ipus, turn_s = cycles_s(c, (double)chip_turn_cycles(&c->machine.chip));
    double exchange_s = c->n_tiles > 1 ? chip_sync_s(c) + far_s(c) : between_chips_s;
    return fmin((n - 1) * PARTIAL_CYCLES * turn_s, superstep_s(c) + vertex_s(c) + exchange_s);
}

/* Sums on each tile, then one word of each comes together. */
static bool reduce(double *time_s, double *bytes, struct link_case *c, struct err *err)
{
    double sync_s = 0;
    struct path longest = { .n = 0 };
    *bytes = (double)c->operands * c->n_tiles * c->n_ipus * WORD_BYTES;
    *time_s = superstep_s(c) + vertex_s(c) + own_sum_s(c);
    if (on_one_chip(c))
        *time_s += c->n_tiles > 1 ? endpoint_s(c, (double)c->n_tiles * WORD_BYTES, GATHER_CYCLES) : 0;
    else if (!span(&sync_s, &longest, c, err))
        return false;
    *time_s += sync_s + longest.latency_s + (c->n_tiles > 1 ? c->n_tiles * hold_s(c, &longest, false) : 0);
    *time_s += partials_s(c, sync_s + longest.latency_s);
    return true;
}

static bool host(double *time_s, double *bytes, struct link_case *c, struct err *err)
{
    struct flow *flows = ARENA_ARRAY(c->a, struct flow, c->n_ipus);
    for (uint32_t i = 0; i < c->n_ipus; i++) {
        uint32_t ipu = c->n_ipus == 1 ? c->to : ipu_of(c, i);
        flows[i] = (struct flow){ c->topology.first_host + (uint32_t)(ipu / c->machine.ipus_per_host), ipu, c->bytes * c->n_tiles };
    }
    *bytes = c->bytes * c->n_tiles * c->n_ipus;
    return topology_flows(time_s, &c->topology, flows, c->n_ipus, NULL, c->a, err);
}

static const struct experiment {
    const char *name;
    bool (*run)(double *time_s, double *bytes, struct link_case *c, struct err *err);
} experiments[] = {
    { "p2p", p2p }, { "halves", halves }, { "hop", hop }, { "broadcast", broadcast }, { "gather", gather },
    { "scatter", scatter }, { "all-to-all", all_to_all }, { "reduce", reduce }, { "host", host },
};
enum { N_EXPERIMENTS = sizeof experiments / sizeof *experiments };

/* ---- a case from its text -------------------------------------------------------------------- */

static bool set_key(struct link_case *c, char *part, const char *recipe, struct err *err)
{
    char *value = strchr(part, '=');
    if (!value)
        return fail(err, "%.200s: '%.60s' is not key=value", recipe, part);
    *value++ = 0;
    const struct field *f = field_find(case_fields, N_CASE_FIELDS, part);
    if (!f) {
        const char *names[N_CASE_FIELDS];
        for (size_t i = 0; i < N_CASE_FIELDS; i++)
            names[i] = case_fields[i].name;
        return fail(err, "%.200s: %.60s: unknown key; known: %s", recipe, part, names_list(names, N_CASE_FIELDS, c->a));
    }
    return field_set(c, f, value, arena_printf(c->a, "%.200s: %s", recipe, part), err);
}

static bool parse_case(struct link_case *c, const char *recipe, struct err *err)
{
    static const char prefix[] = "link:";
    if (strncmp(recipe, prefix, sizeof prefix - 1) != 0)
        return fail(err, "%.200s: a link case begins with %s", recipe, prefix);
    char *at = arena_strdup(c->a, recipe + sizeof prefix - 1);
    c->experiment = strsep(&at, ";");
    bool has_to = false;
    while (at) {
        char *part = strsep(&at, ";");
        has_to = has_to || strncmp(part, "to=", 3) == 0;
        if (!set_key(c, part, recipe, err))
            return false;
    }
    if (!c->machine_name)
        return fail(err, "%.200s: machine: missing", recipe);
    if (!has_to)
        c->to = c->from;
    return true;
}

static bool run_case(double *time_s, double *bytes, struct link_case *c, const char *recipe, struct err *err)
{
    if (c->from >= c->topology.n_ipus || c->to >= c->topology.n_ipus || c->n_ipus > c->topology.n_ipus)
        return fail(err, "%.200s: %s has IPUs 0 to %u", recipe, c->machine.name, c->topology.n_ipus - 1);
    if (c->n_tiles > c->machine.chip.n_tiles)
        return fail(err, "%.200s: %u tiles, a chip has %llu", recipe, c->n_tiles, (unsigned long long)c->machine.chip.n_tiles);
    const char *names[N_EXPERIMENTS];
    for (size_t i = 0; i < N_EXPERIMENTS; i++) {
        names[i] = experiments[i].name;
        if (text_is(names[i], c->experiment))
            return experiments[i].run(time_s, bytes, c, err);
    }
    return fail(err, "%.200s: unknown experiment '%.40s'; known: %s", recipe, c->experiment, names_list(names, N_EXPERIMENTS, c->a));
}

bool link_row_predict(double *value, const char *recipe, const char *metric, const char *specs_dir, struct arena *a, struct err *err)
{
    struct link_case c = { .n_ipus = 1, .n_tiles = 1, .operands = 1, .bytes = WORD_BYTES, .a = a };
    double time_s = 0, bytes = 0;
    if (!parse_case(&c, recipe, err) || !machine_load(&c.machine, c.machine_name, specs_dir, a, err) ||
        !topology_build(&c.topology, &c.machine, NULL, a, err) || !run_case(&time_s, &bytes, &c, recipe, err))
        return false;
    assert(time_s > 0);
    if (text_is(metric, "latency_us"))
        *value = time_s * 1e6;
    else if (text_is(metric, "aggregate_gb_per_s"))
        *value = bytes / time_s / 1e9;
    else
        return fail(err, "%.200s: unknown metric '%.40s'; known: latency_us, aggregate_gb_per_s", recipe, metric);
    return true;
}
