/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * checkpoint.c - a training on disk: a head, the points of its curve so far, weights and moments in the format that they have in memory, and a
 * hash of everything.
 */
#include "results/train/train.h"

static const char beginning[16] = "podbench-train1";

struct head { char beginning[16]; uint64_t identity, seed, n_points, n_evaluations, n_skipped, reached; };
struct stream { FILE *f; uint64_t hash; bool good; };

static void hash_passed(struct stream *s, const void *bytes, size_t n, size_t n_done)
{
    s->good = s->good && n_done == n;
    if (s->good)
        s->hash = hash_bytes(bytes, n, s->hash);
}

static void save_bytes(struct stream *s, const void *bytes, size_t n) { hash_passed(s, bytes, n, fwrite(bytes, 1, n, s->f)); }
static void load_bytes(struct stream *s, void *bytes, size_t n) { hash_passed(s, bytes, n, fread(bytes, 1, n, s->f)); }
static void write_state(void *user, float *x, uint64_t n) { save_bytes(user, x, n * sizeof *x); }
static void read_state(void *user, float *x, uint64_t n) { load_bytes(user, x, n * sizeof *x); }

bool checkpoint_write(const char *path, const struct training *tr, struct execution *x, const struct training_setup *t, struct err *err)
{
    struct new_file file;
    if (!new_file_open(&file, path, err))
        return false;
    struct head h = { "", t->identity, tr->seed, tr->n, tr->n_evaluations, tr->n_skipped, tr->reached };
    memcpy(h.beginning, beginning, sizeof beginning);
    struct stream s = { file.f, 0, true };
    save_bytes(&s, &h, sizeof h);
    save_bytes(&s, tr->points, tr->n * sizeof *tr->points);
    execution_state(x, write_state, &s);
    uint64_t hash = s.hash;
    save_bytes(&s, &hash, sizeof hash);
    return new_file_save(&file, err);
}

static bool check_head(const struct head *h, const char *path, const struct training *tr, const struct training_setup *t, struct err *err)
{
    if (memcmp(h->beginning, beginning, sizeof beginning) != 0)
        return fail(err, "%s: is no checkpoint of podbench train; name another file", path);
    if (h->identity != t->identity)
        return fail(err, "%s: belongs to another recipe, other settings or other data than %s; train anew without --resume", path, t->sim->recipe.id);
    return h->seed == tr->seed || fail(err, "%s: belongs to seed %ju; resume with --seed %ju", path, (uintmax_t)h->seed, (uintmax_t)h->seed);
}

static bool read_stream(struct training *tr, struct execution *x, struct stream *s, size_t n_bytes, const char *path, const struct training_setup *t, struct arena *a,
                     struct err *err)
{
    struct head h;
    load_bytes(s, &h, sizeof h);
    if (!s->good)
        return fail(err, "%s: is no checkpoint of podbench train; name another file", path);
    if (!check_head(&h, path, tr, t, err))
        return false;
    uint64_t hash = 0;
    if (h.n_points <= n_bytes / sizeof *tr->points) {
        tr->points = ARENA_ARRAY(a, struct training_point, h.n_points);
        tr->n = tr->cap = h.n_points, tr->n_evaluations = h.n_evaluations, tr->n_skipped = h.n_skipped, tr->reached = h.reached;
        load_bytes(s, tr->points, tr->n * sizeof *tr->points);
        execution_state(x, read_state, s);
        hash = s->hash;
        s->good = s->good && fread(&s->hash, 1, sizeof s->hash, s->f) == sizeof s->hash && fgetc(s->f) == EOF;
    }
    execution_set_step(x, tr->n);
    return (s->good && tr->n && s->hash == hash) || fail(err, "%s: is damaged or incomplete; remove it and train anew", path);
}

bool checkpoint_read(struct training *tr, struct execution *x, const char *path, const struct training_setup *t, struct arena *a, struct err *err)
{
    size_t n_bytes;
    struct stream s = { open_regular(&n_bytes, path, err), 0, true };
    if (!s.f)
        return false;
    bool good = read_stream(tr, x, &s, n_bytes, path, t, a, err);
    fclose(s.f);
    return good;
}
