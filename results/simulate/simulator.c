/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulator.c - what is cached between simulations, by which key, and when it is dropped.
 *
 * Each cache is a hash table whose entries own an arena. An entry counts its users: the simulations and the entries of other caches that point
 * to it. Beyond the limit of memory all entries without users are dropped, and later simulations make them again; a sweep within the limit
 * never drops any.
 */
#include "results/simulate/simulator.h"
#include "system-model/graph/graph.h"
#include "system-model/machine/fitted.h"

/* The cache of plans may take another half of the limit. Memory is measured once in this many simulations. */
enum { LIMIT_BYTES = 96 << 20, PLANS_SHARE = 2, SIMULATIONS_PER_LOOK = 16 };

struct cached_sheets { uint64_t id; struct machine machine; struct sdk sdk; struct framework framework; struct fitted_system fitted; struct sheet_overrides changes; };
/* The compiler of a graph for one chip; it and its plans live in the graph's arena. */
struct graph_on_chip { struct chip chip; struct compiler compiler; struct graph_on_chip *next; };
struct cached_graph { struct graph graph; const uint32_t *alike; const struct layer_cost *layers; struct compiler of_graph; struct graph_on_chip *chips; };
struct cached_topology { struct topology topology; struct hash_entry *sheets; };
struct cached_compiler { struct compiler compiler; struct hash_entry *graph, *topology, *splits_of; };

void simulator_open(struct simulator *out, const struct model_paths *paths)
{
    *out = (struct simulator){ .paths = paths, .limit_bytes = LIMIT_BYTES };
    out->plans = &out->own_plans;
}

/* ---- dropping ----------------------------------------------------------------------------------- */

static void release_compiler(struct hash_entry *x)
{
    struct cached_compiler *c = x->value;
    c->graph->users--;
    c->topology->users--;
    if (c->splits_of)
        c->splits_of->users--;
}

static void release_topology(struct hash_entry *x)
{
    ((struct cached_topology *)x->value)->sheets->users--;
}

/* Drops entries without users; entries that use others go before those. Recipe files are kept. */
static void drop_idle_entries(struct simulator *s)
{
    hash_table_drop_idle(&s->compilers, release_compiler);
    hash_table_drop_idle(&s->topologies, release_topology);
    hash_table_drop_idle(&s->graphs, NULL);
    hash_table_drop_idle(&s->sheets, NULL);
    hash_table_drop_idle(&s->convergences, NULL);
}

/* Drops idle entries beyond the limit. All entries are measured again each time, because compilers grow while they are used. */
static void keep_limit(struct simulator *s)
{
    bool is_off = memo_is_off();
    if (s->n_simulated++ % SIMULATIONS_PER_LOOK && !is_off)
        return;
    size_t n_bytes = hash_table_bytes(&s->compilers) + hash_table_bytes(&s->topologies) + hash_table_bytes(&s->graphs) + hash_table_bytes(&s->sheets)
                   + s->convergences.n_bytes;
    if (n_bytes > s->limit_bytes || is_off)
        drop_idle_entries(s);
    if (arena_held_bytes(&s->plans->arena) > s->limit_bytes / PLANS_SHARE || is_off)
        plan_cache_free(s->plans);
}

void simulator_close(struct simulator *s)
{
    struct hash_table *all[] = { &s->compilers, &s->topologies, &s->graphs, &s->sheets, &s->convergences, &s->recipes };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        hash_table_free(all[i]);
    plan_cache_free(&s->own_plans);
    arena_free(&s->spare);
    arena_free(&s->arena);
}

/* ---- recipes and sheets ------------------------------------------------------------------------- */

/* The entry of a key. If *is_new, it was just added and is zeroed; the caller fills it, or drops it again on failure. */
static struct hash_entry *entry_of(struct hash_table *t, const void *key, size_t n_key_bytes, size_t n_value_bytes, bool *is_new)
{
    struct hash_entry *x = hash_table_find_entry(t, key, n_key_bytes);
    *is_new = !x;
    return x ? x : hash_table_add_entry(t, key, n_key_bytes, n_value_bytes);
}

