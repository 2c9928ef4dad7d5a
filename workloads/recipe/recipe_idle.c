/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_idle.c - finds the keys of a recipe that change nothing.
 */
#include "system-model/graph/graph.h"
#include "system-model/plan/plan.h"
#include "workloads/recipe/recipe_internal.h"

/* available_memory takes one share for all IPUs or one per IPU of the replica; further ones are not read. */
static bool has_idle_shares(const struct recipe *r)
{
    uint64_t n = 1;
    for (const char *p = r->available_memory; p && *p; p++)
        n += *p == ',';
    return r->available_memory && n > r->ipus_per_replica;
}

/* True for a key of [framework] without effect. All of its keys matter in training, but only those of calls in inference. Some matter only if no
 * other key of the recipe decides the same. The key of a single process that states no output reductions is not idle. */
static bool is_idle_setting(const struct recipe *r, const char *key, const char *value)
{
    bool on_chip = r->optimizer_state == OPTIMIZER_ON_CHIP, in_turns = r->schedule == SCHEDULE_GROUPED || r->schedule == SCHEDULE_INTERLEAVED;
    in_turns = in_turns && (r->ipus_per_replica > 1 || r->layers_per_ipu);      /* see recipe_check_schedule() */
    bool decides_inference = TEXT_IS_ONE_OF(key, "calls_overlap", "launch_s", "dispatch_s", "session_calls", "stream_copy_s", "callback_bytes_per_s",
        "result_bytes_per_s", "stream_buffer_bytes", "returns_results", "conversion_s_per_byte", "number_s", "evaluation_fixed_s", "host_data", "host_data_bytes_per_s", "fetch_threads", "prefetch_depth",
        "exchange_target", "calls_by_value", "operations_by_value", "loops_by_value", "even_slices", "streams_apart", "output_reductions");
    const struct { const char *key; bool idle; } settled[] = {
        { "sharded_elements", r->rts != RTS_YES }, { "offloaded_elements", on_chip }, { "remote_together", on_chip },
        { "remote_alone_ipus", on_chip }, { "moment_bytes", r->state_bytes_per_param > 0 }, { "steps_per_call", r->steps_per_call >= 0 },
        { "update_order", r->ipus_per_replica == 1 }, { "accumulation_multiple", !in_turns },
        { "output_reductions", r->instances <= 1 && !text_is(value, "0") }, { "calls_overlap", r->mode == MODE_TRAIN },
        { "result_bytes_per_s", r->mode == MODE_TRAIN }, { "returns_results", r->mode == MODE_TRAIN }, { "conversion_s_per_byte", r->mode == MODE_TRAIN },
    };
    for (size_t i = 0; i < sizeof settled / sizeof *settled; i++)
        if (text_is(key, settled[i].key) && settled[i].idle)
            return true;
    return r->mode != MODE_TRAIN && !decides_inference;
}

/* The kinds kept in fp32 that the model has no operation of, as a list; "": none. */
static const char *idle_fp32_kinds(const struct recipe *r, const struct graph *g, struct arena *a)
{
    const char *names[N_OP_KINDS];
    size_t n = 0;
    uint64_t kinds;
    op_kinds_read(&kinds, r->model.fp32_operations, NULL);
    for (int kind = 0; kind < N_OP_KINDS; kind++)
        if (kinds & ~graph_kinds(g) & op_kind_bit((enum op_kind)kind))
            names[n++] = op_kind_names[kind];
    return names_list(names, n, a);
}

static bool has_fp32_kinds(const struct recipe *r, const struct graph *g)
{
    uint64_t kinds;
    return r->model.fp32_operations && op_kinds_read(&kinds, r->model.fp32_operations, NULL) && kinds & graph_kinds(g);
}

/* The keys that only the plan can judge. Its sheets tell whether the replicas are on one pod, whether another factor of a product is 0, and
   whether micro-batches wait for their host exchange at all; its graph tells which kinds of operations there are. */
