/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sweep_parts.c - divides a sweep into shards, and merges their rows. The first cells of a row identify its sweep and configuration; the rest
 * is copied without being parsed.
 *
 * Slurm gives each task of an array its number, the array's least number, its step and its size. srun gives each process of a step its rank
 * and the number of processes. If both are there, every task of the array must start the same number of processes. Open MPI and MPICH give
 * rank and size. GNU parallel gives a job only its number.
 */
#include "results/study/sweep.h"

#include <errno.h>

/* ---- shards ------------------------------------------------------------------------------------- */

void shard_range(uint64_t *first, uint64_t *end, const struct shard *shard, uint64_t n_configurations)
{
    uint64_t each = n_configurations / shard->n, rest = n_configurations % shard->n, i = shard->index - 1;
    *first = i * each + min_u64(i, rest);
    *end = *first + each + (i < rest);
}

static bool number_of(uint64_t *out, const char *text)
{
    return text && parse_u64(text, out);
}

enum { MOST_SHARDS = 1000000 };

/* Reads variables of the environment; those that are set must be numbers. *all is true if all are set. */
static bool numbers_of(bool *all, uint64_t *const *out, const char *const *names, size_t n, const char *(*get)(const char *name), struct err *err)
{
    *all = true;
    for (size_t i = 0; i < n; i++) {
        const char *text = get(names[i]);
        if (text && !number_of(out[i], text))
            return fail(err, "%s=%.40s is not a number; name the part with --shard I/N", names[i], text);
        *all = *all && text;
    }
    return true;
}

/* A launcher and the variables by which it gives the rank (from 0) and the size. */
struct launcher { const char *name, *rank, *size, *with; };      /* with: another variable that must be set, too */
static const struct launcher launchers[] = {
    { "Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL },
    { "MPICH", "PMI_RANK", "PMI_SIZE", NULL },
    { "srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID" },
};

/* This process's rank among `size` processes that were started together. `by` is the launcher, NULL if the process was started alone. */
struct member { uint64_t rank, size; const char *by; };

static bool from_launcher(struct member *out, const char *(*get)(const char *name), struct err *err)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers && !out->by; i++) {
        const struct launcher *l = &launchers[i];
        struct member m = { .by = l->name };
        bool all;
        if (l->with && !get(l->with))
            continue;
        if (!numbers_of(&all, (uint64_t *[]){ &m.rank, &m.size }, (const char *[]){ l->rank, l->size }, 2, get, err))
            return false;
        if (all && m.rank >= m.size)
            return fail(err, "%s=%" PRIu64 " is not below %s=%" PRIu64 "; name the part with --shard I/N", l->rank, m.rank, l->size, m.size);
        *out = all ? m : *out;
    }
    return true;
}

/* Reads the task's place in Slurm's array. Refuses unevenly spaced task numbers, from which the place does not follow. */
static bool from_array(struct member *out, const char *(*get)(const char *name), struct err *err)
{
    static const char *const names[] = { "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT" };
    uint64_t id, least, n, step = 1;
    bool all;
    if (!numbers_of(&all, (uint64_t *[]){ &id, &least, &n }, names, 3, get, err))
        return false;
    if (!all)
        return true;
    if (!number_of(&step, get("SLURM_ARRAY_TASK_STEP")) || !step)
        step = 1;
    *out = (struct member){ (id - least) / step, n, "Slurm's array" };
    return (id >= least && (id - least) % step == 0 && out->rank < n)
        || fail(err, "SLURM_ARRAY_TASK_ID=%" PRIu64 " is not one of %" PRIu64 " tasks from %" PRIu64 " in steps of %" PRIu64
                "; number the array evenly, or name the part with --shard I/N", id, n, least, step);
}

/* Finds the part from Slurm's array and the launcher; each task of an array may start several processes. */
static bool from_environment(struct shard *out, const char *(*get)(const char *name), struct err *err)
{
    struct member launched = { 0, 1, NULL }, array = { 0, 1, NULL };
    if (!from_launcher(&launched, get, err) || !from_array(&array, get, err))
        return false;
    if (array.size > MOST_SHARDS || launched.size > MOST_SHARDS / array.size)
        return fail(err, "%" PRIu64 " x %" PRIu64 " parts, by Slurm's array and the launcher, are more than %d; name the part with --shard I/N",
                    array.size, launched.size, MOST_SHARDS);
    if (launched.by || array.by)
        *out = (struct shard){ (uint32_t)(array.rank * launched.size + launched.rank) + 1, (uint32_t)(array.size * launched.size),
                               launched.by && array.by ? "Slurm's array and the launcher" : launched.by ? launched.by : array.by };
    return true;
}