static struct hash_entry *drop_cache_entry(struct hash_table *t, struct hash_entry *x)
{
    hash_table_drop(t, x);
    return NULL;
}

static struct hash_entry *cached_recipe(struct simulator *s, const char *name, struct err *err)
{
    bool is_new;
    struct hash_entry *x = entry_of(&s->recipes, name, strlen(name), sizeof(struct recipe_file), &is_new);
    return !is_new || recipe_file_load(x->value, name, s->paths->recipes_dir, &x->arena, err) ? x : drop_cache_entry(&s->recipes, x);
}

/* Loads machine, system and software from their sheets, with the overrides. */
static bool load_cached_sheets(struct cached_sheets *k, struct simulator *s, const struct recipe *rec, const char *const *overrides, size_t n_overrides,
                               struct arena *a, struct err *err)
{
    const char **rest, *specs_dir = s->paths->specs_dir;
    size_t n_rest;
    k->id = ++s->n_sheets_read;
    s->cache.arena = &s->arena;
    if (!sheet_overrides_split(&k->changes, &rest, &n_rest, overrides, n_overrides, a, err))
        return false;
    k->changes.cache = &s->cache;
    if (!machine_load_changed(&k->machine, path_beside(rec->path, arena_strdup(a, rec->system), a), specs_dir, &k->changes, a, err))
        return false;
    if (s->paths->chip_constants)
        fitted_constants_set(&k->machine.chip, s->paths->chip_constants);
    if (!fitted_system_load(&k->fitted, specs_dir, &k->changes, a, err))
        return false;
    if (s->paths->fitted)
        k->fitted = *s->paths->fitted;
    const char *sdk = rec->sdk ? arena_strdup(a, rec->sdk) : NULL;
    return sdk_load(&k->sdk, sdk, specs_dir, &k->changes, a, err)
        && framework_load(&k->framework, rec->framework, sdk, specs_dir, &k->changes, a, err);
}

static void use_sheets(struct simulation *sim, struct cached_sheets *k)
{
    sim->sheets_id = k->id;
    sim->machine = &k->machine;
    sim->fitted = k->fitted;
    sim->sdk = k->sdk;
    sim->framework = k->framework;
    sim->changes = k->changes;
}

size_t simulation_sheets(const struct sheet *out[MAX_SHEETS], const struct simulation *sim)
{
    size_t n = 0;
    for (size_t i = 0; i < sim->machine->n_sheets; i++)
        out[n++] = &sim->machine->sheets[i];
    const struct sheet *software[] = { &sim->fitted.sheet, &sim->sdk.sheet, &sim->framework.sheets[0], &sim->framework.sheets[1], &sim->framework.sheets[2] };
    for (size_t i = 0; i < sizeof software / sizeof *software; i++)
        if (software[i]->n_rows)
            out[n++] = software[i];
    return n;
}

/* Refuses an override of an unknown key; the message suggests keys of the sheets that were read. */
static bool check_changes(const struct simulation *sim, struct err *err)
{
    const struct sheet *sheets[MAX_SHEETS];
    const char *names[256];
    enum { ROOM = sizeof names / sizeof *names };
    size_t n = 0, n_sheets = simulation_sheets(sheets, sim);
    for (size_t i = 0; i < n_sheets; i++)
        for (size_t k = 0; k < sheets[i]->n_rows && n < ROOM; k++)
            names[n++] = sheets[i]->rows[k].key;
    return sheet_overrides_check(&sim->changes, names, n, err);
}

