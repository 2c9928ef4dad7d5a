/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * machine.c - a machine from its spec sheets.
 *
 * One table names every member that a sheet may set: the levels (chip, board, system) on which it is allowed and on which it is required, its
 * unit and its range. A system names its board, and a board its chip. If two sheets set a value, the outer one wins (a board that gives its
 * chip fewer PCIe lanes). machine_check.c checks that the values fit each other.
 */
#include "system-model/machine/fitted.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

enum level { CHIP = 1, BOARD = 2, SYSTEM = 4, OUTER = BOARD | SYSTEM, ANY = CHIP | BOARD | SYSTEM };

static const char *const domain_names[] = { "none", "ladder", "torus", NULL };
static const char *const gateway_names[] = { "none", "direct", "switched", "network", NULL };

static const char *const copies_names[] = { "measured", "estimated", NULL };
static const char *const input_names[] = { "twice", "once", NULL };

struct sheet_field { struct field field; int may, must; };

#define N(member, unit, low, high, may, must, help) \
    { { #member, unit, FIELD_AT(U64, struct machine, member), low, high, NULL, false, help }, may, must }
#define R(member, unit, low, high, may, must, help) \
    { { #member, unit, FIELD_AT(F64, struct machine, member), low, high, NULL, false, help }, may, must }
#define CN(member, unit, low, high, help) \
    { { #member, unit, FIELD_AT(U64, struct machine, chip.member), low, high, NULL, false, help }, CHIP, CHIP }
#define OPTIONAL(member, unit, low, high, help) \
    { { #member, unit, FIELD_AT(U64, struct machine, chip.member), low, high, NULL, false, help }, CHIP, 0 }
#define CR(member, unit, low, high, may, must, help) \
    { { #member, unit, FIELD_AT(F64, struct machine, chip.member), low, high, NULL, false, help }, may, must }
#define CHOICE(member, names, what) \
    { { .name = #member, .unit = "name", .type = FIELD_CHOICE, .offset = offsetof(struct machine, member), .choices = names, .help = what }, SYSTEM, SYSTEM }

static const struct sheet_field sheet_fields[] = {
    CN(n_tiles, "tiles", 1, 1e6, "tiles of a chip"),
    CN(n_workers, "workers", 1, 64, "worker threads of a tile"),
    OPTIONAL(worker_turn_cycles, "cycles", 1, 64, "from one instruction of a worker to its next, however few workers there are; default: n_workers"),
    CR(clock_hz, "Hz", 1e6, 1e11, CHIP, CHIP, "tile clock"),
    CN(tile_memory_bytes, "B", 1024, 1e9, "SRAM of a tile"),
    CN(interleaved_bytes, "B", 0, 1e9, "the part of it that allows 128-bit loads, or two of 64 bits in one cycle"),
    CR(memory_error, "share", 0, 1, CHIP, 0, "spread of the bytes of temporaries and activations that the fullest tile needs about those counted; default: 0, unknown"),
    CR(memory_gaps_share, "share", 0, 1, CHIP, 0, "of activations and temporaries: what uneven mappings and gaps add on the fullest tile; default: 0"),
    CN(mac_fp16_fp16_per_cycle, "MAC/cycle", 1, 1e5, "half in, half partials"),
    CN(mac_fp16_fp32_per_cycle, "MAC/cycle", 1, 1e5, "half in, float partials"),
    CN(mac_fp32_per_cycle, "MAC/cycle", 1, 1e5, "float"),
    CN(mac_fp8_per_cycle, "MAC/cycle", 0, 1e5, "8-bit floating point; 0: none"),
    CN(vector_bytes_per_cycle, "B/cycle", 4, 1024, "data path of the vector unit"),
    CN(load_bytes_per_cycle, "B/cycle", 1, 1024, "loads from standard memory; an inner loop that needs more runs at amp_efficiency"),
    OPTIONAL(interleaved_load_bytes_per_cycle, "B/cycle", 1, 1024, "loads from interleaved memory, of which the energy of a byte follows"),
    CN(weight_load_bytes_per_cycle, "B/cycle", 1, 1024, "weights into the multiply units"),
    CN(conv_units_fp16_fp16, "units", 1, 1024, "multiply units in use, half in, half partials"),
    CN(conv_units_fp16_fp32, "units", 1, 1024, "half in, float partials"),
    CN(conv_units_fp32, "units", 1, 1024, "float"),
    CN(exchange_bytes_per_cycle, "B/cycle", 1, 1024, "a tile's exchange, each way"),
    CN(tiles_per_exchange_bus, "tiles", 1, 64, "tiles that can receive the same data at a multiple of the rate"),
    CR(exchange_efficiency, "share", 0.01, 1, CHIP, CHIP, "of the nominal rate"),
    CN(on_chip_sync_cycles, "cycles", 0, 1e6, "a sync of the tiles"),
    CN(global_sync_cycles, "cycles", 0, 1e7, "a sync of chips"),
    CN(exchange_transit_cycles, "cycles", 0, 1e6, "transit of a word to the farthest tile, which every exchange is charged"),
    CN(supervisor_cycles, "cycles", 0, 1e6, "starting a vertex"),
    CN(n_links, "links", 0, 1000, "IPU-Links of a chip"),
    CR(link_bytes_per_s, "B/s", 1e3, 1e14, CHIP, CHIP, "one IPU-Link, one way, nominal"),
    CR(link_efficiency, "share", 0.01, 1, CHIP, CHIP, "of the nominal rate"),
    CR(host_link_bytes_per_s, "B/s", 1e3, 1e14, CHIP | OUTER, CHIP, "the chip's PCIe port, one way, after protocol"),
    { { .name = "generation", .unit = "name", .type = FIELD_CHOICE, .offset = offsetof(struct machine, chip.generation), .choices = generation_names,
        .help = "design of the chip, which selects its fitted constants; other has none" }, CHIP, CHIP },
    { { .name = "planner_copies", .unit = "name", .type = FIELD_CHOICE, .offset = offsetof(struct machine, chip.planner_copies), .choices = copies_names,
        .help = "how the planner estimates copies of single elements; default: measured" }, CHIP, 0 },
    { { .name = "planner_input", .unit = "name", .type = FIELD_CHOICE, .offset = offsetof(struct machine, chip.planner_input), .choices = input_names,
        .help = "how often the planner counts the bytes of an input that serial steps share; default: twice" }, CHIP, 0 },
    CR(tdp_w, "W", 1, 1e5, CHIP, 0, "the most that a chip draws, all tiles at their peak"),
    CR(idle_power_w, "W", 0.1, 1e5, CHIP, 0, "power of a chip while nothing runs"),
    CR(running_power_w, "W", 0, 1e5, CHIP, 0, "power above idling of a chip whose tiles run, whatever they do"),
    CR(running_power_error_w, "W", 0, 1e5, CHIP, 0, "how far running_power_w may be off, either way"),
    CR(work_power_error_w, "W", 0, 1e5, CHIP, 0, "how far the power of work at its peak may be off besides, either way"),
    CR(power_clock_hz, "Hz", 1e6, 1e11, CHIP, 0, "clock at which tdp_w, idle_power_w and running_power_w hold; default: the tile clock"),
    CR(voltage_exponent, "1", 0, 1, CHIP, 0, "voltage grows with the clock to this power: 0 if the supply is fixed, 1 if it follows the clock; default: 0"),
    CR(voltage_exponent_error, "1", 0, 1, CHIP, 0, "how far voltage_exponent may be off, either way"),
    CR(link_byte_j, "J/B", 1e-15, 1e-6, CHIP, 0, "energy of a byte over an IPU-Link, both ends"),
    N(ipus_per_board, "IPUs", 1, 1024, BOARD, BOARD, "chips of a board"),
    N(rung_links, "links", 0, 1000, BOARD, BOARD, "links to the rung partner"),
    N(rung_through_links, "links", 0, 1000, BOARD, BOARD, "of them, for pass-through traffic only"),
    N(rail_links, "links", 0, 1000, BOARD, BOARD, "links to each rail neighbour"),
    R(rung_latency_s, "s", 0, 1, BOARD, BOARD, "a hop over the rung"),
    R(rail_latency_s, "s", 0, 1, BOARD, BOARD, "a hop along the rail"),
    R(sync_hop_latency_s, "s", 0, 1, BOARD, BOARD, "a sync from one board to the next, one way"),
    R(gateway_bytes_per_s, "B/s", 1e3, 1e14, OUTER, 0, "links to other domains of a board, or of the chips behind a shared host port, one way, nominal"),
    R(gateway_efficiency, "share", 0.01, 1, OUTER, 0, "of the nominal rate"),
    R(gateway_latency_s, "s", 0, 1, OUTER, 0, "from gateway to gateway, without the switches between them"),
    R(streaming_bytes_per_s, "B/s", 1e3, 1e14, BOARD, 0, "streaming memory of a board"),
    R(streaming_efficiency, "share", 0.01, 1, BOARD, 0, "of the nominal rate"),
    N(streaming_bytes, "B", 1, 1e15, BOARD, 0, "streaming memory of a board"),
    R(host_network_bytes_per_s, "B/s", 1e3, 1e14, OUTER, BOARD, "a board to its host, one way, after protocol"),
    R(host_latency_s, "s", 0, 1, ANY, 0, "a word from the host to a tile"),
    R(board_power_w, "W", 1, 1e6, CHIP | BOARD, 0, "power at work of a board, or of a card on the sheet of its chip"),
    R(board_rest_power_w, "W", 0.1, 1e6, BOARD, 0, "power of a board without its chips, whatever they do"),
    R(board_idle_power_w, "W", 1, 1e6, BOARD, 0, "power of a board whose chips wait; default: board_power_w"),
    R(board_power_cap_w, "W", 1, 1e6, BOARD, 0, "power that a board never exceeds"),
    N(n_ipus, "IPUs", 1, 1e6, SYSTEM, SYSTEM, "chips of the system"),
    N(ipus_per_domain, "IPUs", 1, 64, SYSTEM, SYSTEM, "chips of an IPU-Link domain"),
    CHOICE(domain_topology, domain_names, "rails open (ladder) or closed (torus)"),
    CHOICE(gateway_topology, gateway_names, "how domains are linked"),
    R(switch_latency_s, "s", 1e-9, 1, SYSTEM, 0, "from port to port of a switch between gateways"),
    N(ipus_per_host, "IPUs", 1, 1e6, SYSTEM, SYSTEM, "chips of a host"),
    N(host_cores, "cores", 1, 65536, SYSTEM, 0, "cores of a host"),
    N(pcie_shared_ipus, "IPUs", 1, 1024, SYSTEM, 0, "chips behind one shared host port"),
    R(pcie_shared_bytes_per_s, "B/s", 1e3, 1e14, SYSTEM, 0, "the shared port, one way, after protocol"),
};
enum { N_SHEET_FIELDS = sizeof sheet_fields / sizeof *sheet_fields };
#undef N
#undef R
#undef CN
#undef OPTIONAL
#undef CR
#undef CHOICE

const char *machine_key(size_t i)
{
    return i < N_SHEET_FIELDS ? sheet_fields[i].field.name : NULL;
}

static const struct sheet_field *sheet_field_find(const char *name)
{
    return FIND_TEXT(sheet_fields, N_SHEET_FIELDS, struct sheet_field, field.name, name);
}

/* ---- one sheet into the machine ------------------------------------------------- */

static enum level sheet_level(const struct sheet *s)
{
    return sheet_find(s, "board") ? SYSTEM : sheet_find(s, "chip") ? BOARD : CHIP;
}

static const char *level_name(int level)
{
    return level == SYSTEM ? "a system" : level == BOARD ? "a board" : "a chip";
}

static const char *level_keys(int level, struct arena *a)
{
    const char *names[N_SHEET_FIELDS];
    size_t n = 0;
    for (size_t i = 0; i < N_SHEET_FIELDS; i++)
        if (sheet_fields[i].may & level)
            names[n++] = sheet_fields[i].field.name;
    return names_list(names, n, a);
}

static bool is_part_row(const struct sheet_row *row) { return text_is(row->key, "board") || text_is(row->key, "chip"); }

static bool machine_set_row(struct machine *m, const struct sheet *s, const struct sheet_row *row, enum level level,
                    struct arena *a, struct err *err)
{
    const struct sheet_field *f = sheet_field_find(row->key);
    if (!f)
        return fail(err, "%s:%u: %.60s: not a key of %s; known: %s", s->path, row->line, row->key, level_name(level),
                    level_keys(level, a));
    if (!(f->may & level))
        return fail(err, "%s:%u: %s: does not belong on the sheet of %s (%s)", s->path, row->line, row->key,
                    level_name(level), f->field.help);
    return sheet_row_set(m, &f->field, s, row, a, err);
}

/* A row that names the board or the chip. */
static bool check_part_row(const struct sheet *s, const struct sheet_row *row, enum level level, struct err *err)
{
    if (text_is(row->key, level == SYSTEM ? "board" : "chip"))
        return text_is(row->unit, "name") ? true
            : fail(err, "%s:%u: %s is in '%.60s', want 'name'", s->path, row->line, row->key, row->unit);
    return fail(err, "%s:%u: %s: does not belong on the sheet of %s", s->path, row->line, row->key, level_name(level));
}

static bool machine_set_sheet(struct machine *m, const struct sheet *s, struct arena *a, struct err *err)
{
    enum level level = sheet_level(s);
    for (size_t i = 0; i < s->n_rows; i++) {
        const struct sheet_row *row = &s->rows[i];
        if (!(is_part_row(row) ? check_part_row(s, row, level, err) : machine_set_row(m, s, row, level, a, err)))
            return false;
    }
    for (size_t i = 0; i < N_SHEET_FIELDS; i++) {
        const struct field *f = &sheet_fields[i].field;
        if ((sheet_fields[i].must & level) && !sheet_find(s, f->name))
            return fail(err, "%s: %s: missing (%s, in %s)", s->path, f->name, f->help, f->unit);
    }
    return true;
}

/* ---- finding the sheets: system, its board, its chip ------------------------------ */

static bool is_path(const char *name)
{
    size_t n = strlen(name);
    return strchr(name, '/') || (n > 4 && text_is(name + n - 4, ".csv"));
}

static bool file_exists(const char *path) { return access(path, F_OK) == 0; }

/* The sheet of a part is in the folder of the sheet that names it, or in specs_dir. */
static const char *part_path(const struct sheet *s, const char *name, const char *specs_dir, struct arena *a)
{
    const char *beside = path_beside(s->path, arena_printf(a, "%s.csv", name), a);
    return file_exists(beside) ? beside : arena_printf(a, "%s/%s.csv", specs_dir, name);
}

/* Loads the sheet that row `key` of s names, which must be of this level. */
static bool load_part(struct sheet *out, const struct sheet *s, const char *key, enum level level, const char *specs_dir,
                      const struct sheet_overrides *changes, struct arena *a, struct err *err)
{
    const struct sheet_row *row = sheet_find(s, key);
    assert(row);                        /* sheet_level() has found this row */
    if (strchr(row->value, '/'))
        return fail(err, "%s: '%.60s' is not the name of a sheet", sheet_row_place(s, row, a), row->value);
    const char *path = part_path(s, row->value, specs_dir, a);
    if (!file_exists(path))
        return fail(err, "%s: no sheet '%.60s' (looked for %s)", sheet_row_place(s, row, a), row->value, path);
    if (!sheet_read(out, changes, path, a, err))
        return false;
    if (sheet_level(out) != level)
        return fail(err, "%s: %.60s is the sheet of %s, want %s", sheet_row_place(s, row, a), row->value,
                    level_name(sheet_level(out)), level_name(level));
    return true;
}

bool machine_names(char ***names, size_t *n, const char *specs_dir, struct arena *a, struct err *err)
{
    char **all;
    size_t n_all;
    if (!list_folder(&all, &n_all, specs_dir, ".csv", a, err))
        return false;
    *names = ARENA_ARRAY(a, char *, n_all);
    *n = 0;
    for (size_t i = 0; i < n_all; i++) {
        struct sheet s;
        struct err ignored;
        if (sheet_load(&s, arena_printf(a, "%s/%s.csv", specs_dir, all[i]), a, &ignored) &&
            (sheet_level(&s) != CHIP || sheet_find(&s, "n_tiles")))
            (*names)[(*n)++] = all[i];
    }
    return true;
}

static bool first_sheet(struct sheet *out, const char *name, const char *specs_dir, const struct sheet_overrides *changes, struct arena *a,
                        struct err *err)
{
    if (is_path(name))
        return sheet_read(out, changes, name, a, err);
    const char *path = arena_printf(a, "%s/%s.csv", specs_dir, name);
    if (file_exists(path))
        return sheet_read(out, changes, path, a, err);
    char **known;
    size_t n;
    if (!machine_names(&known, &n, specs_dir, a, err))
        return false;
    return fail(err, "unknown machine '%.60s'; %sonly IPUs have sheets, and a machine of your own gets one by 'podbench machine NAME --copy MINE'; known: %s", name, names_suggestion((const char *const *)known, n, name, a),
                names_list((const char *const *)known, n, a));
}

/* The sheets of a machine, outermost first, with overrides applied: they may name another board or chip. */
static bool machine_read_sheets(struct sheet *sheets, size_t *n, const char *name, const char *specs_dir, const struct sheet_overrides *changes,
                        struct arena *a, struct err *err)
{
    if (!first_sheet(&sheets[0], name, specs_dir, changes, a, err))
        return false;
    sheet_apply_overrides(&sheets[0], changes, a);
    *n = 1;
    if (sheet_level(&sheets[0]) == SYSTEM) {
        if (!load_part(&sheets[1], &sheets[0], "board", BOARD, specs_dir, changes, a, err))
            return false;
        sheet_apply_overrides(&sheets[1], changes, a);
        *n = 2;
    }
    const struct sheet *board = &sheets[*n - 1];
    if (sheet_level(board) == BOARD) {
        if (!load_part(&sheets[*n], board, "chip", CHIP, specs_dir, changes, a, err))
            return false;
        sheet_apply_overrides(&sheets[*n], changes, a);
        ++*n;
    }
    return true;
}

/* ---- values given for one simulation -------------------------------------------------- */

/* An override of a key that no sheet has is added to the outermost of the sheets that may have it. */
static void add_changes(struct sheet *sheets, size_t n, const struct sheet_overrides *changes, struct arena *a)
{
    for (size_t k = 0; changes && k < changes->n; k++) {
        struct sheet_override *w = &changes->items[k];
        const struct sheet_field *f = sheet_field_find(w->key);
        struct sheet *outermost = NULL;
        for (size_t i = n; f && i-- > 0; )
            if (f->may & sheet_level(&sheets[i]))
                outermost = &sheets[i];
        if (outermost && !w->used)
            sheet_add_override(outermost, w, f->field.unit, a);
    }
}

/* ---- the whole ---------------------------------------------------------------------- */

/* A board alone is a system of one board, a chip alone one of one chip. */
static void stand_alone(struct machine *m, enum level level)
{
    if (level == CHIP) {
        m->ipus_per_board = 1;
        m->host_network_bytes_per_s = m->chip.host_link_bytes_per_s;
    }
    m->n_ipus = m->ipus_per_domain = m->ipus_per_host = m->ipus_per_board;
    m->domain_topology = m->n_ipus > 1 ? DOMAIN_LADDER : DOMAIN_NONE;
}

bool machine_load(struct machine *out, const char *name, const char *specs_dir, struct arena *a, struct err *err)
{
    return machine_load_changed(out, name, specs_dir, NULL, a, err);
}

bool machine_load_changed(struct machine *out, const char *name, const char *specs_dir, const struct sheet_overrides *changes,
                          struct arena *a, struct err *err)
{
    struct sheet *sheets = ARENA_ARRAY(a, struct sheet, 4);     /* system, board, chip, fitted constants */
    size_t n = 0;
    *out = (struct machine){ .pcie_shared_ipus = 1 };
    if (!machine_read_sheets(sheets, &n, name, specs_dir, changes, a, err))
        return false;
    enum level level = sheet_level(&sheets[0]);
    add_changes(sheets, n, changes, a);
    for (size_t i = n; i-- > 0; )
        if (!machine_set_sheet(out, &sheets[i], a, err))
            return false;
    if (level != SYSTEM)
        stand_alone(out, level);
    out->name = sheets[0].name;
    out->chip.name = out->chip_name = sheets[n - 1].name;
    out->board_name = n > 1 ? sheets[n - 2].name : "";
    out->sheets = sheets;
    out->n_sheets = n;
    if (!fitted_chip_apply(&out->chip, &sheets[n], specs_dir, changes, a, err))
        return false;
    out->n_sheets += sheets[n].n_rows > 0;
    return machine_check(out, sheets[0].path, err);
}

const struct sheet_row *machine_row(const struct machine *m, const char *key, const struct sheet **sheet)
{
    for (size_t i = 0; i < m->n_sheets; i++) {
        const struct sheet_row *row = sheet_find(&m->sheets[i], key);
        if (sheet)
            *sheet = &m->sheets[i];
        if (row)
            return row;
    }
    return NULL;
}

double chip_peak_flop_per_s(const struct chip *c, uint64_t mac_per_cycle)
{
    return 2.0 * (double)mac_per_cycle * (double)c->n_tiles * c->clock_hz;
}

static double power_clock_hz(const struct chip *c)
{
    return c->power_clock_hz > 0 ? c->power_clock_hz : c->clock_hz;
}

double chip_voltage(const struct chip *c)
{
    return pow(c->clock_hz / power_clock_hz(c), c->voltage_exponent);
}

/* Joules of one tile's cycle, from the power that all tiles' switching draws at the sheet's clock and voltage. */
static double switched_j(const struct chip *c, double power_w)
{
    return power_w / ((double)c->n_tiles * power_clock_hz(c)) * pow(chip_voltage(c), 2);
}

double chip_cycle_j(const struct chip *c)
{
    bool known = c->tdp_w > 0 && c->idle_power_w > 0;
    return known ? switched_j(c, c->tdp_w - c->idle_power_w - c->running_power_w) : 0;
}

double chip_running_cycle_j(const struct chip *c)
{
    return c->idle_power_w > 0 ? switched_j(c, c->running_power_w) : 0;
}

double chip_memory_byte_j(const struct chip *c)
{
    return chip_cycle_j(c) / (double)(c->interleaved_load_bytes_per_cycle + c->vector_bytes_per_cycle);
}
