/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * audit.c - podbench audit: every numeric claim of the source documents, recomputed.
 */
#include "harness/harness.h"
#include "results/published/check.h"

int command_audit(const struct options *o, struct session *s, struct err *err)
{
    struct figures figures;
    struct claims claims;
    struct csv_table facts, numbers;
    struct progress p;
    const char *folder = arena_printf(&s->arena, "%s/claims", s->published_dir);
    if (!session_figures(&figures, NULL, s, err) ||
        !csv_load(&facts, arena_printf(&s->arena, "%s/facts.csv", folder), &s->arena, err) ||
        !csv_load(&numbers, arena_printf(&s->arena, "%s/numbers.csv", folder), &s->arena, err) ||
        !claims_load(&claims, arena_printf(&s->arena, "%s/claims.csv", folder), &s->arena, err))
        return EXIT_BAD_INPUT;
    struct audit_values values = { &figures, &facts, &numbers, &s->simulator, &s->paths, &s->arena };
    progress_start(&p, s->log, "auditing");
    bool good = audit_run(&claims, &values, &(struct watch){ progress_report, &p }, err);
    progress_end(&p);
    if (!good)
        return EXIT_BAD_INPUT;
    audit_document(&s->answer, &claims, o->all);
    return EXIT_DONE;
}
