/*
 * timeline.c - podbench timeline: one step of a recipe against the clock, as text, CSV or trace.
 */
#include "harness/harness.h"

static bool write_trace(const char *path, const struct timeline *t, struct err *err)
{
    struct new_file file;
    if (!new_file_open(&file, path, err))
        return false;
    if (!timeline_write_trace(file.f, t, err)) {
        new_file_drop(&file);
        return false;
    }
    return new_file_save(&file, err);
}

int command_timeline(const struct options *o, struct session *s, struct err *err)
{
    struct simulation sim;
    struct result r;
    s->paths.unfolded = o->unfolded;
    bool good = simulate_argument(&sim, &r, o, s, err) && (!o->trace || write_trace(o->trace, &sim.timeline, err));
    if (good && o->format == FORMAT_CSV)
        timeline_write_csv(stdout, &sim.timeline);
    else if (good)
        timeline_print(stdout, &sim.timeline, o->all);
    simulation_free(&sim);
    return good ? EXIT_DONE : EXIT_BAD_INPUT;
}
