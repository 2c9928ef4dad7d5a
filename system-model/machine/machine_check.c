/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * machine_check.c - checks values that must fit each other: rates and units, links and counts, links between domains.
 */
#include "system-model/machine/machine.h"

/* A multiply unit takes one operand of 8 bytes from the data path in each cycle (PopLibs: a chain of four over 32 bytes of weights). The
 * workers' dot products take vector_bytes_per_cycle; the multiply units must not be slower than those. */
static bool check_mac(const struct machine *m, const char *path, struct err *err)
{
    enum { OPERAND_BYTES = 8 };
    const struct chip *c = &m->chip;
    const struct { const char *name; uint64_t mac, units, bytes; const char *units_name; } rates[] = {
        { "mac_fp16_fp16_per_cycle", c->mac_fp16_fp16_per_cycle, c->conv_units_fp16_fp16, 2, "conv_units_fp16_fp16" },
        { "mac_fp16_fp32_per_cycle", c->mac_fp16_fp32_per_cycle, c->conv_units_fp16_fp32, 2, "conv_units_fp16_fp32" },
        { "mac_fp32_per_cycle", c->mac_fp32_per_cycle, c->conv_units_fp32, 4, "conv_units_fp32" },
        { "mac_fp8_per_cycle", c->mac_fp8_per_cycle, c->conv_units_fp16_fp16, 1, "conv_units_fp16_fp16" },
    };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        uint64_t least = c->vector_bytes_per_cycle / rates[i].bytes;
        if (rates[i].mac && rates[i].mac < least)
            return fail(err, "%s: %s: %llu, but the workers' dot products of %llu bytes a cycle do %llu; raise it or lower vector_bytes_per_cycle",
                        path, rates[i].name, (unsigned long long)rates[i].mac, (unsigned long long)c->vector_bytes_per_cycle, (unsigned long long)least);
        if (rates[i].mac > rates[i].units * OPERAND_BYTES / rates[i].bytes)
            return fail(err, "%s: %s: %llu, but %llu units fed %d bytes a cycle do at most %llu; lower it or raise %s", path,
                        rates[i].name, (unsigned long long)rates[i].mac, (unsigned long long)rates[i].units, OPERAND_BYTES,
                        (unsigned long long)(rates[i].units * OPERAND_BYTES / rates[i].bytes), rates[i].units_name);
    }
    return true;
}

static bool check_chip(const struct machine *m, const char *path, struct err *err)
{
    const struct chip *c = &m->chip;
    if (c->interleaved_bytes > c->tile_memory_bytes)
        return fail(err, "%s: interleaved_bytes: %llu are more than the %llu of a tile", path, (unsigned long long)c->interleaved_bytes,
                    (unsigned long long)c->tile_memory_bytes);
    if (m->rung_links + 2 * m->rail_links > c->n_links)
        return fail(err, "%s: rung_links: %llu, and twice %llu rail_links, are more than the %llu n_links of %s", path,
                    (unsigned long long)m->rung_links, (unsigned long long)m->rail_links, (unsigned long long)c->n_links, c->name);
    if (m->rung_through_links > 0 && m->rung_through_links >= m->rung_links)
        return fail(err, "%s: rung_through_links: %llu of %llu rung_links leave none for the two chips themselves", path,
                    (unsigned long long)m->rung_through_links, (unsigned long long)m->rung_links);
    return true;
}

static bool check_counts(const struct machine *m, const char *path, struct err *err)
{
    const struct { const char *name; uint64_t whole, part; const char *part_name; } rules[] = {
        { "n_ipus", m->n_ipus, m->ipus_per_board, "ipus_per_board" },
        { "n_ipus", m->n_ipus, m->ipus_per_domain, "ipus_per_domain" },
        { "ipus_per_domain", m->ipus_per_domain, m->ipus_per_board, "ipus_per_board" },
        { "ipus_per_domain", m->ipus_per_domain, m->pcie_shared_ipus, "pcie_shared_ipus" },
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].whole % rules[i].part != 0)
            return fail(err, "%s: %s: %llu is not a multiple of %s, %llu", path, rules[i].name,
                        (unsigned long long)rules[i].whole, rules[i].part_name, (unsigned long long)rules[i].part);
    if (m->ipus_per_domain > 1 && m->ipus_per_domain % 2 != 0)
        return fail(err, "%s: ipus_per_domain: %llu is odd, want two columns", path, (unsigned long long)m->ipus_per_domain);
    return true;
}

static bool check_links(const struct machine *m, const char *path, struct err *err)
{
    if (m->ipus_per_domain > 1 && m->domain_topology == DOMAIN_NONE)
        return fail(err, "%s: domain_topology: none, but %llu IPUs in a domain; want ladder or torus", path,
                    (unsigned long long)m->ipus_per_domain);
    if (m->ipus_per_domain > 1 && (m->rung_links == 0 || (m->ipus_per_domain > 2 && m->rail_links == 0)))
        return fail(err, "%s: %s: 0, but the %llu IPUs of a domain need links to each other", path,
                    m->rung_links == 0 ? "rung_links" : "rail_links", (unsigned long long)m->ipus_per_domain);
    uint64_t n_domains = m->n_ipus / m->ipus_per_domain;
    if (n_domains == 1)
        return true;
    const char *missing = m->gateway_topology == GATEWAY_NONE ? "gateway_topology: none" :
                          m->gateway_bytes_per_s == 0 ? "gateway_bytes_per_s: missing" :
                          m->gateway_efficiency == 0 ? "gateway_efficiency: missing" : NULL;
    if (missing)
        return fail(err, "%s: %s, but the %llu domains need links to each other", path, missing, (unsigned long long)n_domains);
    if (m->gateway_topology == GATEWAY_DIRECT && n_domains != 2)
        return fail(err, "%s: gateway_topology: direct links two domains, not %llu; want switched or network", path,
                    (unsigned long long)n_domains);
    if (m->gateway_topology != GATEWAY_DIRECT && m->switch_latency_s == 0)
        return fail(err, "%s: gateway_topology: %s, want switch_latency_s too", path, m->gateway_topology == GATEWAY_SWITCHED ? "switched" : "network");
    return true;
}

static bool check_power(const struct machine *m, const char *path, struct err *err)
{
    const struct { const char *name; double w; const char *most_name; double most_w; } rules[] = {
        { "idle_power_w and running_power_w", m->chip.idle_power_w + m->chip.running_power_w, "tdp_w", m->chip.tdp_w },
        { "board_idle_power_w", m->board_idle_power_w, "board_power_w", m->board_power_w },
        { "board_power_w", m->board_power_w, "board_power_cap_w", m->board_power_cap_w },
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].most_w > 0 && rules[i].w > rules[i].most_w)
            return fail(err, "%s: %s: %g W are more than the %g W of %s", path, rules[i].name, rules[i].w, rules[i].most_w, rules[i].most_name);
    return true;
}

bool machine_check(const struct machine *m, const char *path, struct err *err)
{
    if (m->streaming_bytes_per_s > 0 && (m->streaming_efficiency == 0 || m->streaming_bytes == 0))
        return fail(err, "%s: streaming_bytes_per_s: given, want streaming_efficiency and streaming_bytes too", path);
    if (m->pcie_shared_ipus > 1 && m->pcie_shared_bytes_per_s == 0)
        return fail(err, "%s: pcie_shared_ipus: %llu, want pcie_shared_bytes_per_s too", path,
                    (unsigned long long)m->pcie_shared_ipus);
    return check_chip(m, path, err) && check_mac(m, path, err) && check_counts(m, path, err) && check_links(m, path, err)
        && check_power(m, path, err);
}
