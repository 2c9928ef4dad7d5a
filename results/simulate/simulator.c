/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulator.c - what is kept between simulations, by which key, and when it is dropped.
 *
 * Dropping is all or nothing: past the limit everything that no living simulation uses goes, and the next simulations make
 * again what they need. A sweep that fits the limit never comes to it.
 */
#include "results/simulate/simulator_internal.h"
#include "system-model/machine/fitted_chip.h"

#include <string.h>

enum { LIMIT_BYTES = 96 << 20, PLANS_SHARE = 2, LOOK_EVERY = 256 };     /* plans: half of the limit again, in slots of their own */

struct kept_sheets { struct machine machine; struct sdk sdk; struct framework framework; struct fitted_system fitted; struct what_ifs changes; };
struct kept_graph { struct graph graph; const uint32_t *alike; const struct layer_cost *layers; };
struct kept_topology { struct topology topology; struct hash_entry *sheets; };
struct kept_compiler { struct compiler compiler; struct hash_entry *graph, *topology, *splits_of; };

void simulator_open(struct simulator *out, const struct model_paths *paths)
{
    *out = (struct simulator){ .paths = paths, .limit_bytes = LIMIT_BYTES };
    out->plans = &out->own_plans;
}

/* ---- dropping ----------------------------------------------------------------------------------- */

static void leave_compiler(struct hash_entry *x)
{
    struct kept_compiler *c = x->value;
    c->graph->users--;
    c->topology->users--;
    if (c->splits_of)
        c->splits_of->users--;
}

static void leave_topology(struct hash_entry *x)
{
    ((struct kept_topology *)x->value)->sheets->users--;
}

static void drop_idle(struct simulator *s)
{
    hash_table_drop_idle(&s->compilers, leave_compiler);
    hash_table_drop_idle(&s->topologies, leave_topology);
    hash_table_drop_idle(&s->graphs, NULL);
    hash_table_drop_idle(&s->sheets_asked, NULL);
    hash_table_drop_idle(&s->sheets, NULL);
    hash_table_drop_idle(&s->convergences, NULL);
}

/* Compilers grow while they are used, so the look is at all of them. Samples to converge, of which there is one a batch, have no arenas. */
static void keep_limit(struct simulator *s)
{
    if (s->n_simulated++ % LOOK_EVERY)
        return;
    const struct hash_table *growing[] = { &s->compilers, &s->topologies, &s->graphs, &s->sheets };
    size_t n_bytes = s->sheets_asked.n_bytes + s->convergences.n_bytes;
    for (size_t i = 0; i < sizeof growing / sizeof *growing; i++)
        n_bytes += hash_table_bytes(growing[i]);
    if (n_bytes > s->limit_bytes)
        drop_idle(s);
    if (s->plans->arena.used_bytes > s->limit_bytes / PLANS_SHARE)
        plan_cache_free(s->plans);
}

void simulator_close(struct simulator *s)
{
    struct hash_table *all[] = { &s->compilers, &s->topologies, &s->graphs, &s->sheets, &s->sheets_asked, &s->convergences, &s->recipes };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        hash_table_free(all[i]);
    plan_cache_free(&s->own_plans);
    arena_free(&s->spare);
    arena_free(&s->arena);
}

/* ---- keeping ------------------------------------------------------------------------------------ */

/* A key of texts and numbers: each text with its end, so that no two lists of them are the same bytes. */
struct key { char *bytes; size_t n, cap; struct arena *a; };

static void add_bytes(struct key *k, const void *bytes, size_t n)
{
    if (k->n + n > k->cap) {
        size_t cap = 2 * (k->n + n) + 256;
        k->bytes = k->n ? memcpy(arena_alloc(k->a, cap), k->bytes, k->n) : arena_alloc(k->a, cap);
        k->cap = cap;
    }
    memcpy(k->bytes + k->n, bytes, n);
    k->n += n;
}

static void add_text(struct key *k, const char *text)
{
    add_bytes(k, text ? text : "", text ? strlen(text) + 1 : 1);
}

