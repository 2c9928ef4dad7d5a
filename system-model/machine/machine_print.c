/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * machine_print.c - a machine as text: its sheets, then the rates, sizes and power that follow from them.
 *
 *     peak flop/s = 2 x MAC per tile and cycle x tiles x clock
 *     exchange    = tiles x bytes per cycle x clock
 *     power       = IPUs x idle_power_w + energy of the work / time + boards x board_rest_power_w
 * Where a chip's idle power is not known: power = at work x (1 - waiting share) + waiting x waiting share. Waiting is the time in which IPUs
 * wait for each other or for the host. Without board_idle_power_w on the sheet, waiting counts as work, and that power is an upper bound. A board
 * that is partly used counts in part.
 */
#include "system-model/machine/machine.h"

static void print_sheet(FILE *f, const struct sheet *s)
{
    fprintf(f, "sheet %s\n", s->name);
    for (size_t i = 0; i < s->n_rows; i++) {
        const struct sheet_row *row = &s->rows[i];
        fprintf(f, "  %-33s %14s %-9s %s%s%s\n", row->key, row->value, row->unit, row->source,
                *row->note ? "; " : "", row->note);
    }
}

static void print_line(FILE *f, const char *what, double value, const char *unit, const char *from)
{
    fprintf(f, "  %-33s %14.6g %-9s %s\n", what, value, unit, from);
}

static void print_chip(FILE *f, const struct chip *c)
{
    double tile_cycles_per_s = (double)c->n_tiles * c->clock_hz;
    fprintf(f, "derived, one chip\n");
    print_line(f, "peak fp16, fp16 partials", chip_peak_flop_per_s(c, c->mac_fp16_fp16_per_cycle) / 1e12, "Tflop/s", "2 x MAC x tiles x clock");
    print_line(f, "peak fp16, fp32 partials", chip_peak_flop_per_s(c, c->mac_fp16_fp32_per_cycle) / 1e12, "Tflop/s", "");
    print_line(f, "peak fp32", chip_peak_flop_per_s(c, c->mac_fp32_per_cycle) / 1e12, "Tflop/s", "");
    if (c->mac_fp8_per_cycle)
        print_line(f, "peak fp8", chip_peak_flop_per_s(c, c->mac_fp8_per_cycle) / 1e12, "Tflop/s", "");
    print_line(f, "SRAM", (double)(c->n_tiles * c->tile_memory_bytes) / 1048576, "MiB", "tiles x SRAM of a tile");
    if (c->interleaved_load_bytes_per_cycle)
        print_line(f, "load rate", tile_cycles_per_s * (double)c->interleaved_load_bytes_per_cycle / 1e12, "TB/s", "interleaved loads");
    print_line(f, "exchange, nominal", tile_cycles_per_s * (double)c->exchange_bytes_per_cycle / 1e12, "TB/s", "tiles x B/cycle x clock, one way");
    print_line(f, "exchange, reached", tile_cycles_per_s * (double)c->exchange_bytes_per_cycle * c->exchange_efficiency / 1e12, "TB/s",
         "x exchange_efficiency");
    print_line(f, "IPU-Links, both ways", 2 * (double)c->n_links * c->link_bytes_per_s / 1e9, "GB/s", "links x rate, nominal");
    print_line(f, "worker threads", (double)(c->n_tiles * c->n_workers), "threads", "tiles x workers");
}

