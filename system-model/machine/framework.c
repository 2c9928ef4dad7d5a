/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * framework.c - finds the sheet of a framework by name and release and reads it; reads the sheet of a software release.
 *
 * A row "engine" names another sheet that is read first: PyTorch and PaddlePaddle run PopART's engine. Every other key must be on the sheet or
 * on its engine's, so that no cost is zero only because nobody stated it.
 */
#include "system-model/machine/framework.h"

#include <ctype.h>

static const char *const update_orders[] = { "series", "side-by-side", NULL };
static const char *const torus_exchange_names[] = { "link-by-link", "full-routes", NULL };
static const char *const exchange_targets[] = { "cycles", "balanced", NULL };
static const char *const host_datas[] = { "ahead", "in-call", NULL };

#define AT(kind, member) FIELD_AT(kind, struct framework, program.member)
#define KIND(member, is, of) .name = #member, .unit = of, .type = AT(is, member), .required = true
#define COUNT(member, unit, min, max, help) { #member, unit, AT(U64, member), min, max, NULL, true, help }
#define NUMBER(member, unit, min, max, help) { #member, unit, AT(F64, member), min, max, NULL, true, help }
#define FLAG(member, what) { KIND(member, BOOL, "flag"), .help = what }
#define CHOICE(member, names, what) { KIND(member, CHOICE, "name"), .choices = names, .help = what }
const struct field framework_fields[] = {
    { .name = "schedules", .unit = "names", .type = FIELD_AT(TEXT, struct framework, schedules), .required = true,
      .help = "pipeline schedules that it can run, such as grouped,sequential" },
    CHOICE(exchange_target, exchange_targets, "what the compiler optimises exchanges for (internalExchangeOptimisationTarget): cycles, or balanced, where code counts too"),
    FLAG(calls_by_value, "a call of code that layers share copies its inputs in and its results out"),
    FLAG(operations_by_value, "each convolution, product, norm and recurrent layer is a function, which copies its operands in and its results out"),
    FLAG(loops_by_value, "a loop on the device copies all that it carries out of its body and back in each round (podbench kernel)"),
    FLAG(log_softmax, "a loss of classes takes the likelihood of log-probabilities, whose gradient makes the softmax again; no: it is made once, of shares"),
    FLAG(even_slices, "slices of a product's result, such as those of a loss, lie evenly on all tiles; no: on the tiles that made them, by the plan of the product"),
    FLAG(keeps_statistics, "statistics of batch norms over several replicas are kept for recomputation on one IPU or in a sequential pipeline; no: they are reduced again"),
    CHOICE(torus_exchanges, torus_exchange_names, "exchanges of a ring's step on a torus, with replicas wider than two IPUs: each a link further, or over full routes, one direction after the other"),
    COUNT(accumulation_multiple, "stages", 0, 64, "grouped, interleaved: gradient accumulation must be a multiple of this times the stages; 0: any"),
    FLAG(phases, "programs can run a model in phases, with its layers cut over IPUs and its weights off the chip: fit and search then offer it last"),
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
    FLAG(merge_over_ipus, "merged all-reduces take the tensors of all IPUs side by side; no: each IPU's are merged by themselves, one IPU after the other"),
    FLAG(remote_together, "streamed state of several IPUs moves at the same time"),
    COUNT(remote_alone_ipus, "IPUs", 0, 64, "first IPUs whose streamed state moves by itself all the same"),
    NUMBER(steps_per_call, "steps", 0, 1e9, "weight updates in one call, unless hosts.steps_per_call says otherwise; 0: the run is one call"),
    COUNT(session_calls, "calls", 0, 100, "calls of the framework's session, one after the other, in each call; 1 where a published rate is that of the first alone; 0: a bare engine"),
    FLAG(calls_overlap, "inference: a call is made before the one before it has returned, so that only its latency counts"),
    NUMBER(launch_s, "s", 0, 10, "an engine is started and says that it is done, in each call; not for inference whose calls overlap"),
    NUMBER(dispatch_s, "s", 0, 10, "the framework's own part of a session's call: arguments are bound and checked, outputs made"),
    NUMBER(unexplained_parameters, "1", 0, 1e15, "a training call of a model with this many parameters or more takes unexplained_call_s in addition to all that sources name; 0: no call does"),
    NUMBER(stream_copy_s, "s", 0, 1, "a stream copy that waits for the host, besides its bytes: the first input and the results of a call; with a prefetch_depth of 1 all of them"),
    NUMBER(stream_buffer_bytes, "B", 0, 1e15, "the largest tensor that a stream carries for a micro-batch, in or out; 0: no limit"),
    NUMBER(callback_bytes_per_s, "B/s", 1e3, 1e15, "rate at which one thread of a process copies input to the streams of all its replicas"),
    NUMBER(result_bytes_per_s, "B/s", 1e3, 1e15, "rate at which returned results are copied into fresh memory"),
    NUMBER(conversion_s_per_byte, "s/B", 0, 1, "inference: input that the call copies to another layout or type, such as images that are not contiguous; 0: none"),
    NUMBER(weight_reads, "reads", 0, 1000, "times that a call reads all weights back, as a program does that touches a parameter"),
    CHOICE(host_data, host_datas, "input is prepared ahead by other threads, or in the call"),
    NUMBER(host_data_bytes_per_s, "B/s", 1e3, 1e15, "rate at which one process prepares input"),
    NUMBER(uploads_per_call, "uploads", 0, 1000, "uploads of optimizer values before each call; less than 1 where the learning rate changes less often"),
    NUMBER(upload_s, "s", 0, 10, "time of one such upload"),
    NUMBER(number_s, "s", 0, 1, "one core prepares a whole number of a row, such as a token, besides hosts.sample_s"),
    FLAG(returns_results, "inference: what the model computes comes back; no: a few numbers, such as the loss of an evaluation"),
    COUNT(fetch_threads, "threads", 0, 10000, "threads of a process; each serves one replica's fetch of a micro-batch at a time; 0: one per replica"),
    COUNT(prefetch_depth, "micro-batches", 1, 10000, "micro-batches that the host keeps ready for each replica, the next one at least; from 2 on, no replica waits for another's fetch"),
    FLAG(outputs_each_micro_batch, "in training, results of every micro-batch go to the host, in a host exchange of their own, as in inference they always do"),
    FLAG(streams_apart, "a host exchange for each operation that is the first to read an input, and for each result, unless programs are pipelined or streams buffered; no: one for all inputs, one for all results"),
    COUNT(output_reductions, "reductions", 0, 1000, "values averaged over the host processes in each call; 0 where that is not timed"),
    COUNT(evaluation_loads, "loads", 0, 100, "engines loaded onto the IPUs for each evaluation inside training; 0: one program trains and evaluates"),
    NUMBER(engine_load_s, "s", 0, 1e4, "loading an engine, besides its IPUs"),
    NUMBER(engine_load_s_per_ipu, "s", 0, 1e4, "loading an engine, for each IPU"),
    NUMBER(first_compile_s, "s", 0, 1e5, "compiling the program of the first evaluation inside training; 0 where it is compiled before"),
    NUMBER(evaluation_fixed_s, "s", 0, 1e4, "start, metric and end of an evaluation loop"),
    NUMBER(checkpoint_s_per_parameter, "s", 0, 1, "a checkpoint of training.save_every, for each parameter: weights and moments read back and written"),
};
const size_t n_framework_fields = sizeof framework_fields / sizeof *framework_fields;
enum { N_FRAMEWORK_FIELDS = sizeof framework_fields / sizeof *framework_fields };
#undef AT
#undef KIND
#undef COUNT
#undef NUMBER
#undef FLAG
#undef CHOICE

