/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * drawings.c - the table of figures.
 */
#include "results/figures/drawings.h"

const struct drawing_kind drawing_kinds[] = {
    { "scaling", draw_scaling }, { "kinds", draw_kinds }, { "time-to-train", draw_times }, { "waterfall", draw_waterfall },
    { "breakdown", draw_breakdown }, { "roofline", draw_roofline }, { "memory", draw_memory }, { "fit", draw_fit }, { "pipeline", draw_pipeline },
    { "links", draw_links }, { "map", draw_map }, { "recompute", draw_recompute }, { "servers", draw_servers },
    { "large", draw_large },
};
const size_t n_drawing_kinds = sizeof drawing_kinds / sizeof *drawing_kinds;

bool drawing_make(struct drawing *d, const struct drawing_kind *kind, struct err *err)
{
    bool good = kind->write(d, err);
    drawing_say_guesses(d);
    return drawing_save(d, good, err);
}
