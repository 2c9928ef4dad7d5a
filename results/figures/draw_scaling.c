/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw_scaling.c - throughput and efficiency against chips: closed-division runs of each round, published and
 * predicted, and ideal scaling.
 */
#include "results/figures/drawings.h"
#include "results/figures/scaling.h"
#include <math.h>

static const char *const workload_names[] = { "resnet50", "bert-large" };

static bool write_scaling_panel(struct drawing *d, const struct scaling *s, struct err *err)
{
    struct new_file file;
    if (!drawing_open(&file, d, arena_printf(d->a, "scaling-%s", s->workload), err))
        return false;
    fprintf(file.f, "chips");
    for (size_t k = 0; k < N_SCALING_ROUNDS; k++) {
        const char *round = scaling_rounds[k];
        fprintf(file.f, ",%s published,%s simulated,%s ideal,%s published efficiency,%s simulated efficiency", round, round, round, round, round);
    }
    fprintf(file.f, "\n");
    for (size_t i = 0; i < s->n_sizes; i++) {
        drawing_number(file.f, (double)s->sizes[i], false);
        for (size_t k = 0; k < N_SCALING_ROUNDS; k++) {
            const struct scaling_point *p = &s->points[k][i];
            const double cells[] = { p->published, p->simulated, p->ideal, p->published_efficiency, p->simulated_efficiency };
            for (size_t c = 0; c < 5; c++)
                drawing_number(file.f, cells[c], k + 1 == N_SCALING_ROUNDS && c == 4);
        }
    }
    return new_file_save(&file, err);
}

/* The gap between published and predicted efficiency, in points. */
static double gap_of(const struct scaling_point *p)
{
    return fabs(p->simulated_efficiency - p->published_efficiency);
}

/* The point with the largest gap. */
static const struct scaling_point *worst_gap(const struct scaling *s, size_t *round, size_t *size)
{
    const struct scaling_point *worst = NULL;
    for (size_t k = 0; k < N_SCALING_ROUNDS; k++)
        for (size_t i = 0; i < s->n_sizes; i++) {
            const struct scaling_point *p = &s->points[k][i];
            if (!isnan(gap_of(p)) && (!worst || gap_of(p) > gap_of(worst))) {
                worst = p;
                *round = k, *size = i;
            }
        }
    return worst;
}

bool draw_scaling(struct drawing *d, struct err *err)
{
    const char *text[2] = { "", "" };
    for (size_t i = 0; i < 2; i++) {
        struct scaling s;
        size_t round, size;
        scaling_build(&s, workload_names[i], d->from->results, d->from->published);
        if (!write_scaling_panel(d, &s, err))
            return false;
        const struct scaling_point *p = worst_gap(&s, &round, &size);
        if (p)
            text[i] = arena_printf(d->a, "%s within %.1f points (%s, %llu IPUs)", i ? "BERT-Large" : "ResNet-50",
                                   gap_of(p), scaling_rounds[round], (unsigned long long)s.sizes[size]);
    }
    d->missing = "no MLPerf runs of both ResNet-50 and BERT-Large";
    if (*text[0] && *text[1])           /* a panel without points is left out */
        d->finding = arena_printf(d->a, "Scaling efficiency as predicted and as published: %s, %s", text[0], text[1]);
    return true;
}
