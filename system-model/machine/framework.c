/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * framework.c - finds a framework's sheet by name and release, and reads it.
 *
 * A row "engine" names another sheet that holds first: PyTorch and PaddlePaddle run PopART's engine. Every other
 * key must stand in a sheet or in its engine's, so that no cost is free because nobody gave it.
 */
#include "system-model/machine/framework.h"
#include "system-model/machine/machine.h"
#include "system-model/machine/sdk.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static const char *const update_orders[] = { "series", "side-by-side", NULL };
static const char *const host_datas[] = { "ahead", "in-call", NULL };

#define KIND(member, is, of) .name = #member, .unit = of, .type = is, .offset = offsetof(struct framework, member), .required = true
#define TEXT(member, of, what) { KIND(member, FIELD_TEXT, of), .help = what }
#define COUNT(member, unit, min, max, help) { #member, unit, FIELD_U64, offsetof(struct framework, member), min, max, NULL, true, help }
#define NUMBER(member, unit, min, max, help) { #member, unit, FIELD_F64, offsetof(struct framework, member), min, max, NULL, true, help }
#define FLAG(member, what) { KIND(member, FIELD_BOOL, "flag"), .help = what }
#define CHOICE(member, names, what) { KIND(member, FIELD_CHOICE, "name"), .choices = names, .help = what }
const struct field framework_fields[] = {
    TEXT(schedules, "names", "pipeline schedules that it can run, such as grouped,sequential"),
    COUNT(accumulation_multiple, "stages", 0, 64, "grouped, interleaved: gradient accumulation must be a multiple of this times the stages; 0: any"),
    CHOICE(update_order, update_orders, "order in which a replica's IPUs update, where collectives or streamed state hold them together"),
    NUMBER(merge_buffer_bytes, "B", 0, 1e15,
           "all-reduces of tensors are merged up to this size (max_cross_replica_sum_buffer_size; PopART merges any size, or none); 0: one per tensor"),
    NUMBER(merge_norm_bytes, "B", 0, 1e15,
           "norms of tensors are reduced together up to this size of results (max_reduce_many_buffer_size); 0: one at a time"),
    COUNT(sharded_elements, "elements", 0, 1e12, "with rts, tensors smaller than this are not sharded"),
    COUNT(offloaded_elements, "elements", 0, 1e12, "with streamed state, moments of tensors smaller than this stay on the chip"),
    FLAG(rearrange_before_reduce, "a gradient is copied to another layout before its reduce-scatter, its weight back"),
    FLAG(clip_norm, "gradients are clipped by their global norm"),
    NUMBER(moment_bytes, "B", 1, 8, "one moment of one parameter, unless optimizer.state_bytes_per_param says otherwise"),
    FLAG(remote_together, "streamed state of equal tensors of several IPUs moves at the same time"),
    COUNT(remote_alone_ipus, "IPUs", 0, 64, "first IPUs whose streamed state moves by itself all the same"),
    NUMBER(steps_per_call, "steps", 0, 1e9, "weight updates in one call, unless hosts.steps_per_call says otherwise; 0: the run is one call"),
    COUNT(session_calls, "calls", 0, 100, "session calls, one after the other, in each call; 1 where a published rate is that of the first alone"),
    CHOICE(host_data, host_datas, "input is prepared ahead by other threads, or in the call"),
    NUMBER(host_data_bytes_per_s, "B/s", 1e3, 1e15, "rate at which one process prepares input"),
    NUMBER(uploads_per_call, "uploads", 0, 1000, "uploads of optimizer values before each call; less than 1 where the learning rate changes less often"),
    NUMBER(upload_s, "s", 0, 10, "time of one such upload"),
    COUNT(fetch_threads, "threads", 0, 10000, "threads of a process; each serves one replica's fetch of a micro-batch at a time; 0: one per replica"),
    COUNT(prefetch_depth, "micro-batches", 1, 10000, "micro-batches that the host keeps ready for each replica, the next one at least; from 2 on, no replica waits for another's fetch"),
    FLAG(outputs_each_micro_batch, "results of every micro-batch go to the host, in a host exchange of their own"),
    COUNT(output_reductions, "reductions", 0, 1000, "values averaged over the host processes in each call; 0 where that is not timed"),
};
const size_t n_framework_fields = sizeof framework_fields / sizeof *framework_fields;
enum { N_FIELDS = sizeof framework_fields / sizeof *framework_fields };
#undef KIND
#undef TEXT
#undef COUNT
#undef NUMBER
#undef FLAG
#undef CHOICE

/* ---- which sheet ------------------------------------------------------------------------ */

/* A sheet's file is NAME-RELEASE; the name has to be how `framework` begins, blanks as dashes, up to a dash or point. */
static bool sheet_fits(const char *file, size_t n_name, const char *framework)
{
    for (size_t i = 0; i < n_name; i++) {
        char c = framework[i] == ' ' ? '-' : (char)tolower((unsigned char)framework[i]);
        if (c != file[i])
            return false;
    }
    return !isalnum((unsigned char)framework[n_name]);
}

static const char *known_frameworks(char **files, size_t n, struct arena *a)
{
    const char **names = ARENA_ARRAY(a, const char *, n);
    size_t n_names = 0;
    for (size_t i = 0; i < n; i++) {
        const char *dash = strrchr(files[i], '-');
        const char *name = dash ? arena_printf(a, "%.*s", (int)(dash - files[i]), files[i]) : NULL;
        if (name && (!n_names || !text_is(names[n_names - 1], name)))
            names[n_names++] = name;
    }
    return names_list(names, n_names, a);
}

