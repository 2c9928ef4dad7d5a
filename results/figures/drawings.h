/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * drawings.h - the table of figures, and the functions that make them.
 */
#ifndef DRAWINGS_H
#define DRAWINGS_H
#include "results/figures/drawing.h"

struct drawing_kind {
    const char *name;                           /* the figure's name; plots/NAME.gp draws it */
    bool (*write)(struct drawing *d, struct err *err);
};
extern const struct drawing_kind drawing_kinds[];
extern const size_t n_drawing_kinds;
/* Makes the tables of a figure and saves them all, or none if one fails. */
bool drawing_make(struct drawing *d, const struct drawing_kind *kind, struct err *err);

bool draw_kinds(struct drawing *d, struct err *err);            /* draw_kinds.c */
bool draw_scaling(struct drawing *d, struct err *err);          /* draw_scaling.c */
bool draw_servers(struct drawing *d, struct err *err);
bool draw_times(struct drawing *d, struct err *err);            /* draw_times.c */
bool draw_breakdown(struct drawing *d, struct err *err);        /* draw_steps.c */
bool draw_waterfall(struct drawing *d, struct err *err);
bool draw_memory(struct drawing *d, struct err *err);           /* draw_memory.c */
bool draw_fit(struct drawing *d, struct err *err);              /* draw_fit.c */
bool draw_recompute(struct drawing *d, struct err *err);
bool draw_roofline(struct drawing *d, struct err *err);         /* draw_roofline.c */
bool draw_pipeline(struct drawing *d, struct err *err);         /* draw_pipeline.c */
bool draw_links(struct drawing *d, struct err *err);            /* draw_links.c */
bool draw_map(struct drawing *d, struct err *err);              /* draw_map.c */
bool draw_large(struct drawing *d, struct err *err);            /* draw_large.c */

#endif
