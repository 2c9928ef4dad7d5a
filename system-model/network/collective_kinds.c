/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collective_kinds.c - the kinds of collectives: names and phases.
 */
#include "system-model/network/collective_internal.h"

const char *const collective_kind_names[] = {
#define NAME(kind, text, ...) text,
    COLLECTIVE_KINDS(NAME)
#undef NAME
};

static const struct collective_phases phases[] = {
#define PHASES(kind, text, scatters, reduces, gathers) { scatters, reduces, gathers },
    COLLECTIVE_KINDS(PHASES)
#undef PHASES
};
_Static_assert(sizeof phases / sizeof *phases == N_COLLECTIVE_KINDS, "one row a kind");

const struct collective_phases *collective_phases_of(enum collective_kind kind) { return &phases[kind]; }