bool shard_find(struct shard *out, const char *text, const char *(*get)(const char *name), struct err *err)
{
    uint64_t i, n;
    *out = (struct shard){ 1, 1, "" };
    if (!text)
        return from_environment(out, get, err);
    const char *slash = strchr(text, '/');
    char index[24] = "";
    if (slash && slash - text < (ptrdiff_t)sizeof index)
        memcpy(index, text, (size_t)(slash - text));
    if (!slash || !number_of(&n, slash + 1) || !n || n > MOST_SHARDS)
        return fail(err, "--shard: '%.40s' is not a shard; want I/N, as in 3/8, or /N under GNU parallel", text);
    if (*index ? !number_of(&i, index) : !number_of(&i, get("PARALLEL_SEQ")))
        return fail(err, "--shard: '%.40s' has no number before the slash%s", text, *index ? "" : ", and PARALLEL_SEQ, which GNU parallel sets, is not there");
    if (i < 1 || i > n)
        return fail(err, "--shard: %" PRIu64 " is outside 1 to %" PRIu64, i, n);
    *out = (struct shard){ (uint32_t)i, (uint32_t)n, *index ? "--shard" : "GNU parallel" };
    return true;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

struct row_place { uint64_t number, of, identity; };        /* number is counted from 1 */

static bool skip(const char **at, const char *text)
{
    size_t n = strlen(text);
    bool same = strncmp(*at, text, n) == 0;
    *at += same ? n : 0;
    return same;
}

static bool parse_cell(uint64_t *out, const char **at, int base)
{
    char *end;
    bool digit = strchr(base == 16 ? "0123456789abcdef" : "0123456789", **at) && **at;
    *out = strtoull(*at, &end, base);
    bool good = digit && end - *at <= (base == 16 ? 16 : 19);
    *at = end;
    return good;
}

/* Parses the first cells of a row. This is done by hand for speed, because a part may have ten million rows. */
static bool row_place(struct row_place *out, const char *line)
{
    static const char *const of_csv[] = { "", ",", ",", "," }, *const of_json[] = { "{\"configuration\":", ",\"of\":", ",\"sweep\":\"", "\"," };
    const char *const *between = *line == '{' ? of_json : of_csv;
    return skip(&line, between[0]) && parse_cell(&out->number, &line, 10) && skip(&line, between[1]) && parse_cell(&out->of, &line, 10)
        && skip(&line, between[2]) && parse_cell(&out->identity, &line, 16) && skip(&line, between[3]);
}

/* Reads one complete line with its newline. False at the end of the file (*n is 0), for a last line without newline, and for a line that is
 * too long to be a row. */
static bool whole_line(char **line, size_t *n, FILE *f)
{
    enum { LONGEST_BYTES = 1 << 20 };
    *line = *line ? *line : malloc(LONGEST_BYTES);
    if (!*line)
        out_of_memory(LONGEST_BYTES);
    bool any = fgets(*line, LONGEST_BYTES, f);
    size_t length = any ? strlen(*line) : 0;
    *n = any ? max_u64(length, 1) : 0;
    return length > 0 && (*line)[length - 1] == '\n';
}

/* ---- going on ------------------------------------------------------------------------------------- */

struct look { const struct sweep *w; const char *path; uint64_t first, n_rows, n_bytes; };

static bool check_header(struct look *l, const char *line, struct err *err)
{
    char *want = NULL;
    size_t n = 0;
    FILE *f = text_stream(&want, &n);
    sweep_write_header(f, l->w);
    fclose(f);
    bool same = strcmp(want, line) == 0;
    free(want);
    return same || fail(err, "%s:1: the columns are those of another sweep or version; remove the file to start anew", l->path);
}

static bool count_row(struct look *l, const char *line, struct err *err)
{
    struct row_place p;
    if (!row_place(&p, line))
        return fail(err, "%s: row %" PRIu64 " is not a row of a sweep; remove the file to start anew", l->path, l->n_rows + 1);
    if (p.identity != l->w->identity || p.of != l->w->space->n)
        return fail(err, "%s: row %" PRIu64 " is of sweep %016" PRIx64 ", this is %016" PRIx64
                    ": a recipe, a value, a sheet or the version differs; remove the file to start anew", l->path, l->n_rows + 1, p.identity,
                    l->w->identity);
    if (p.number != l->first + l->n_rows + 1)
        return fail(err, "%s: row %" PRIu64 " is configuration %" PRIu64 ", want %" PRIu64 "; remove the file to start anew", l->path, l->n_rows + 1,
                    p.number, l->first + l->n_rows + 1);
    l->n_rows++;
    return true;
}

bool part_look(uint64_t *n_rows, uint64_t *n_bytes, const char *path, const struct sweep *w, uint64_t first, struct err *err)
{
    struct look l = { .w = w, .path = path, .first = first };
    FILE *f = open_regular(NULL, path, NULL);
    char *line = NULL;
    size_t n;
    bool good = true, has_header = w->format == SWEEP_JSON;
    *n_rows = *n_bytes = 0;
    while (f && good && whole_line(&line, &n, f)) {
        good = has_header ? count_row(&l, line, err) : check_header(&l, line, err);
        has_header = true;
        l.n_bytes += n;
    }
    free(line);
    if (f)
        fclose(f);
    *n_rows = l.n_rows;
    *n_bytes = l.n_bytes;
    return good;
}

/* ---- joining -------------------------------------------------------------------------------------- */

struct piece { const char *path; struct row_place place; bool has_rows; };
struct merge { FILE *f; const char *path; char *header, *line; struct row_place last; const char *last_path; };

/* Opens a part and reads its first row, which tells where the part belongs. The header of CSV is kept. */
static bool open_sweep_part(struct piece *p, struct merge *m, FILE *f, struct arena *a, struct err *err)
{
    size_t n;
    bool any = whole_line(&m->line, &n, f), is_table = any && *m->line != '{';
    if (any && m->last_path && is_table == !m->header)
        return fail(err, "%s:1: is %s, and %s is %s", p->path, is_table ? "a table" : "lines of JSON", m->last_path, is_table ? "lines of JSON" : "a table");
    if (is_table) {
        if (!m->header)
            m->header = arena_strdup(a, m->line);
        else if (strcmp(m->header, m->line) != 0)
            return fail(err, "%s:1: other columns than %s: parts of different sweeps or versions", p->path, m->last_path);
        any = whole_line(&m->line, &n, f);
    }
    m->last_path = any || is_table ? p->path : m->last_path;
    p->has_rows = any;
    return !any || row_place(&p->place, m->line) || fail(err, "%s: is not a part of a sweep", p->path);
}

static bool look_at_parts(struct piece *parts, struct merge *m, size_t n, struct arena *a, struct err *err)
{
    bool good = true;
    for (size_t i = 0; i < n && good; i++) {
        FILE *f = open_regular(NULL, parts[i].path, err);
        good = f && open_sweep_part(&parts[i], m, f, a, err);
        if (f)
            fclose(f);
    }
    return good;
}

static bool follows(struct merge *m, const struct row_place *p, const char *path, struct err *err)
{
    if (m->last.of && p->identity != m->last.identity)
        return fail(err, "%s: sweep %016" PRIx64 ", and %s is of sweep %016" PRIx64 ": a recipe, a value, a sheet or the version differs", path,
                    p->identity, m->last_path, m->last.identity);
    if (p->number <= m->last.number)
        return fail(err, "%s: holds configuration %" PRIu64 ", as %s does", path, p->number, m->last_path);
    if (p->number != m->last.number + 1)
        return fail(err, "configurations %" PRIu64 " to %" PRIu64 " are missing between %s and %s", m->last.number + 1, p->number - 1,
                    m->last.number ? m->last_path : "the beginning", path);
    m->last = *p;
    m->last_path = path;
    return true;
}

/* Copies a row. The header is written together with the first row, so that a merge that is refused at once writes nothing. */
static bool copy_row(struct merge *m, const struct piece *part, size_t n, struct err *err)
{
    struct row_place p;
    bool is_first = m->last.number == 0;
    if (!row_place(&p, m->line))
        return fail(err, "%s: a line that is not a row", part->path);
    if (!follows(m, &p, part->path, err))
        return false;
    if (is_first && m->header)
        fputs(m->header, m->f);
    return fwrite(m->line, 1, n, m->f) == n || fail(err, "%s: cannot be written completely: %s", m->path, strerror(errno));
}

static bool copy_rows(struct merge *m, const struct piece *part, FILE *f, struct err *err)
{
    size_t n;
    bool good = true, at_header = m->header != NULL;
    while (good && whole_line(&m->line, &n, f)) {
        good = at_header || copy_row(m, part, n, err);
        at_header = false;
    }
    return good && (n == 0 || fail(err, "%s: its last row is cut short; finish it with --resume", part->path));
}

static bool join_parts(struct merge *m, const struct piece *parts, size_t n, struct err *err)
{
    for (size_t i = 0; i < n && parts[i].has_rows; i++) {
        FILE *f = open_regular(NULL, parts[i].path, err);
        bool good = f && copy_rows(m, &parts[i], f, err);
        if (f)
            fclose(f);
        if (!good)
            return false;
    }
    if (!m->last.of)
        return fail(err, "%s: no part has a row", parts[0].path);
    if (m->last.number < m->last.of)
        return fail(err, "configurations %" PRIu64 " to %" PRIu64 " are missing after %s", m->last.number + 1, m->last.of, m->last_path);
    return true;
}

bool parts_merge(FILE *f, const char *path, const char *const *paths, size_t n, struct arena *a, struct err *err)
{
    struct merge m = { .f = f, .path = path };
    struct piece *parts = ARENA_ARRAY(a, struct piece, n);
    for (size_t i = 0; i < n; i++)
        parts[i].path = paths[i];
    bool good = (files_are_distinct(paths, paths, n, err) || fail_at(err, "merge")) && look_at_parts(parts, &m, n, a, err);
    if (good) {
        SORT_BY(parts, n, FALLING(struct piece, has_rows), RISING(struct piece, place.number), RISING(struct piece, path));
        good = join_parts(&m, parts, n, err);
    }
    free(m.line);
    return good;
}
