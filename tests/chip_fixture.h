/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chip_fixture.h - a small chip for tests: odd sizes, so that a dropped factor shows. */
#ifndef CHIP_FIXTURE_H
#define CHIP_FIXTURE_H
#include "system-model/machine/machine.h"

/* Rates of the second generation; sync 101, transit 37; the exchange at its full 4 bytes a cycle. */
static inline struct chip small_chip(uint64_t n_tiles)
{
    return (struct chip){
        .name = "small", .n_tiles = n_tiles, .n_workers = 6, .clock_hz = 1.7e9, .tile_memory_bytes = 300000,
        .mac_fp16_fp16_per_cycle = 64, .mac_fp16_fp32_per_cycle = 32, .mac_fp32_per_cycle = 16,
        .vector_bytes_per_cycle = 8, .load_bytes_per_cycle = 8, .interleaved_load_bytes_per_cycle = 16,
        .weight_load_bytes_per_cycle = 8, .conv_units_fp16_fp16 = 16, .conv_units_fp16_fp32 = 8, .conv_units_fp32 = 8,
        .exchange_bytes_per_cycle = 4, .tiles_per_exchange_bus = 2,
        .exchange_efficiency = 1, .on_chip_sync_cycles = 101, .exchange_transit_cycles = 37, .supervisor_cycles = 11,
    };
}

/* A chip with what the small one lacks: quarters, a narrower exchange, compute sets and inner loops that cost more,
 * and workers that wait a cycle longer. */
static inline struct chip wide_chip(uint64_t n_tiles)
{
    struct chip c = small_chip(n_tiles);
    c.name = "wide";
    c.mac_fp8_per_cycle = 128;
    c.exchange_efficiency = 0.83;
    c.compute_set_cycles = 53;
    c.worker_turn_cycles = 7;
    c.amp_efficiency = 0.91;
    c.tile_memory_bytes = 638976;
    return c;
}

/* Numbers for random shapes: the same on every machine (Lehmer's generator). */
static inline uint64_t draw(uint64_t *state, uint64_t low, uint64_t high)
{
    *state = *state * 48271 % 2147483647;
    return low + *state % (high - low + 1);
}

#endif
