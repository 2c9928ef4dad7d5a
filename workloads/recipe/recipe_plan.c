/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_plan.c - turns a recipe into the planner's options: parses lists, finds the optimizer, reads faults.
 */
#include "system-model/plan/plan.h"
#include "workloads/recipe/recipe_internal.h"

/* The head of a message: "path:12: key", or the override that set the key. */
static const char *where(const struct recipe *r, const char *section, const char *key, struct arena *a)
{
    const struct ini_entry *e = recipe_entry(r, arena_printf(a, "%s.%s", section, key));
    return e ? recipe_entry_place(r, e, a) : arena_printf(a, "%s: %s", r->path, key);
}

static bool parse_u32(const char *text, uint32_t max, uint32_t *out)
{
    uint64_t n;
    if (!parse_u64(text, &n) || n > max)
        return false;
    *out = (uint32_t)n;
    return true;
}

/* ---- tensor parallelism ------------------------------------------------------------------------ */

static bool read_tensor_parallel(struct plan_request *out, const struct recipe *r, struct arena *a, struct err *err)
{
    uint32_t *axes = out->tensor_parallel;
    const char *text = r->model.tensor_parallel;
    if (!tensor_axes(axes, text))
        return fail(err, "%s: '%.40s' is not a number of IPUs; want 1 to %d, or two of them for two axes, as in 16 or 8x8",
                    where(r, "parallel", "tensor_parallel", a), text, MOST_AXIS_IPUS);
    if (r->ipus_per_replica % (axes[0] * axes[1]))
        return fail(err, "%s: layers are cut over %u IPUs, but a replica has %u; want a multiple in parallel.ipus_per_replica",
                    where(r, "parallel", "tensor_parallel", a), axes[0] * axes[1], (unsigned)r->ipus_per_replica);
    if (r->model.attention_tensor_parallel && axes[0] % r->model.attention_tensor_parallel)
        return fail(err, "%s: %u parts do not divide the %u of tensor_parallel; want a divisor", where(r, "parallel", "attention_tensor_parallel", a),
                    (unsigned)r->model.attention_tensor_parallel, axes[0]);
    return true;
}

/* ---- stages ----------------------------------------------------------------------------------- */

enum { MOST_BLOCKS = 10000 };

/* key: layers_per_ipu, or phases. */
static bool read_stage(struct stage_size *out, char *item, const char *key, const struct recipe *r, struct arena *a, struct err *err)
{
    char *slash = strchr(item, '/');
    const char *second = slash ? slash + 1 : item;
    if (slash)
        *slash = '\0';
    if (text_is(item, "-1") && !slash) {
        *out = (struct stage_size){ { STAGE_REST, STAGE_REST } };
        return true;
    }
    if (parse_u32(item, MOST_BLOCKS, &out->part_count[0]) && parse_u32(second, MOST_BLOCKS, &out->part_count[1]))
        return true;
    if (slash)
        *slash = '/';
    return fail(err, "%s: '%.40s' is not the size of a stage; want blocks, as in 3,7,7,7,0, or halves, as in 7/6,6/7",
                where(r, "parallel", key, a), item);
}

static bool read_sizes(struct plan_request *out, const char *list, const char *key, const struct recipe *r, struct arena *a, struct err *err)
{
    char *item;
    uint32_t n_rest = 0;
    while ((item = text_item(&list, ',', a))) {
        if (out->n_stages == MAX_STAGES)
            return fail(err, "%s: has more than %d stages", where(r, "parallel", key, a), MAX_STAGES);
        n_rest += text_is(item, "-1");
        if (!read_stage(&out->stage_sizes[out->n_stages++], item, key, r, a, err))
            return false;
    }
    return n_rest < 2 || fail(err, "%s: has -1 in %u places; one stage takes what the others leave", where(r, "parallel", key, a), n_rest);
}