static struct hash_entry *cached_sheets(struct simulation *sim, const char *const *overrides, size_t n_overrides, struct err *err)
{
    struct simulator *s = sim->simulator;
    const struct recipe *rec = &sim->recipe;
    const char *names[] = { rec->system, rec->sdk, rec->framework };
    size_t n_folder_bytes = (size_t)(path_name(rec->path) - rec->path);     /* the recipe's folder may hold the system's sheet */
    struct hash_key key = { .arena = &sim->arena };
    bool is_new;
    hash_key_add(&key, &n_folder_bytes, sizeof n_folder_bytes);
    hash_key_add(&key, rec->path, n_folder_bytes);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        hash_key_add_text(&key, names[i]);
    for (size_t i = 0; i < sim->changes.n; i++) {
        hash_key_add_text(&key, sim->changes.items[i].key);
        hash_key_add_text(&key, sim->changes.items[i].value);
    }
    struct hash_entry *x = entry_of(&s->sheets, key.bytes, key.n, sizeof(struct cached_sheets), &is_new);
    if (is_new && !load_cached_sheets(x->value, s, rec, overrides, n_overrides, &x->arena, err))
        return drop_cache_entry(&s->sheets, x);
    use_sheets(sim, x->value);
    return !is_new || check_changes(sim, err) ? x : drop_cache_entry(&s->sheets, x);
}

/* ---- topologies, graphs, compilers ----------------------------------------------------------------- */

static const void *copied_items(const void *items, size_t n, size_t item_bytes, struct arena *a)
{
    return n ? memcpy(arena_array(a, n, item_bytes), items, n * item_bytes) : NULL;
}

static const struct faults *copied_faults(const struct faults *f, struct arena *a)
{
    struct faults *copy = ARENA_NEW(a, struct faults);
    *copy = *f;
    copy->links = copied_items(f->links, f->n_links, sizeof *f->links, a);
    copy->chips = copied_items(f->chips, f->n_chips, sizeof *f->chips, a);
    copy->background = copied_items(f->background, f->n_background, sizeof *f->background, a);
    return copy;
}

/* The topology for these faults, or without faults if that is NULL. The key holds the faults in the recipe's words. */
static struct hash_entry *cached_topology(struct simulator *s, struct hash_entry *sheets, const struct recipe *rec, const struct faults *faults,
                                          struct arena *scratch, struct err *err)
{
    struct hash_key key = { .arena = scratch };
    const struct machine *m = &((struct cached_sheets *)sheets->value)->machine;
    enum domain_topology shape = topology_of_partition(m, rec->replicas * rec->ipus_per_replica);
    bool is_new;
    hash_key_add(&key, &sheets, sizeof sheets);
    hash_key_add(&key, &shape, sizeof shape);
    for (size_t i = 0; faults && i < rec->n_faults; i++) {
        hash_key_add_text(&key, rec->faults[i].key);
        hash_key_add_text(&key, rec->faults[i].value);
    }
    struct hash_entry *x = entry_of(&s->topologies, key.bytes, key.n, sizeof(struct cached_topology), &is_new);
    struct cached_topology *t = x->value;
    if (!is_new)
        return x;
    if (!topology_build_as(&t->topology, m, shape, faults ? copied_faults(faults, &x->arena) : NULL, &x->arena, err))
        return drop_cache_entry(&s->topologies, x);
    t->sheets = sheets;
    sheets->users++;
    return x;
}

static struct hash_entry *cached_graph(struct simulator *s, const struct recipe *rec, struct arena *scratch, struct err *err)
{
    size_t n_key_bytes;
    bool is_new;
    const char *key = recipe_graph_key(&n_key_bytes, rec, scratch);
    struct hash_entry *x = entry_of(&s->graphs, key, n_key_bytes, sizeof(struct cached_graph), &is_new);
    struct cached_graph *g = x->value;
    if (!is_new)
        return x;
    if (!recipe_graph(&g->graph, rec, &x->arena, err))
        return drop_cache_entry(&s->graphs, x);
    g->alike = compile_equal_ops(&g->graph, &x->arena);
    g->layers = layer_costs_unplanned(&g->graph, &x->arena);
    compiler_of_graph(&g->of_graph, &g->graph, &x->arena);
    return x;
}

