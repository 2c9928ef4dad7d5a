/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sweep.c - podbench sweep, which simulates every configuration of a space, and podbench merge, which joins the shards of a sweep.
 *
 * With --out, rows are appended to FILE.part in the order of the configurations, and FILE.part is renamed to FILE when it is complete.
 * --resume counts the rows of an interrupted sweep in FILE.part and continues after them. Each shard has a file name of its own.
 */
#include "harness/harness.h"
#include "harness/sweep_table.h"
#include "results/study/sweep.h"
#include <jansson.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_JOBS = 1024 };

static const char *environment(const char *name)
{
    return getenv(name);
}

/* Refuses a --set of a swept key, since each row has a value of its own. */
static bool check_sets(const struct space *space, const struct options *o, struct err *err)
{
    for (size_t i = 0; i < o->n_sets; i++)
        for (size_t k = 0; k < space->n_axes; k++)
            for (size_t j = 0; j < space->axes[k].n_keys; j++) {
                const char *key = space->axes[k].keys[j];
                if (setting_is_of(o->sets[i], key))
                    return fail(err, "--set %.100s: %s is swept as well; leave one of them out", o->sets[i], key);
            }
    return true;
}

/* Refuses a misspelt key once, instead of in every row. */
static bool check_swept_keys(const struct space *space, struct arena *a, struct err *err)
{
    for (size_t i = 0; i < space->n_axes; i++)
        for (size_t k = 0; k < space->axes[i].n_keys; k++)
            if (!recipe_setting_check(arena_printf(a, "%s=", space->axes[i].keys[k]), a, err))
                return fail_at(err, "sweep");
    return true;
}

/* Builds the space; the last axis changes fastest. */
static bool build_space(struct space *space, const struct options *o, const char *recipes_dir, struct arena *a, struct err *err)
{
    space_start(space, o->arguments, o->n_arguments);
    if (!recipes_check_unique(o->arguments, o->n_arguments, recipes_dir, err))
        return fail_at(err, "sweep");
    if ((o->from && !space_from(space, o->from, a, err)) || (o->n_zips && !space_zip(space, o->zips, o->n_zips, a, err)))
        return false;
    for (size_t i = 0; i < o->n_overs; i++)
        if (!space_over(space, o->overs[i], a, err))
            return false;
    if (!space->n_axes)
        return fail(err, "sweep: no key to sweep; name one with --over, as in --over parallel.micro_batch=1,2,4, or --from FILE.csv");
    return space_close(space, err) && check_swept_keys(space, a, err) && check_sets(space, o, err);
}

bool count_threads(uint32_t *out, const struct options *o, struct err *err)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t n = o->jobs ? o->jobs : cores > 0 ? (uint64_t)cores : 1;
    *out = (uint32_t)min_u64(n, MOST_JOBS);
    return o->jobs <= MOST_JOBS || fail(err, "--jobs: %" PRIu64 " is outside 1 to %d", o->jobs, MOST_JOBS);
}

/* Warns of keys without effect in the first configuration, which are probably a mistake. For keys of recipes a rule decides in every row; for
 * sheet values a trial decides, once. */
static void sweep_warn_idle_keys(struct sweep *w, struct session *session)
{
    const struct space *s = w->space;
    struct arena *a = &session->arena;
    const char **settings = ARENA_ROOM(a, const char *, s->n_keys);
    struct configuration c = { .recipe = space_configuration(settings, s, 0), .is_of_many = true };
    configuration_add(&c, w->sets, w->n_sets, a);
    for (size_t i = 0; i < s->n_axes; i++)
        for (size_t k = 0; k < s->axes[i].n_keys; k++, settings++)
            if (**settings)
                configuration_vary(&c, *settings, s->axes[i].settings + k, s->axes[i].n, s->axes[i].n_keys, a);
    json_t *notes = json_array(), *note;
    size_t i;
    warn_idle_settings(&c, "first", notes, session);
    json_array_foreach(notes, i, note) {
        const char *text = json_string_value(note) + strlen(c.recipe) + strlen(": ");
        if (is_sheet_override(text))
            w->idle = arena_printf(a, "%s%s%s", w->idle ? w->idle : "", w->idle ? "; " : "", text);
    }
    json_decref(notes);
}

/* ---- the output file ------------------------------------------------------------------------------------ */

struct output { const char *path, *part; FILE *f; uint64_t n_done; bool is_whole; };

/* sweep.csv -> sweep.3-of-8.csv */
static const char *shard_name(const char *path, const struct shard *shard, struct arena *a)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (shard->n == 1)
        return path;
    if (!dot || (slash && dot < slash))
        dot = path + strlen(path);
    return arena_printf(a, "%.*s.%u-of-%u%s", (int)(dot - path), path, shard->index, shard->n, dot);
}

static const char *shard_path(const char *path, const struct shard *shard, struct arena *a, struct err *err)
{
    char *real = file_behind_link(shard_name(path, shard, a), err);
    const char *kept = real ? arena_strdup(a, real) : NULL;
    free(real);
    return kept;
}