/* ---- which sheet ------------------------------------------------------------------------ */

/* The dash before the release in a file called NAME-RELEASE; NULL without one. */
static const char *release_dash(const char *file)
{
    const char *dash = strrchr(file, '-');
    return dash && is_release(dash + 1) ? dash : NULL;
}

/* True if `framework` begins with the name in a file called NAME-RELEASE. Blanks in it count as dashes. */
static bool framework_has_name(const char *file, size_t n_name, const char *framework)
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
        const char *dash = release_dash(files[i]);
        const char *name = dash ? arena_printf(a, "%.*s", (int)(dash - files[i]), files[i]) : NULL;
        if (name && (!n_names || !text_is(names[n_names - 1], name)))
            names[n_names++] = name;
    }
    return names_list(names, n_names, a);
}

/* The newest release up to sdk of the longest name that `framework` begins with. */
static bool framework_find_sheet(const char **out, const char *framework, const char *sdk, const char *dir, struct arena *a, struct err *err)
{
    char **files;
    size_t n, longest = 0;
    const char *oldest = NULL;
    *out = NULL;
    if (!list_folder(&files, &n, dir, ".csv", a, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        const char *dash = release_dash(files[i]);
        size_t n_name = dash ? (size_t)(dash - files[i]) : 0;
        if (!n_name || strlen(framework) < n_name || n_name < longest || !framework_has_name(files[i], n_name, framework))
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
        return fail(err, "recipe.framework: '%.60s' has no sheet NAME-RELEASE.csv in %s; known: %s", framework, dir, known_frameworks(files, n, a));
    if (!*out)
        return fail(err, "recipe.sdk: %.40s is older than the oldest sheet of %.60s, release %s; write a sheet in %s, or name a newer release",
                    sdk, framework, oldest, dir);
    return true;
}

/* ---- reading ------------------------------------------------------------------------------ */

struct framework_reader { struct framework *out; const char *dir; const struct sheet_overrides *changes; struct arena *a; bool seen[N_FRAMEWORK_FIELDS]; };

static bool framework_set_row(struct framework_reader *r, const struct sheet *s, const struct sheet_row *row, struct err *err)
{
    const struct field *f = field_find(framework_fields, N_FRAMEWORK_FIELDS, row->key);
    if (!f)
        return fail(err, "%s: unknown key; known: engine, %s", sheet_row_place(s, row, r->a),
                    names_list(TEXTS_OF(framework_fields, N_FRAMEWORK_FIELDS, struct field, name, r->a), N_FRAMEWORK_FIELDS, r->a));
    r->seen[f - framework_fields] = true;
    return sheet_row_set(r->out, f, s, row, r->a, err);
}

static bool framework_read_sheet(struct framework_reader *r, const char *name, int depth, struct err *err)
{
    struct sheet s;
    if (!sheet_read(&s, r->changes, arena_printf(r->a, "%s/%s.csv", r->dir, name), r->a, err))
        return false;
    sheet_apply_overrides(&s, r->changes, r->a);
    r->out->sheets[r->out->n_sheets++] = s;
    for (size_t i = 0; i < s.n_rows; i++) {
        const struct sheet_row *row = &s.rows[i];
        if (!text_is(row->key, "engine"))
            continue;
        if (depth > 1)
            return fail(err, "%s:%u: engine: this sheet is already the engine of an engine, and can have none itself; name %.60s in the first sheet", s.path, row->line, row->value);
        if (!framework_read_sheet(r, row->value, depth + 1, err))
            return false;
    }
    for (size_t i = 0; i < s.n_rows; i++)
        if (!text_is(s.rows[i].key, "engine") && !framework_set_row(r, &s, &s.rows[i], err))
            return false;
    return true;
}

bool framework_load(struct framework *out, const char *name, const char *sdk, const char *specs_dir, const struct sheet_overrides *changes,
                    struct arena *a, struct err *err)
{
    struct framework_reader r = { .out = out, .dir = arena_printf(a, "%s/frameworks", specs_dir), .changes = changes, .a = a };
    *out = (struct framework){ .name = "default" };
    if (name && !framework_find_sheet(&out->name, name, sdk, r.dir, a, err))
        return false;
    if (!framework_read_sheet(&r, out->name, 0, err))
        return false;
    for (size_t i = 0; i < N_FRAMEWORK_FIELDS; i++)
        if (!r.seen[i])
            return fail(err, "%s/%s.csv: %s is missing: %s", r.dir, out->name, framework_fields[i].name, framework_fields[i].help);
    return true;
}

const char *framework_pipeline(const struct framework *f, struct arena *a)
{
    const char *list = f->schedules;
    return framework_can(f, "grouped") ? "grouped" : text_item(&list, ',', a);
}

bool framework_can(const struct framework *f, const char *schedule)
{
    size_t n = strlen(schedule);
    for (const char *at = f->schedules; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, schedule, n) == 0 && (at[n] == ',' || at[n] == '\0'))
            return true;
    return false;
}

/* A sum of doubles may lie a rounding error below a whole number. */
static double whole_calls(double x) { return floor(x + 1e-9); }

double steps_in_whole_calls(double n_steps, double steps_per_call)
{
    return steps_per_call > 0 && steps_per_call < n_steps ? -whole_calls(-n_steps / steps_per_call) * steps_per_call : n_steps;
}

double steps_of_epoch(double k, double n, double steps_per_epoch, double steps_per_call)
{
    double all = steps_in_whole_calls(n * steps_per_epoch, steps_per_call);
    if (!(steps_per_call > 0 && steps_per_call < n * steps_per_epoch))
        return steps_per_epoch;
    double before = whole_calls((k - 1) * steps_per_epoch / steps_per_call) * steps_per_call;
    return (k == n ? all : whole_calls(k * steps_per_epoch / steps_per_call) * steps_per_call) - before;
}

/* ---- releases of the software stack ------------------------------------------------------ */

#define F(member, help) { #member, "s", FIELD_AT(F64, struct sdk, member), 0, 1e5, NULL, true, help }
static const struct field sdk_fields[] = {
    F(checkpoint_start_s, "start of the clock to the first step, from a given checkpoint"),
    F(eval_switch_s, "end of training to the first evaluation"),
    F(evaluated_checkpoint_s_per_parameter, "writing a checkpoint, and reading it back for its evaluation at the end, for each parameter"),
};
enum { N_SDK_FIELDS = sizeof sdk_fields / sizeof *sdk_fields };
#undef F

static bool sdk_set_row(void *out, const struct sheet *s, const struct sheet_row *row, struct arena *a, struct err *err)
{
    const struct field *f = field_find(sdk_fields, N_SDK_FIELDS, row->key);
    if (!f)
        return fail(err, "%s: unknown key; known: checkpoint_start_s, eval_switch_s, evaluated_checkpoint_s_per_parameter", sheet_row_place(s, row, a));
    return sheet_row_set(out, f, s, row, a, err);
}

int compare_releases(const char *a, const char *b)
{
    while (*a || *b) {
        char *a_end, *b_end;
        unsigned long x = strtoul(a, &a_end, 10), y = strtoul(b, &b_end, 10);
        if (x != y)
            return x < y ? -1 : 1;
        a = a_end + (*a_end == '.');
        b = b_end + (*b_end == '.');
        if ((*a && !isdigit((unsigned char)*a)) || (*b && !isdigit((unsigned char)*b)))
            break;
    }
    return 0;
}

bool is_release(const char *text)
{
    do {
        size_t n = strspn(text, "0123456789");
        if (!n)
            return false;
        text += n;
    } while (*text == '.' && *++text);
    if (text[-1] == '.' || !*text)
        return text[-1] != '.';
    return (*text == '+' || *text == '-') && text[strcspn(text, "/")] == '\0';      /* the release becomes the name of a file */
}

static bool sdk_find_others(struct sdk *out, const char *folder, struct arena *a, struct err *err)
{
    char **names;
    size_t n;
    if (is_missing(folder))
        return true;
    if (!list_folder(&names, &n, folder, ".csv", a, err))
        return false;
    out->others = names_list((const char *const *)names, n, a);
    out->is_newest = out->name != NULL;
    for (size_t i = 0; i < n && out->is_newest; i++)
        out->is_newest = compare_releases(names[i], out->name) < 0;
    return true;
}

bool sdk_load(struct sdk *out, const char *name, const char *specs_dir, const struct sheet_overrides *changes, struct arena *a, struct err *err)
{
    const char *folder = arena_printf(a, "%s/sdk", specs_dir);
    *out = (struct sdk){ .name = name };
    if (name && !sheet_read_rows(&out->sheet, changes, arena_printf(a, "%s/%s.csv", folder, name), sdk_set_row, out, a, err))
        return false;
    return out->sheet.path || sdk_find_others(out, folder, a, err);
}