/* A list has the phases one by one; a single number makes them equal. */
static bool read_phases(struct plan_request *out, const struct recipe *r, struct arena *a, struct err *err)
{
    uint32_t width = plan_tensor_replicas(out);
    if (!out->weights)
        return !r->phases || fail(err, "%s: phases are for weights that lie off the chip; set parallel.weights = streaming", where(r, "parallel", "phases", a));
    if (r->layers_per_ipu && !text_is(r->layers_per_ipu, "auto"))
        return fail(err, "%s: phases follow each other on the same IPUs; with parallel.weights = streaming, give parallel.phases instead",
                    where(r, "parallel", "layers_per_ipu", a));
    if (r->ipus_per_replica != width)
        return fail(err, "%s: phases follow each other on the same IPUs, so a replica of %u IPUs needs parallel.tensor_parallel = %u; it is %u",
                    where(r, "parallel", "weights", a), (unsigned)r->ipus_per_replica, (unsigned)r->ipus_per_replica, width);
    if (r->phases && strchr(r->phases, ','))
        return read_sizes(out, r->phases, "phases", r, a, err);
    out->phase_blocks = 1;
    return !r->phases || (parse_u32(r->phases, MOST_BLOCKS, &out->phase_blocks) && out->phase_blocks)
        || fail(err, "%s: '%.40s' is not a number of blocks; want 1 or more, or a list as in 0,2,2,0", where(r, "parallel", "phases", a), r->phases);
}

static bool read_stages(struct plan_request *out, const struct recipe *r, struct arena *a, struct err *err)
{
    if (out->weights || text_is(r->layers_per_ipu, "auto"))
        return true;
    if (!read_sizes(out, r->layers_per_ipu, "layers_per_ipu", r, a, err))
        return false;
    if (out->n_stages && out->n_stages < out->ipus_per_replica)
        return fail(err, "%s: has %u stage%s for %u IPUs a replica; want at least one an IPU", where(r, "parallel", "layers_per_ipu", a), out->n_stages, plural(out->n_stages), out->ipus_per_replica);
    return true;
}

static bool read_available_memory(struct plan_request *out, const struct recipe *r, struct arena *a, struct err *err)
{
    const char *list = r->available_memory;
    char *item;
    while ((item = text_item(&list, ',', a))) {
        double share;
        if (!parse_f64(item, &share) || !(share > 0) || share > 1)
            return fail(err, "%s: '%.40s' is not a share; want more than 0, at most 1, as in 0.25", where(r, "parallel", "available_memory", a), item);
        if (out->n_available_memory == MAX_STAGES)
            return fail(err, "%s: has more than %d shares", where(r, "parallel", "available_memory", a), MAX_STAGES);
        out->available_memory[out->n_available_memory++] = share;
    }
    return true;
}

static bool read_checkpoints(struct plan_request *out, const struct recipe *r, struct arena *a, struct err *err)
{
    const char *list = r->recompute_checkpoints;
    char *item;
    while ((item = text_item(&list, ',', a))) {
        if (!*item)
            return fail(err, "%s: an empty name; want layers, as in stage1/unit1,stage2/unit1", where(r, "parallel", "recompute_checkpoints", a));
        if (out->n_checkpoints == MAX_CHECKPOINTS)
            return fail(err, "%s: has more than %d layers", where(r, "parallel", "recompute_checkpoints", a), MAX_CHECKPOINTS);
        out->checkpoints[out->n_checkpoints++] = item;
    }
    if (r->recompute == RECOMPUTE_CHECKPOINTS && !out->n_checkpoints)
        return fail(err, "%s: recompute_checkpoints is missing in [parallel]: recompute = checkpoints needs layers", r->path);
    return true;
}

static bool read_optimizer(struct plan_request *out, const struct recipe *r, struct arena *a, struct err *err)
{
    const struct optimizer_rule *rule = optimizer_find(r->optimizer_name);
    const char *names[N_OPTIMIZERS];
    for (size_t i = 0; i < N_OPTIMIZERS; i++)
        names[i] = optimizer_rule((enum vector_work)(N_GRADIENT_WORKS + i))->name;
    if (r->optimizer_name && !rule)
        return fail(err, "%s: '%.40s' is not known; want one of: %s", where(r, "optimizer", "name", a), r->optimizer_name,
                    names_list(names, N_OPTIMIZERS, a));
    if (!rule || !out->training)
        return true;
    out->optimizer = rule->plan;
    if (r->model.compute == COMPUTE_FP32)
        out->optimizer.state_bytes_per_param *= 2;      /* moments have the weights' type, unless the framework says otherwise later */
    if (r->state_bytes_per_param > 0)
        out->optimizer.state_bytes_per_param = r->state_bytes_per_param;
    return true;
}

/* ---- faults ------------------------------------------------------------------------------------- */