static bool output_open_part(struct output *out, uint64_t n_bytes, struct err *err)
{
    int fd = open(out->part, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd == -1 || !(out->f = fdopen(fd, "a+")))
        return fail(err, "%s: cannot be written: %s", out->part, strerror(errno));
    struct stat opened, there;
    if (flock(fileno(out->f), LOCK_EX | LOCK_NB) != 0 || fstat(fileno(out->f), &opened) != 0 || stat(out->part, &there) != 0
        || opened.st_ino != there.st_ino)               /* another process has completed and renamed the file */
        return fail(err, "%s: another podbench is writing it", out->part);
    return ftruncate(fileno(out->f), (off_t)n_bytes) == 0 || fail(err, "%s: cannot cut off an unfinished row: %s", out->part, strerror(errno));
}

static bool being_written(const char *part)
{
    int fd = open(part, O_RDONLY | O_CLOEXEC);
    bool locked = fd != -1 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd != -1)
        close(fd);
    return locked;
}

/* True if a table for people is printed: on a terminal, if text is asked for, or if rows or columns are chosen. Pipes and files get CSV. */
static bool is_table(const struct options *o, const struct session *s)
{
    bool chosen = o->top || o->sort || o->columns;
    return o->format == FORMAT_TEXT && !o->out && (o->is_format_given || chosen || s->in_terminal);
}

static bool check_choice(const struct sweep_choice *choice, const struct sweep *w, struct arena *a, struct err *err)
{
    char *header = NULL;
    size_t n;
    FILE *f = text_stream(&header, &n);
    sweep_write_header(f, w);
    return sweep_table_check(choice, text_close(f, &header, a), a, err);
}

static bool output_open(struct output *out, const struct options *o, const struct sweep *w, const struct shard *shard, uint64_t first,
                        uint64_t end, struct session *s, struct err *err)
{
    uint64_t n_bytes = 0;
    *out = (struct output){ .f = s->out };
    if (!o->out && (o->resume || shard->n > 1))
        return fail(err, "%s wants --out FILE, to %s", o->resume ? "--resume" : "a shard", o->resume ? "go on with" : "write a part of");
    if (!o->out) {
        if (!is_table(o, s))
            sweep_write_header(s->out, w);
        return true;
    }
    out->path = shard_path(o->out, shard, &s->arena, err);
    if (!out->path)
        return false;
    if (is_device(out->path) || text_is(out->path, "-"))
        return fail(err, "%s: is not a regular file; leave out --out to print the rows", out->path);
    if (!may_replace(out->path, w->format == SWEEP_JSON ? "{\"configuration\"" : "configuration,", "the rows of a sweep", err))
        return false;
    out->part = arena_printf(&s->arena, "%s.part", out->path);
    if (o->resume && access(out->path, F_OK) == 0) {
        out->is_whole = part_look(&out->n_done, &n_bytes, out->path, w, first, err) && out->n_done == end - first;
        return out->is_whole || (*err->msg ? false : fail(err, "%s: holds %" PRIu64 " of %" PRIu64 " rows; remove it to start again", out->path,
                                                        out->n_done, end - first));
    }
    if (!part_look(&out->n_done, &n_bytes, out->part, w, first, err))
        return false;
    if (being_written(out->part))
        return fail(err, "%s: another podbench is writing it", out->part);
    if (!o->resume && access(out->part, F_OK) == 0)
        return fail(err, "%s: holds %" PRIu64 " rows of an interrupted sweep; go on with --resume, or remove it", out->part, out->n_done);
    if (!output_open_part(out, n_bytes, err))
        return false;
    if (!n_bytes)
        sweep_write_header(out->f, w);
    return true;
}

static bool output_close(struct output *out, bool good, struct err *err)
{
    if (!out->path)
        return good;
    if (fclose(out->f) != 0 && good)
        good = fail(err, "%s: cannot be written completely: %s", out->part, strerror(errno));
    return good && (rename(out->part, out->path) == 0 || fail(err, "%s: cannot be renamed to %s: %s", out->part, out->path, strerror(errno)));
}

/* ---- the command ---------------------------------------------------------------------------------------- */

static int print_sweep_end(FILE *log, const struct sweep_count *c, const struct output *out, const struct shard *shard, struct err *err)
{
    uint64_t n = c->n_fit + c->n_unfit + c->n_refused;
    if (n && c->n_refused == n && !out->n_done)
        return bad_input(err, "every configuration was refused, the first because: %.400s", c->first_reason);
    fprintf(log, "podbench: %" PRIu64 " configuration%s: %" PRIu64 " fit, %" PRIu64 " do not fit, %" PRIu64 " refused%s%s\n", n,
            plural(n), c->n_fit, c->n_unfit, c->n_refused, out->path ? "; " : "", out->path ? out->path : "");
    if (shard->n > 1)
        fprintf(log, "podbench: shard %u of %u, by %s\n", shard->index, shard->n, shard->by);
    return EXIT_DONE;
}