/* Compares bytes, including padding; two equal chips whose padding differs only cost time. */
static bool chips_are_equal(const struct chip *a, const struct chip *b)
{
    enum { AFTER_NAME = offsetof(struct chip, generation) };
    return text_is(a->name, b->name) && memcmp((const char *)a + AFTER_NAME, (const char *)b + AFTER_NAME, sizeof *a - AFTER_NAME) == 0;
}

static struct compiler *compiler_on_chip(struct simulator *s, struct hash_entry *graph, const struct chip *chip)
{
    struct cached_graph *g = graph->value;
    struct graph_on_chip *x = g->chips;
    while (x && !chips_are_equal(&x->chip, chip))
        x = x->next;
    if (x)
        return &x->compiler;
    x = ARENA_NEW(&graph->arena, struct graph_on_chip);
    memcpy(&x->chip, chip, sizeof *chip);
    x->chip.name = arena_strdup(&graph->arena, chip->name);
    compiler_of_chip(&x->compiler, &g->graph, &x->chip, s->plans, &graph->arena);
    x->compiler.alike = g->alike;
    x->compiler.layers = g->layers;
    x->compiler.of_graph = &g->of_graph;
    x->compiler.watch = &s->watch;
    x->next = g->chips;
    return &(g->chips = x)->compiler;
}

/* The compiler of a graph on a topology. A compiler that takes its splits from the chip of another simulation is kept apart from one that makes its own. */
static struct hash_entry *cached_compiler(struct simulator *s, struct hash_entry *graph, struct hash_entry *topology)
{
    const struct simulation *other = s->options.splits_of;
    struct hash_entry *splits_of = other ? ((struct cached_compiler *)other->compiler_entry->value)->topology : NULL;
    splits_of = splits_of == topology ? NULL : splits_of;       /* the chip's own splits need no other compiler */
    MEMO_INPUT(compiler_input, struct owned graph, topology, splits_of; uint64_t afresh;);
    const struct compiler_input key = { { graph }, { topology }, { splits_of }, s->options.afresh ? ++s->n_afresh : 0 };
    bool is_new;
    struct hash_entry *x = entry_of(&s->compilers, &key, sizeof key, sizeof(struct cached_compiler), &is_new);
    if (!is_new)
        return x;
    struct cached_compiler *c = x->value;
    struct cached_graph *g = graph->value;
    compiler_start(&c->compiler, &g->graph, &((struct cached_topology *)topology->value)->topology, s->plans, &x->arena);
    c->compiler.alike = g->alike;
    c->compiler.layers = g->layers;
    c->compiler.of_graph = &g->of_graph;
    c->compiler.watch = &s->watch;
    if (!splits_of && !s->options.afresh)
        c->compiler.of_chip = compiler_on_chip(s, graph, c->compiler.chip);
    c->graph = graph;
    c->topology = topology;
    graph->users++;
    topology->users++;
    if (splits_of) {
        c->splits_of = splits_of;
        c->compiler.splits_of = &((struct cached_topology *)splits_of->value)->topology.machine->chip;
        splits_of->users++;
    }
    return x;
}

/* ---- a simulation's artefacts ---------------------------------------------------------------------- */

/* Refuses training in fp8, as no source says how a program trains in it. */
static bool check_compute(struct simulation *sim, struct err *err)
{
    const struct recipe *r = &sim->recipe;
    const char *where = arena_printf(&sim->arena, "%s: precision.compute", r->path);
    if (r->model.compute == COMPUTE_FP8 && r->mode == MODE_TRAIN)
        return fail(err, "%s: fp8 is for inference, as no source says how a program trains in it; want fp16", where);
    return chip_multiplies(&sim->machine->chip, (enum data_type)r->model.compute, where, err);
}

