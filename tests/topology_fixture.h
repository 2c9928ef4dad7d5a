/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * topology_fixture.h - the arena of a test of links, and machines and link graphs built in it.
 */
#ifndef TOPOLOGY_FIXTURE_H
#define TOPOLOGY_FIXTURE_H
#include "tests/check.h"
#include "tests/toy_machine.h"

static struct arena a;
static struct err err;

static struct topology build(const struct machine *m, const struct faults *faults)
{
    struct topology t;
    if (!topology_build(&t, m, faults, &a, &err))
        print_error("%s\n", err.msg);
    assert_true(t.n_links > 0);
    return t;
}

static inline struct machine *load(const char *name)
{
    struct machine *m = ARENA_NEW(&a, struct machine);
    assert_true(machine_load(m, name, "system-model/specs", &a, &err));
    return m;
}
#endif