/* A sweep as the user asked for it. */
struct sweep_asked { struct space space; struct shard shard; struct track_record record; struct sweep sweep; uint64_t first, end; };

static bool sweep_ask(struct sweep_asked *x, const struct options *o, struct session *s, struct err *err)
{
    bool shapes_table = o->top || o->sort || o->columns || (o->out && o->is_format_given && o->format == FORMAT_TEXT);
    *x = (struct sweep_asked){ .sweep = { .space = &x->space, .record = &x->record, .sets = o->sets, .n_sets = o->n_sets, .paths = &s->paths,
                                          .format = o->format == FORMAT_JSON ? SWEEP_JSON : SWEEP_CSV } };
    if (shapes_table && (o->out || o->format != FORMAT_TEXT))
        return fail(err, "sweep: --top, --sort, --columns and --format text make a table for people; leave them out where --out, csv or json is given");
    if (!build_space(&x->space, o, s->paths.recipes_dir, &s->arena, err) || !count_threads(&x->sweep.n_jobs, o, err)
        || !shard_find(&x->shard, o->shard, environment, err)
        || !session_record(&x->record, NULL, s, err)
        || !sweep_identity(&x->sweep.identity, &x->sweep, &s->arena, err))
        return false;
    shard_range(&x->first, &x->end, &x->shard, x->space.n);
    s->paths.unfolded = o->unfolded;
    s->simulator.options.totals_only = true;
    return true;
}

/* Simulates the remaining configurations, and writes their rows. */
static bool sweep_rest(struct sweep_count *count, struct sweep_asked *x, const struct output *out, FILE *log, struct err *err)
{
    struct progress p;
    if (out->n_done)
        fprintf(log, "podbench: %s: %" PRIu64 " of %" PRIu64 " rows are already there\n", out->part, out->n_done, x->end - x->first);
    progress_start(&p, log, "sweeping");
    x->sweep.watch = (struct watch){ progress_report, &p };
    x->sweep.output = out->path ? out->part : "standard output";
    bool good = sweep_run(out->f, count, &x->sweep, x->first + out->n_done, x->end, err);
    progress_end(&p);
    return good;
}

/* sweep_rest() with the output as a table, which needs all rows before it prints one. */
static bool sweep_as_table(struct sweep_count *count, struct sweep_asked *x, struct output *out, const struct sweep_choice *choice, struct session *s,
                           struct err *err)
{
    char *rows = NULL;
    size_t n_bytes = 0;
    out->f = text_stream(&rows, &n_bytes);
    sweep_write_header(out->f, &x->sweep);
    bool good = sweep_rest(count, x, out, s->log, err);
    fclose(out->f);
    good = good && sweep_table_print(s->out, choice, rows, n_bytes, &s->arena, err);
    free(rows);
    return good;
}

int command_sweep(const struct options *o, struct session *s, struct err *err)
{
    struct sweep_asked x;
    struct output out;
    struct sweep_count count = {0};
    if (!sweep_ask(&x, o, s, err))
        return EXIT_BAD_INPUT;
    struct sweep_choice choice = { &x.space, o->top, o->sort, o->columns };
    if (is_table(o, s) && !check_choice(&choice, &x.sweep, &s->arena, err))
        return EXIT_BAD_INPUT;
    sweep_warn_idle_keys(&x.sweep, s);
    if (!output_open(&out, o, &x.sweep, &x.shard, x.first, x.end, s, err))
        return EXIT_BAD_INPUT;
    if (out.is_whole) {
        fprintf(s->log, "podbench: %s is already complete\n", out.path);
        return EXIT_DONE;
    }
    bool good = is_table(o, s) ? sweep_as_table(&count, &x, &out, &choice, s, err) : sweep_rest(&count, &x, &out, s->log, err);
    return output_close(&out, good, err) ? print_sweep_end(s->log, &count, &out, &x.shard, err) : EXIT_BAD_INPUT;
}

int command_merge(const struct options *o, struct session *s, struct err *err)
{
    struct new_file file;
    if (!o->out)
        return parts_merge(s->out, "standard output", o->arguments, o->n_arguments, &s->arena, err) ? EXIT_DONE : EXIT_BAD_INPUT;
    const char **paths = ARENA_ROOM(&s->arena, const char *, o->n_arguments + 1);
    memcpy(paths, o->arguments, o->n_arguments * sizeof *paths);
    paths[o->n_arguments] = o->out;
    if (!files_are_distinct(paths, paths, o->n_arguments + 1, err) || !may_replace(o->out, "configuration,", "the rows of a sweep", err)
        || !new_file_open(&file, o->out, err))
        return EXIT_BAD_INPUT;
    return new_file_end(&file, parts_merge(file.f, file.path, o->arguments, o->n_arguments, &s->arena, err), err) ? EXIT_DONE : EXIT_BAD_INPUT;
}
