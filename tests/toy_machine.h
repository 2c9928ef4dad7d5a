/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * toy_machine.h - a machine small enough for paper, with odd values: rung 3 links and rail 2 of 7 GB/s at 0.9, so 18.9 and 12.6 GB/s.
 */
#ifndef TOY_MACHINE_H
#define TOY_MACHINE_H
#include "system-model/network/topology.h"

static inline struct machine toy_machine(uint64_t n_ipus, uint64_t ipus_per_domain, enum domain_topology domain, enum gateway_topology gateway)
{
    return (struct machine){
        .name = "toy", .board_name = "toy-board", .chip_name = "toy-chip",
        .chip = { .name = "toy-chip", .n_tiles = 7, .n_workers = 6, .clock_hz = 1.3e9, .vector_bytes_per_cycle = 8, .supervisor_cycles = 11,
                  .global_sync_cycles = 650, .n_links = 7, .link_bytes_per_s = 7e9, .link_efficiency = 0.9, .host_link_bytes_per_s = 5e9 },
        .n_ipus = n_ipus, .ipus_per_board = 2, .ipus_per_domain = ipus_per_domain, .domain_topology = domain, .gateway_topology = gateway,
        .rung_links = 3, .rail_links = 2, .rung_latency_s = 0.3e-6, .rail_latency_s = 0.11e-6, .sync_hop_latency_s = 13e-9,
        .gateway_bytes_per_s = 11e9, .gateway_efficiency = 0.8, .gateway_latency_s = 1.7e-6, .switch_latency_s = 0.4e-6,
        .streaming_bytes_per_s = 9e9, .streaming_efficiency = 0.7, .streaming_bytes = 1 << 20,
        .ipus_per_host = ipus_per_domain, .host_network_bytes_per_s = 6e9, .host_latency_s = 8e-6, .pcie_shared_ipus = 1,
    };
}
#endif