/* The newest release up to sdk, of the longest name that fits. */
static bool find_sheet(const char **out, const char *framework, const char *sdk, const char *dir, struct arena *a, struct err *err)
{
    char **files;
    size_t n, longest = 0;
    const char *oldest = NULL;
    *out = NULL;
    if (!list_folder(&files, &n, dir, ".csv", a, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        const char *dash = strrchr(files[i], '-');
        size_t n_name = dash ? (size_t)(dash - files[i]) : 0;
        if (!n_name || strlen(framework) < n_name || n_name < longest || !sheet_fits(files[i], n_name, framework))
            continue;
        if (n_name > longest)
            *out = oldest = NULL;
        longest = n_name;
        if (!oldest || compare_releases(dash + 1, oldest) < 0)
            oldest = dash + 1;
        bool in_time = !sdk || compare_releases(dash + 1, sdk) <= 0;
        if (in_time && (!*out || compare_releases(dash + 1, strrchr(*out, '-') + 1) > 0))
            *out = files[i];
    }
    if (!longest)
        return fail(err, "recipe.framework: '%.60s' has no sheet in %s; known: %s", framework, dir, known_frameworks(files, n, a));
    if (!*out)
        return fail(err, "recipe.sdk: %.40s is older than the oldest sheet of %.60s, release %s; write a sheet in %s, or name a newer release",
                    sdk, framework, oldest, dir);
    return true;
}

/* ---- reading ------------------------------------------------------------------------------ */

struct reader { struct framework *out; const char *dir; const struct what_ifs *changes; struct arena *a; bool seen[N_FIELDS]; };

static bool set_row(struct reader *r, const struct sheet *s, const struct sheet_row *row, struct err *err)
{
    const char *where = sheet_row_place(s, row, r->a);
    const struct field *f = field_find(framework_fields, N_FIELDS, row->key);
    const char *names[N_FIELDS];
    for (size_t i = 0; i < N_FIELDS; i++)
        names[i] = framework_fields[i].name;
    if (!f)
        return fail(err, "%s: unknown key; known: engine, %s", where, names_list(names, N_FIELDS, r->a));
    if (!text_is(row->unit, f->unit))
        return fail(err, "%s: is in '%.40s', want '%s'", where, row->unit, f->unit);
    r->seen[f - framework_fields] = true;
    return field_set(r->out, f, row->value, where, err);
}

static bool read_sheet(struct reader *r, const char *name, int depth, struct err *err)
{
    struct sheet s;
    if (!what_ifs_sheet(&s, r->changes, arena_printf(r->a, "%s/%s.csv", r->dir, name), r->a, err))
        return false;
    what_ifs_replace(&s, r->changes, r->a);
    r->out->sheets[r->out->n_sheets++] = s;
    for (size_t i = 0; i < s.n_rows; i++) {
        const struct sheet_row *row = &s.rows[i];
        if (!text_is(row->key, "engine"))
            continue;
        if (depth > 0)
            return fail(err, "%s:%u: engine: the sheet is an engine itself; name %.60s in the sheet that started here", s.path, row->line, row->value);
        if (!read_sheet(r, row->value, depth + 1, err))
            return false;
    }
    for (size_t i = 0; i < s.n_rows; i++)
        if (!text_is(s.rows[i].key, "engine") && !set_row(r, &s, &s.rows[i], err))
            return false;
    return true;
}

bool framework_load(struct framework *out, const char *name, const char *sdk, const char *specs_dir, const struct what_ifs *changes,
                    struct arena *a, struct err *err)
{
    struct reader r = { .out = out, .dir = arena_printf(a, "%s/frameworks", specs_dir), .changes = changes, .a = a };
    *out = (struct framework){ .name = "default" };
    if (name && !find_sheet(&out->name, name, sdk, r.dir, a, err))
        return false;
    if (!read_sheet(&r, out->name, 0, err))
        return false;
    for (size_t i = 0; i < N_FIELDS; i++)
        if (!r.seen[i])
            return fail(err, "%s/%s.csv: %s is missing: %s", r.dir, out->name, framework_fields[i].name, framework_fields[i].help);
    return true;
}

bool framework_can(const struct framework *f, const char *schedule)
{
    size_t n = strlen(schedule);
    for (const char *at = f->schedules; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, schedule, n) == 0 && (at[n] == ',' || at[n] == '\0'))
            return true;
    return false;
}

/* A sum of doubles may be a hair below a whole number. */
static double whole(double x) { return floor(x + 1e-9); }

double steps_in_whole_calls(double n_steps, double steps_per_call)
{
    return steps_per_call > 0 && steps_per_call < n_steps ? -whole(-n_steps / steps_per_call) * steps_per_call : n_steps;
}

double steps_of_epoch(double k, double n, double steps_per_epoch, double steps_per_call)
{
    double all = steps_in_whole_calls(n * steps_per_epoch, steps_per_call);
    if (!(steps_per_call > 0 && steps_per_call < n * steps_per_epoch))
        return steps_per_epoch;
    double before = whole((k - 1) * steps_per_epoch / steps_per_call) * steps_per_call;
    return (k == n ? all : whole(k * steps_per_epoch / steps_per_call) * steps_per_call) - before;
}