/* Reads an IPU ("3") or, for a pair, two IPUs ("0-1"), and then the value of their fault. False for any other text. */
static bool read_fault(uint32_t ends[2], bool pair, double *value, const struct ini_entry *e, struct arena *a)
{
    char *first = arena_strdup(a, e->value), *number = strchr(first, ' ');
    if (!number)
        return false;
    *number++ = '\0';
    number += strspn(number, " ");
    char *second = strchr(first, '-');
    if (pair != (second != NULL))
        return false;
    if (second)
        *second++ = '\0';
    return parse_f64(number, value) && *value >= 0 && parse_u32(first, UINT32_MAX, &ends[0]) &&
           (!pair || (parse_u32(second, UINT32_MAX, &ends[1]) && ends[0] != ends[1]));
}

static bool add_fault(struct link_fault *links, struct chip_fault *chips, struct flow *flows, struct faults *f,
                      const struct recipe *r, const struct ini_entry *e, struct arena *a, struct err *err)
{
    uint32_t ends[2];
    double value;
    const char *at = where(r, "faults", e->key, a);
    bool chip = e->key[0] == 'c', link = e->key[0] == 'l';
    if (!read_fault(ends, !chip, &value, e, a))
        return fail(err, "%s: '%.40s' is not understood; want %s", at, e->value,
                    chip ? "IPU FACTOR, as in 3 1.2" : link ? "A-B SHARE, as in 0-1 0.5" : "A-B RATE, as in 0-5 4e9");
    if (link && value > 1)
        return fail(err, "%s: %g is outside 0 to 1: the share of its rate that the link keeps", at, value);
    if (chip && value < 1)
        return fail(err, "%s: %g is below 1: how many times longer the chip computes", at, value);
    if (chip)
        chips[f->n_chips++] = (struct chip_fault){ ends[0], value };
    else if (link)
        links[f->n_links++] = (struct link_fault){ ends[0], ends[1], value };
    else
        flows[f->n_background++] = (struct flow){ ends[0], ends[1], value };
    return true;
}

static bool read_faults(struct plan_request *out, const struct recipe *r, struct arena *a, struct err *err)
{
    if (!r->n_faults)
        return true;
    struct faults *f = ARENA_NEW(a, struct faults);
    struct link_fault *links = ARENA_ARRAY(a, struct link_fault, r->n_faults);
    struct chip_fault *chips = ARENA_ARRAY(a, struct chip_fault, r->n_faults);
    struct flow *flows = ARENA_ARRAY(a, struct flow, r->n_faults);
    for (size_t i = 0; i < r->n_faults; i++)
        if (!add_fault(links, chips, flows, f, r, &r->faults[i], a, err))
            return false;
    f->links = links;
    f->chips = chips;
    f->background = flows;
    out->faults = f;
    return true;
}

bool recipe_plan_request(struct plan_request *out, const struct recipe *r, struct arena *a, struct err *err)
{
    *out = (struct plan_request){
        .training = r->mode == MODE_TRAIN,
        .n_replicas = (uint32_t)r->replicas, .ipus_per_replica = (uint32_t)r->ipus_per_replica,
        .grad_accum = (uint32_t)r->gradient_accumulation,
        .schedule = (enum schedule)r->schedule, .recompute = (enum recompute)r->recompute,
        .stash_type = (enum data_type)r->stash_type,
        .state.place = (enum optimizer_place)r->optimizer_state,
        .state.rts = (enum rts)r->rts, .state.rts_domain = (enum rts_domain)r->rts_domain, .outlining = (enum outlining)r->outlining,
        .fully_connected_pass = (enum fully_connected_pass)r->fully_connected_pass,
        .weights = (enum weights_place)r->weights, .phase_io = (enum phase_io)r->phase_io,
        .io_tiles = (uint32_t)r->io_tiles, .host.synthetic_data = r->synthetic_data,
        .partials = (enum partials_type)r->partials,
        .all_reduce_method = (enum collective_method)r->all_reduce,
        .host.n_hosts = (uint32_t)r->host_count, .host.n_instances = (uint32_t)r->instances, .host.requests = (uint32_t)r->requests, .detail.timed_steps = recipe_times_first_steps(r) ? r->timed_steps : 0,
        .host.decode_bytes_per_s = r->host_decode_bytes_per_s,
        .host.cores = (uint32_t)r->host_cores, .host.workers = (uint32_t)r->workers, .host.sample_s = r->sample_s,
    };
    if (!read_tensor_parallel(out, r, a, err))
        return false;
    out->n_replicas *= plan_tensor_replicas(out);
    out->ipus_per_replica /= plan_tensor_replicas(out);
    return read_phases(out, r, a, err) && read_stages(out, r, a, err) && read_available_memory(out, r, a, err) && read_checkpoints(out, r, a, err) &&
           read_optimizer(out, r, a, err) && read_faults(out, r, a, err);
}