static bool keep_recipe(const struct recipe_file **out, struct simulator *s, const char *name, struct err *err)
{
    struct hash_entry *x = hash_table_find_entry(&s->recipes, name, strlen(name));
    if (!x) {
        x = hash_table_add_entry(&s->recipes, name, strlen(name), sizeof(struct recipe_file));
        struct recipe_file *file = x->value;
        if (!recipe_file_load(file, name, s->paths->recipes_dir, &x->arena, err)) {
            hash_table_drop(&s->recipes, x);
            return false;
        }
    }
    *out = x->value;
    return true;
}

/* Machine, system and software, as the sheets and what is given in their place have it. */
static bool load_sheets(struct kept_sheets *k, struct simulator *s, const struct recipe *rec, const char *system,
                        const char *const *overrides, size_t n_overrides, struct arena *a, struct err *err)
{
    const char **rest, *specs_dir = s->paths->specs_dir;
    size_t n_rest;
    s->shelf.arena = &s->arena;
    if (!what_ifs_take(&k->changes, &rest, &n_rest, overrides, n_overrides, a, err))
        return false;
    k->changes.shelf = &s->shelf;
    if (!machine_load_changed(&k->machine, arena_strdup(a, system), specs_dir, &k->changes, a, err))
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

static void take_sheets(struct simulation *sim, struct kept_sheets *k)
{
    sim->machine = &k->machine;
    sim->fitted = k->fitted;
    sim->sdk = k->sdk;
    sim->framework = k->framework;
    sim->changes = k->changes;
}

/* Offers the keys on the sheets that were read. */
static bool check_changes(const struct simulation *sim, struct err *err)
{
    const struct sheet *sheets[MAX_SHEETS];
    const char *names[256];
    enum { ROOM = sizeof names / sizeof *names };
    size_t n = 0, n_sheets = simulation_sheets(sheets, sim);
    for (size_t i = 0; i < n_sheets; i++)
        for (size_t k = 0; k < sheets[i]->n_rows && n < ROOM; k++)
            names[n++] = sheets[i]->rows[k].key;
    struct arena scratch = {0};
    bool good = what_ifs_check(&sim->changes, names_list(names, n, &scratch), err);
    arena_free(&scratch);
    return good;
}

static struct key sheets_key(const char *beside, const char *system, const struct simulation *sim, struct arena *a)
{
    const char *names[] = { beside, system, sim->recipe.sdk, sim->recipe.framework };
    struct key key = { .a = a };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        add_text(&key, names[i]);
    for (size_t i = 0; i < sim->changes.n; i++) {
        add_text(&key, sim->changes.items[i].key);
        add_text(&key, sim->changes.items[i].value);
    }
    return key;
}

static struct hash_entry *make_sheets(struct simulation *sim, const char *const *overrides, size_t n_overrides, struct err *err)
{
    struct simulator *s = sim->by;
    const char *system = path_beside(sim->recipe.path, sim->recipe.system, &sim->arena);
    struct key key = sheets_key("", system, sim, &sim->arena);
    struct hash_entry *x = hash_table_find_entry(&s->sheets, key.bytes, key.n);
    if (x)
        return x;
    x = hash_table_add_entry(&s->sheets, key.bytes, key.n, sizeof(struct kept_sheets));
    struct kept_sheets *k = x->value;
    bool good = load_sheets(k, s, &sim->recipe, system, overrides, n_overrides, &x->arena, err);
    if (good)
        take_sheets(sim, k);
    if (good && check_changes(sim, err))
        return x;
    hash_table_drop(&s->sheets, x);
    return NULL;
}

/* As asked for beside the recipe's file; recipes of other files may mean the same sheets. */
static struct hash_entry *keep_sheets(struct simulation *sim, const char *const *overrides, size_t n_overrides, struct err *err)
{
    struct simulator *s = sim->by;
    struct key key = sheets_key(sim->recipe.path, sim->recipe.system, sim, &sim->arena);
    struct hash_entry *asked = hash_table_find_entry(&s->sheets_asked, key.bytes, key.n), *x = asked ? asked->value : make_sheets(sim, overrides, n_overrides, err);
    if (!x)
        return NULL;
    if (!asked)
        hash_table_add_entry(&s->sheets_asked, key.bytes, key.n, 0)->value = x;
    take_sheets(sim, x->value);
    return x;
}

static const void *copied(const void *items, size_t n, size_t item_bytes, struct arena *a)
{
    return n ? memcpy(arena_array(a, n, item_bytes), items, n * item_bytes) : NULL;
}

static const struct faults *copy_faults(const struct faults *f, struct arena *a)
{
    struct faults *copy = ARENA_NEW(a, struct faults);
    *copy = *f;
    copy->links = copied(f->links, f->n_links, sizeof *f->links, a);
    copy->chips = copied(f->chips, f->n_chips, sizeof *f->chips, a);
    copy->background = copied(f->background, f->n_background, sizeof *f->background, a);
    return copy;
}

/* faults NULL: none, whatever the recipe has. They are told apart by their text in the recipe. */
static struct hash_entry *keep_topology(struct simulator *s, struct hash_entry *sheets, const struct recipe *rec, const struct faults *faults,
                                  struct arena *scratch, struct err *err)
{
    struct key key = { .a = scratch };
    const struct machine *m = &((struct kept_sheets *)sheets->value)->machine;
    enum domain_topology shape = topology_of_partition(m, rec->replicas * rec->ipus_per_replica);
    add_bytes(&key, &sheets, sizeof sheets);
    add_bytes(&key, &shape, sizeof shape);
    for (size_t i = 0; faults && i < rec->n_faults; i++) {
        add_text(&key, rec->faults[i].key);
        add_text(&key, rec->faults[i].value);
    }
    struct hash_entry *x = hash_table_find_entry(&s->topologies, key.bytes, key.n);
    if (x)
        return x;
    x = hash_table_add_entry(&s->topologies, key.bytes, key.n, sizeof(struct kept_topology));
    struct kept_topology *t = x->value;
    if (!topology_build_as(&t->topology, m, shape, faults ? copy_faults(faults, &x->arena) : NULL, &x->arena, err)) {
        hash_table_drop(&s->topologies, x);
        return NULL;
    }
    t->sheets = sheets;
    sheets->users++;
    return x;
}

static struct hash_entry *keep_graph(struct simulator *s, const struct recipe *rec, struct arena *scratch, struct err *err)
{
    size_t n_key_bytes;
    const char *key = recipe_graph_key(&n_key_bytes, rec, scratch);
    struct hash_entry *x = hash_table_find_entry(&s->graphs, key, n_key_bytes);
    if (x)
        return x;
    x = hash_table_add_entry(&s->graphs, key, n_key_bytes, sizeof(struct kept_graph));
    struct kept_graph *k = x->value;
    if (!recipe_graph(&k->graph, rec, &x->arena, err)) {
        hash_table_drop(&s->graphs, x);
        return NULL;
    }
    k->alike = ops_alike(&k->graph, &x->arena);
    k->layers = layers_without_plans(&k->graph, &x->arena);
    return x;
}

/* Splits taken from another simulation's chip are another compiler's. */
static struct hash_entry *keep_compiler(struct simulator *s, struct hash_entry *graph, struct hash_entry *topology)
{
    struct hash_entry *splits_of = s->options.splits_of ? ((struct kept_compiler *)s->options.splits_of->held->value)->topology : NULL;
    const struct hash_entry *key[] = { graph, topology, splits_of };
    struct hash_entry *x = hash_table_find_entry(&s->compilers, key, sizeof key);
    if (x)
        return x;
    x = hash_table_add_entry(&s->compilers, key, sizeof key, sizeof(struct kept_compiler));
    struct kept_compiler *c = x->value;
    struct kept_topology *t = topology->value;
    const struct kept_graph *g = graph->value;
    compiler_start(&c->compiler, &g->graph, &t->topology, s->plans, &x->arena);
    c->compiler.alike = g->alike;
    c->compiler.layers = g->layers;
    c->compiler.watch = &s->watch;
    c->graph = graph;
    c->topology = topology;
    graph->users++;
    topology->users++;
    if (splits_of) {
        c->splits_of = splits_of;
        c->compiler.splits_of = &((struct kept_topology *)splits_of->value)->topology.machine->chip;
        splits_of->users++;
    }
    return x;
}

/* ---- a simulation's artefacts ---------------------------------------------------------------------- */

/* fp8 multiplies in inference alone: no source says how a program trains in it. */
static bool check_compute(struct simulation *sim, struct err *err)
{
    const struct recipe *r = &sim->recipe;
    const char *where = arena_printf(&sim->arena, "%s: precision.compute", r->path);
    if (r->model.compute == COMPUTE_FP8 && r->mode == MODE_TRAIN)
        return fail(err, "%s: fp8 is for inference, as no source says how a program trains in it; want fp16", where);
    return chip_multiplies(&sim->machine->chip, (enum data_type)r->model.compute, where, err);
}

bool simulator_prepare(struct simulation *sim, struct plan_options *opt, const char *recipe, const char *const *overrides,
                       size_t n_overrides, struct err *err)
{
    struct simulator *s = sim->by;
    struct arena *a = &sim->arena;
    const struct recipe_file *file;
    const char **of_recipe;
    size_t n;
    struct hash_entry *graph, *topology, *sheets;
    keep_limit(s);
    if (!what_ifs_take(&sim->changes, &of_recipe, &n, overrides, n_overrides, a, err) || !keep_recipe(&file, s, recipe, err)
        || !recipe_override(&sim->recipe, file, of_recipe, n, a, err) || !(sheets = keep_sheets(sim, overrides, n_overrides, err))
        || !check_compute(sim, err) || !recipe_plan_options(opt, &sim->recipe, a, err)
        || !recipe_framework(opt, &sim->recipe, &sim->framework, a, err)
        || !(topology = keep_topology(s, sheets, &sim->recipe, opt->faults, a, err))
        || !(graph = keep_graph(s, &sim->recipe, a, err)))
        return false;
    sim->held = keep_compiler(s, graph, topology);
    sim->held->users++;
    sim->topology = &((struct kept_topology *)topology->value)->topology;
    sim->graph = &((struct kept_graph *)graph->value)->graph;
    sim->compiler = &((struct kept_compiler *)sim->held->value)->compiler;
    return true;
}

struct compiler *simulator_compiler(struct simulation *sim, const struct recipe *rec, bool faults, struct err *err)
{
    const struct kept_compiler *c = sim->held->value;
    struct hash_entry *topology = c->topology, *graph = keep_graph(sim->by, rec, &sim->arena, err);
    if (!faults)
        topology = keep_topology(sim->by, ((struct kept_topology *)topology->value)->sheets, rec, NULL, &sim->arena, err);
    if (!graph || !topology)
        return NULL;
    return &((struct kept_compiler *)keep_compiler(sim->by, graph, topology)->value)->compiler;
}

/* ---- samples to converge ------------------------------------------------------------------------------ */

/* The reference's round and terms follow from the recipe's id, source and round; its optimizer and rate tell records of one batch apart. */
static void convergence_key(struct key *out, const struct recipe *r)
{
    const char *names[] = { r->workload, r->id, r->source, r->reference_round, r->optimizer_name };
    const double numbers[] = { recipe_logged_batch(r), recipe_base_learning_rate(r) };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        add_text(out, names[i]);
    add_bytes(out, numbers, sizeof numbers);
}

bool simulator_convergence(struct convergence *out, struct simulator *s, const struct recipe *r, struct err *err)
{
    char room[512];
    struct arena scratch = {0};
    struct key key = { room, 0, sizeof room, &scratch };
    convergence_key(&key, r);
    struct hash_entry *x = hash_table_find_entry(&s->convergences, key.bytes, key.n);
    bool good = x || ((s->tables || convergence_tables_load(&s->tables, s->paths->data_dir, &s->arena, err)) && recipe_convergence(out, r, s->tables, err));
    if (good && !x) {
        x = hash_table_add_entry(&s->convergences, key.bytes, key.n, sizeof *out);
        *(struct convergence *)x->value = *out;
    }
    if (good)
        *out = *(const struct convergence *)x->value;
    arena_free(&scratch);
    return good;
}