static void print_system(FILE *f, const struct machine *m)
{
    const struct chip *c = &m->chip;
    double n = (double)m->n_ipus, boards = (double)ceil_div(m->n_ipus, m->ipus_per_board);
    double link = c->link_bytes_per_s * c->link_efficiency / 1e9;
    fprintf(f, "derived, the machine\n");
    print_line(f, "IPUs", n, "IPUs", "");
    print_line(f, "boards", boards, "boards", "IPUs / ipus_per_board");
    print_line(f, "IPU-Link domains", (double)(m->n_ipus / m->ipus_per_domain), "domains", "IPUs / ipus_per_domain");
    print_line(f, "peak fp16, fp16 partials", n * chip_peak_flop_per_s(c, c->mac_fp16_fp16_per_cycle) / 1e15, "Pflop/s", "");
    print_line(f, "peak fp32", n * chip_peak_flop_per_s(c, c->mac_fp32_per_cycle) / 1e15, "Pflop/s", "");
    print_line(f, "SRAM", n * (double)(c->n_tiles * c->tile_memory_bytes) / 1e9, "GB", "");
    struct power power;
    machine_power(&power, m, m->n_ipus);
    if (power.missing)
        fprintf(f, "  %-33s %14s %-9s %s\n", "power", "not known", "W", power.missing);
    else if (power.has_law)
        print_line(f, "power without work", power.idle_w + power.boards_rest_w, "W", power.of);
    else
        print_line(f, "power at work", power.at_work_w, "W", power.of);
    if (m->streaming_bytes)
        print_line(f, "streaming memory", boards * (double)m->streaming_bytes / 1e9, "GB", "boards x streaming_bytes");
    if (m->rung_links)
        print_line(f, "rung, one way", (double)(m->rung_links - m->rung_through_links) * link, "GB/s", "links x rate x efficiency");
    if (m->rung_through_links)
        print_line(f, "rung for pass-through, one way", (double)m->rung_through_links * link, "GB/s", "");
    if (m->rail_links && m->ipus_per_domain > 2)
        print_line(f, "rail, one way", (double)m->rail_links * link, "GB/s", "");
    if (m->gateway_topology != GATEWAY_NONE)
        print_line(f, "gateway, one way", m->gateway_bytes_per_s * m->gateway_efficiency / 1e9, "GB/s", "");
    if (m->streaming_bytes_per_s > 0)
        print_line(f, "streaming memory of an IPU", m->streaming_bytes_per_s * m->streaming_efficiency / (double)m->ipus_per_board / 1e9,
             "GB/s", "a board's rate x efficiency / its IPUs");
}

void machine_print(FILE *f, const struct machine *m)
{
    fprintf(f, "machine %s\n", m->name);
    for (size_t i = 0; i < m->n_sheets; i++)
        print_sheet(f, &m->sheets[i]);
    print_chip(f, &m->chip);
    print_system(f, m);
}

/* ---- power ------------------------------------------------------------------- */

void machine_power(struct power *out, const struct machine *m, uint64_t n_ipus)
{
    double boards = (double)n_ipus / (double)m->ipus_per_board;
    bool of_boards = m->board_power_w > 0;
    *out = (struct power){ .of = of_boards ? "boards" : "chips", .cap_w = boards * m->board_power_cap_w };
    if (chip_cycle_j(&m->chip) > 0) {
        out->has_law = true;
        out->idle_w = (double)n_ipus * m->chip.idle_power_w * chip_voltage(&m->chip);
        out->boards_rest_w = boards * m->board_rest_power_w;
        out->of = out->boards_rest_w > 0 ? "chips and boards" : "chips";
        out->row = machine_row(m, "idle_power_w", &out->sheet);
        return;
    }
    if (!of_boards && !(m->chip.tdp_w > 0)) {
        out->missing = "no source gives the power of this board or of its chip; --set machine.board_power_w=W says what if";
        return;
    }
    out->row = machine_row(m, of_boards ? "board_power_w" : "tdp_w", &out->sheet);
    out->at_work_w = of_boards ? boards * m->board_power_w : (double)n_ipus * m->chip.tdp_w;
    out->knows_waiting = of_boards && m->board_idle_power_w > 0;
    out->waiting_w = out->knows_waiting ? boards * m->board_idle_power_w : out->at_work_w;
}

double power_mean_w(const struct power *p, double waiting_share)
{
    return p->at_work_w + (p->waiting_w - p->at_work_w) * waiting_share;
}
