/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_figures.c - the value that a plan has for a published metric of memory: bytes of a category, of the fullest tile, of all tiles.
 */
#include "results/published/check.h"

/* True for regions of code, vertex state and stack; all other regions hold variables. */
static bool is_code_region(const char *name)
{
    static const char *const words[] = { "code", "vertex", "stack" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]))
            return true;
    return false;
}

/* Turns a metric such as "vertex_code_bytes" into a region such as "vertex code". */
static const char *region_of_metric(const char *metric, char text[64])
{
    snprintf(text, 64, "%.*s", (int)(strlen(metric) - strlen("_bytes")), metric);
    for (char *c = text; *c; c++)
        if (*c == '_')
            *c = ' ';
    return text;
}

/* Splits "ipu_1_max_tile_bytes" into IPU 1 and "max_tile_bytes". Without a number the fullest IPU is taken. */
static const char *split_metric(uint32_t *ipu, const struct plan *p, const char *metric)
{
    static const char prefix[] = "ipu_";
    *ipu = p->worst_ipu;
    if (strncmp(metric, prefix, strlen(prefix)) != 0)
        return metric;
    char *end;
    *ipu = min_u32((uint32_t)strtoul(metric + strlen(prefix), &end, 10), p->request.ipus_per_replica - 1);
    return end + strspn(end, "_");
}

bool memory_of_plan(double *out, const struct plan *p, const char *ipu_metric, struct err *err)
{
    uint32_t ipu;
    const char *metric = split_metric(&ipu, p, ipu_metric);
    const struct tile_memory *m = &p->memory[ipu];
    double tiles = (double)p->topology->machine->chip.n_tiles;
    char name[64];
    region_of_metric(metric, name);
    bool known = false;
    *out = 0;
    if (text_is(metric, "max_tile_bytes") || text_is(metric, "max_tile_including_gaps_bytes")) {
        *out = (double)(text_is(metric, "max_tile_bytes") ? m->total_bytes : m->end_bytes);
        return true;
    }
    if (text_is(metric, "total_bytes")) {
        *out = (double)m->total_bytes * tiles;
        return true;
    }
    for (int r = 0; r < N_MEMORY_CATEGORIES; r++)
        if (text_is(name, "variables") ? !is_code_region(memory_category_names[r]) : text_is(name, memory_category_names[r])) {
            *out += (double)m->bytes[r] * tiles;
            known = true;
        }
    return known || fail(err, "the plan has no category '%s'", name);
}

bool memory_of_tile(struct memory_need *out, const struct plan *p, const char *metric)
{
    uint32_t ipu;
    bool of_tile = text_is(split_metric(&ipu, p, metric), "max_tile_bytes");
    if (of_tile)
        *out = plan_counted_bytes(p, ipu);
    return of_tile;
}