/* Prepares the recipe with its overrides; overrides of sheets go to sim->changes. */
static bool prepare_recipe(struct simulation *sim, const char *recipe, const char *const *overrides, size_t n_overrides, struct err *err)
{
    const char **of_recipe;
    size_t n;
    if (!sheet_overrides_split(&sim->changes, &of_recipe, &n, overrides, n_overrides, &sim->arena, err))
        return false;
    const struct hash_entry *file = cached_recipe(sim->simulator, recipe, err);
    sim->file = file ? file->value : NULL;
    return file && recipe_override(&sim->recipe, sim->file, of_recipe, n, &sim->arena, err);
}

bool simulator_prepare(struct simulation *sim, struct plan_request *opt, const char *recipe, const char *const *overrides,
                       size_t n_overrides, struct err *err)
{
    struct simulator *s = sim->simulator;
    struct arena *a = &sim->arena;
    keep_limit(s);
    if (!prepare_recipe(sim, recipe, overrides, n_overrides, err))
        return false;
    struct hash_entry *sheets = cached_sheets(sim, overrides, n_overrides, err);
    if (!sheets || !check_compute(sim, err))
        return false;
    if (!recipe_plan_request(opt, &sim->recipe, a, err) || !recipe_framework(opt, &sim->framework, &sim->recipe, a, err))
        return false;
    if (!opt->host.cores)
        opt->host.cores = (uint32_t)sim->machine->host_cores;
    struct hash_entry *topology = cached_topology(s, sheets, &sim->recipe, opt->faults, a, err);
    struct hash_entry *graph = topology ? cached_graph(s, &sim->recipe, a, err) : NULL;
    if (!graph)
        return false;
    sim->compiler_entry = cached_compiler(s, graph, topology);
    sim->compiler_entry->users++;
    sim->topology = &((struct cached_topology *)topology->value)->topology;
    sim->graph = &((struct cached_graph *)graph->value)->graph;
    sim->compiler = &((struct cached_compiler *)sim->compiler_entry->value)->compiler;
    return true;
}

struct compiler *simulator_compiler(struct simulation *sim, const struct recipe *rec, bool faults, struct err *err)
{
    struct simulator *s = sim->simulator;
    struct hash_entry *topology = ((struct cached_compiler *)sim->compiler_entry->value)->topology, *graph = cached_graph(s, rec, &sim->arena, err);
    if (!faults)
        topology = cached_topology(s, ((struct cached_topology *)topology->value)->sheets, rec, NULL, &sim->arena, err);
    if (!graph || !topology)
        return NULL;
    return &((struct cached_compiler *)cached_compiler(s, graph, topology)->value)->compiler;
}

/* ---- samples to converge ------------------------------------------------------------------------------ */

/* The recipe's id, submitter and round tell which MLPerf round and division the run belongs to. Where several records have the same batch, the recipe's optimizer and
 * learning rate select one of them. */
bool simulator_convergence(struct convergence *out, struct simulator *s, const struct recipe *r, struct err *err)
{
    const char *names[] = { r->workload, r->id, r->submitter, r->reference_round, r->optimizer_name };
    const double numbers[] = { recipe_logged_batch(r), recipe_base_learning_rate(r) };
    struct arena scratch = {0};
    struct hash_key key = { .arena = &scratch };
    bool is_new;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        hash_key_add_text(&key, names[i]);
    hash_key_add(&key, numbers, sizeof numbers);
    struct hash_entry *x = entry_of(&s->convergences, key.bytes, key.n, sizeof *out, &is_new);
    bool good = !is_new || ((s->tables || convergence_tables_load(&s->tables, s->paths->data_dir, &s->arena, err))
                            && recipe_convergence(x->value, r, s->tables, err));
    if (good)
        *out = *(const struct convergence *)x->value;
    else
        hash_table_drop(&s->convergences, x);
    arena_free(&scratch);
    return good;
}

const struct memory_record *simulator_memory_record(struct simulator *s, struct err *err)
{
    if (!s->memory && !memory_record_load(&s->memory, s->paths->validity_dir, &s->arena, err))
        return NULL;
    return s->memory;
}