static bool is_idle_in_plan(const struct recipe *r, const struct plan *p, const char *section, const char *key)
{
    const struct plan_request *o = &p->request;
    const struct program *f = &o->program;
    uint64_t in_pod = p->topology->machine->ipus_per_domain / o->ipus_per_replica;
    bool no_codelets = p->graph && TEXT_IS_ONE_OF(key, "operators", "grid_ipus", "grid_tiles") && !(graph_kinds(p->graph) & op_kind_bit(OP_CODELET));
    bool no_calls = o->training ? !(f->steps_per_call > 0) : plan_requests_overlap(o);
    bool nothing_to_prepare = plan_requests_overlap(o) || (p->graph && !(plan_preparing_s(p) > 0)), by_one_core = nothing_to_prepare || f->host_data == HOST_DATA_IN_CALL;
    const struct { const char *section, *key; bool idle; } settled[] = {
        { "hosts", "sample_s", nothing_to_prepare }, { "hosts", "workers", by_one_core }, { "hosts", "cores", by_one_core },
        { "framework", "number_s", nothing_to_prepare }, { "recipe", "operators", no_codelets }, { "parallel", "grid_ipus", no_codelets }, { "parallel", "grid_tiles", no_codelets },
        { "precision", "fp32_operations", !has_fp32_kinds(r, p->graph) },
        { "parallel", "rts_domain", in_pod == 0 || in_pod >= o->n_replicas },
        { "framework", "loops_by_value", o->training || p->n_stages > 1 },
        { "framework", "uploads_per_call", !(f->upload_s > 0 && f->steps_per_call > 0) },
        { "framework", "upload_s", !(f->uploads_per_call > 0 && f->steps_per_call > 0) },
        { "framework", "output_reductions", no_calls },
        { "framework", "outputs_each_micro_batch", p->fetch_cycles == 0 || o->io_tiles },
        { "framework", "streams_apart", p->fetch_cycles == 0 || plan_is_buffered(o) || p->n_stages > 1 },
        { "framework", "fetch_threads", p->fetch_cycles == 0 || o->n_replicas <= o->host.n_instances || f->prefetch_depth > 1 },
        { "framework", "host_data", plan_requests_overlap(o) }, { "framework", "launch_s", no_calls }, { "framework", "session_calls", no_calls },
        { "framework", "dispatch_s", no_calls || !f->session_calls }, { "framework", "stream_copy_s", (no_calls && plan_is_buffered(o)) || o->host.synthetic_data },
        { "framework", "conversion_s_per_byte", no_calls || o->host.synthetic_data }, { "framework", "callback_bytes_per_s", o->host.synthetic_data },
        { "framework", "prefetch_depth", p->fetch_cycles == 0 },
    };
    for (size_t i = 0; i < sizeof settled / sizeof *settled; i++)
        if (text_is(section, settled[i].section) && text_is(key, settled[i].key))
            return settled[i].idle;
    return false;
}

/* Keys that matter for more reasons than the recipe alone shows: IPUs that layers are cut over are replicas with processes, too, and evaluations at
 * the end load their engine on the IPUs of one host. */
static bool matters_in_plan(const struct recipe *r, const struct plan *p, const struct ini_entry *e)
{
    const struct plan_request *o = &p->request;
    if (!text_is(e->section, "hosts"))
        return false;
    bool loads_on_hosts = o->training && r->eval_placement == EVAL_END && o->program.engine_load_s_per_ipu > 0;
    return text_is(e->key, "instances") ? o->n_replicas > 1 : text_is(e->key, "count") && (loads_on_hosts || o->host.cores > 0);
}

bool recipe_key_is_idle(const struct recipe *r, const struct plan *p, const struct ini_entry *e)
{
    const struct recipe_key *k = recipe_key_of(e);
    bool is_told = k && (e->line == 0 || !recipe_key_describes(k));        /* keys that document the source are not listed */
    if (p && matters_in_plan(r, p, e))
        return false;
    return (is_told && k->matters && !k->matters(r)) || (text_is(e->section, "framework") && is_idle_setting(r, e->key, e->value))
        || (p && is_idle_in_plan(r, p, e->section, e->key));
}

const char *recipe_unused_key(const struct ini_entry *e, const struct recipe *r, const struct plan *p, struct arena *a)
{
    if (recipe_key_is_idle(r, p, e))
        return arena_printf(a, "%s.%s", e->section, e->key);
    if (p && text_is(e->key, "fp32_operations") && *idle_fp32_kinds(r, p->graph, a))
        return arena_printf(a, "%s.%s (%s)", e->section, e->key, idle_fp32_kinds(r, p->graph, a));
    if (text_is(e->key, "available_memory") && has_idle_shares(r))
        return arena_printf(a, "%s.%s (past IPU %u)", e->section, e->key, (unsigned)r->ipus_per_replica - 1);
    return NULL;
}

bool recipe_unused_keys(const char ***names, size_t *n, const struct recipe *r, const struct plan *p, struct arena *a)
{
    *names = ARENA_ARRAY(a, const char *, r->n_entries);
    *n = 0;
    for (size_t i = 0; i < r->n_entries; i++) {
        const char *unused = recipe_unused_key(&r->entries[i], r, p, a);
        if (unused)
            (*names)[(*n)++] = unused;
    }
    return *n > 0;
}

size_t recipe_settings(struct recipe_setting **out, const struct recipe *r, struct arena *a)
{
    *out = ARENA_ARRAY(a, struct recipe_setting, n_recipe_keys);
    for (size_t i = 0; i < n_recipe_keys; i++) {
        const struct recipe_key *k = &recipe_keys[i];
        (*out)[i] = (struct recipe_setting){ .section = k->section, .field = &k->field, .matters = !k->matters || k->matters(r) };
    }
    for (const struct ini_entry *e = r->entries; e < r->entries + r->n_entries; e++) {
        const struct recipe_key *k = recipe_key_of(e);
        if (k)
            (*out)[k - recipe_keys].value = e->value, (*out)[k - recipe_keys].line = e->line;
    }
    return n_recipe_keys;
}
