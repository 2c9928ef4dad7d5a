/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * timeline.c - podbench timeline: one step of a recipe over time, as text, CSV or trace.
 */
#include "harness/harness.h"
#include "results/simulate/simulate.h"
#include <fcntl.h>
#include <jansson.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* True if the path is the terminal that shows the text. Devices are compared, because /dev/tty is another name of the terminal. */
static bool is_terminal_of_text(const char *path)
{
    unsigned file, text;
    int fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    bool same = fd != -1 && ioctl(fd, TIOCGDEV, &file) == 0 && ioctl(STDOUT_FILENO, TIOCGDEV, &text) == 0 && file == text;
    if (fd != -1)
        close(fd);
    return same;
}

/* True if the trace would go to the same file, pipe or terminal as the text and mix with it. /dev/null is allowed. */
static bool is_where_text_goes(const char *path)
{
    struct stat file, text;
    if (stat(path, &file) != 0 || fstat(STDOUT_FILENO, &text) != 0)
        return false;
    if (S_ISCHR(file.st_mode))
        return is_terminal_of_text(path);
    return file.st_dev == text.st_dev && file.st_ino == text.st_ino;
}

static bool write_trace(struct simulation *sim, struct result *r, const struct options *o, struct session *s, struct err *err)
{
    struct new_file file;
    if (!may_replace(o->trace, "{\"displayTimeUnit\"", "a trace", err) || !new_file_open(&file, o->trace, err))
        return false;
    result_provenance(r, sim, o->sets, o->n_sets);
    json_t *made_by = provenance_json(r, sim, o->sets, o->n_sets);
    char *text = json_dumps(made_by, 0);
    bool good = timeline_write_trace(file.f, &sim->timeline, text, err);
    free(text);
    json_decref(made_by);
    good = new_file_end(&file, good, err);
    if (good)
        fprintf(s->log, "podbench: %s: open it at https://ui.perfetto.dev\n", o->trace);
    return good;
}

int command_timeline(const struct options *o, struct session *s, struct err *err)
{
    struct simulation sim;
    struct result r;
    s->paths.unfolded = o->unfolded;
    if (o->trace && is_where_text_goes(o->trace))
        return bad_input(err, "--trace %s: is standard output, where the timeline is printed; name another file", o->trace);
    bool good = simulate_argument(&sim, &r, o, s, err) && (!o->trace || write_trace(&sim, &r, o, s, err));
    if (good)
        warn_unfit(&r, s);
    if (good && o->format == FORMAT_CSV)
        timeline_write_csv(s->out, &sim.timeline);
    if (good && o->format == FORMAT_TEXT) {
        struct document d = { .arena = &s->arena };
        timeline_document(&d, &sim.timeline, o->all);
        document_write(s->out, o->format, &d);
    }
    simulation_free(&sim);
    return good ? EXIT_DONE : EXIT_BAD_INPUT;
}
