/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text.c - text as words of a vocabulary, in packs with words to predict.
 *
 * The vocabulary: five marks, then words by frequency, those of one frequency in alphabetical order. A word is a run of letters, or one other
 * character that is not a blank. 15 % of the words of a pack are to be predicted, but none that is unknown; four fifths of these are hidden, a tenth is
 * replaced by any word, a tenth stays (BERT, section 3.1).
 */
#include "workloads/data/data_internal.h"
#include "system-model/base/hash_table.h"

enum mark { MARK_EMPTY, MARK_UNKNOWN, MARK_START, MARK_END, MARK_HIDDEN, N_MARKS };
enum { EVAL_EVERY = 20, LEAST_WORDS = 4 };

uint64_t data_draw(uint64_t key, uint64_t a, uint64_t b)
{
    const uint64_t question[] = { key, a, b };
    return hash_bytes(question, sizeof question, 23);
}

/* ---- words ------------------------------------------------------------------------------------- */

struct word { const char *text; uint64_t n_uses; uint32_t row; };
struct reader { struct text *out; struct arena *a; struct hash_table index; struct word **all, **text; size_t n, cap, n_text, cap_text; };

static struct word *word_of(struct reader *r, const char *text, size_t n)
{
    struct word *w = hash_table_find(&r->index, text, n);
    if (w)
        return w;
    w = hash_table_add(&r->index, text, n, sizeof *w, r->a);
    *w = (struct word){ arena_printf(r->a, "%.*s", (int)n, text), 0, MARK_UNKNOWN };
    r->all = arena_grow(r->a, r->all, r->n, &r->cap, sizeof *r->all);
    return r->all[r->n++] = w;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80; }

/* Splits a line, which is in lower case already, and takes it as a passage if it is long enough. */
static void read_passage(struct reader *r, const char *line)
{
    struct text *t = r->out;
    size_t first = r->n_text, most = t->length - 3;
    for (const char *at = line; *at && *at != '\n'; ) {
        size_t n = 0;
        while (is_letter(at[n]))
            n++;
        n += n == 0;
        if (!strchr(" \t\r", *at) && r->n_text - first < most) {
            ARENA_APPEND(r->a, r->text, r->n_text, r->cap_text, word_of(r, at, n));
        }
        at += n;
    }
    if (r->n_text - first < LEAST_WORDS) {
        r->n_text = first;
        return;
    }
    ARENA_APPEND(r->a, t->passages, t->n_passages, t->cap_passages, (struct pack){ (uint32_t)first, (uint32_t)(r->n_text - first) });
}

static enum data_part part_of_passage(size_t passage) { return (passage + 1) % EVAL_EVERY == 0 ? DATA_EVAL : DATA_TRAIN; }

static void number_words(struct reader *r)
{
    struct text *t = r->out;
    size_t n_known = 0;
    for (size_t i = 0; i < t->n_passages; i++)
        for (size_t k = 0; k < t->passages[i].n && part_of_passage(i) == DATA_TRAIN; k++)
            r->text[t->passages[i].first + k]->n_uses++;
    SORT_POINTERS_BY(r->all, r->n, FALLING(struct word, n_uses), RISING(struct word, text));
    for (size_t i = 0; i < r->n && i + N_MARKS < t->vocabulary && r->all[i]->n_uses; i++)
        r->all[i]->row = (uint32_t)(i + N_MARKS);
    t->words = ARENA_ARRAY(r->a, uint32_t, r->n_text);
    for (size_t i = 0; i < r->n_text; i++) {
        t->words[i] = r->text[i]->row;
        n_known += t->words[i] != MARK_UNKNOWN;
    }
    t->known_share = (double)n_known / (double)r->n_text;
}

/* ---- packs ----------------------------------------------------------------------------------------- */

static uint64_t sample_tokens(const struct text *t, uint32_t passage) { return t->passages[passage].n + 3; }

static void pack_part(struct text *t, enum data_part part, struct arena *a)
{
    uint32_t *order = t->order[part] = ARENA_ARRAY(a, uint32_t, t->n_passages);
    struct pack *packs = t->packs[part] = ARENA_ARRAY(a, struct pack, t->n_passages), *pack = NULL;
    uint64_t n_left = 0;
    for (size_t i = 0; i < t->n_passages; i++) {
        if (part_of_passage(i) != part)
            continue;
        if (!pack || pack->n == t->sequences || sample_tokens(t, (uint32_t)i) > n_left) {
            pack = &packs[t->n_packs[part]++];
            *pack = (struct pack){ (uint32_t)t->n_order[part], 0 };
            n_left = t->length;
        }
        order[t->n_order[part]++] = (uint32_t)i;
        pack->n++;
        n_left -= sample_tokens(t, (uint32_t)i);
    }
}

bool text_read(struct text *out, const char *path, const struct data_source *s)
{
    char *text;
    struct reader r = { .out = out, .a = s->a };
    FILE *there = open_regular(NULL, path, NULL);
    if (!there)
        return data_missing(path, "'make build/data/kjv.txt' writes a text, from Debian's bible-kjv", s->err);
    fclose(there);
    if (!read_text_file(&text, NULL, path, LARGEST_FILE_BYTES, s->a, s->err))
        return false;
    for (char *c = text; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        read_passage(&r, line);
    if (out->n_passages < EVAL_EVERY)
        return fail(s->err, "%s: has %zu passages of %d words or more, one a line; want at least %d", path, out->n_passages, LEAST_WORDS, EVAL_EVERY);
    number_words(&r);
    for (int part = 0; part < N_DATA_PARTS; part++)
        pack_part(out, (enum data_part)part, s->a);
    return true;
}

/* ---- a pack as inputs ------------------------------------------------------------------------------- */

struct row_writer { struct pack_row *row; const struct text *t; uint64_t key, at, n_masked; };

static void put_token(struct row_writer *w, uint32_t token, uint64_t first, int32_t type, int32_t number)
{
    const struct pack_row *r = w->row;
    r->positions[w->at] = (int32_t)(w->at - first), r->types[w->at] = type, r->numbers[w->at] = number;
    r->tokens[w->at++] = (int32_t)token;
}

/* Half of the time the second half comes from another passage, cut to the same length. */
static void put_sample(struct row_writer *w, enum data_part part, uint32_t passage, uint32_t place)
{
    const struct text *t = w->t;
    const struct pack *p = &t->passages[passage], *other = p;
    uint64_t first = w->at, half = p->n / 2, n_second = p->n - half;
    int32_t number = (int32_t)place + 1;
    bool follows = data_draw(w->key, passage, 1) & 1;
    if (!follows)
        other = &t->passages[t->order[part][data_draw(w->key, passage, 2) % t->n_order[part]]];
    put_token(w, MARK_START, first, 0, number);
    for (uint64_t i = 0; i < half; i++)
        put_token(w, t->words[p->first + i], first, 0, number);
    put_token(w, MARK_END, first, 0, number);
    uint64_t skip = other->n / 2;
    for (uint64_t i = 0; i < min_u64(n_second, other->n - skip); i++)
        put_token(w, t->words[other->first + skip + i], first, 1, number);
    put_token(w, MARK_END, first, 1, number);
    w->row->starts[place] = (int32_t)first, w->row->next[place] = !follows;
}

static void mask_words(struct row_writer *w, uint64_t item)
{
    const struct text *t = w->t;
    for (uint64_t i = 0; i < w->at && w->n_masked < t->n_masked; i++) {
        uint64_t chance = data_draw(w->key, item, 1000 + i), what = chance / 100 % 10;
        int32_t token = w->row->tokens[i];
        if (token < N_MARKS || chance % 100 >= 15)
            continue;
        w->row->masked[w->n_masked] = (int32_t)i, w->row->labels[w->n_masked++] = token;
        if (what < 9)
            w->row->tokens[i] = what < 8 ? MARK_HIDDEN : (int32_t)(N_MARKS + chance / 1000 % (t->vocabulary - N_MARKS));
    }
}

void text_row(struct pack_row *out, const struct text *t, enum data_part part, uint64_t item, uint64_t key, struct arena *a)
{
    const struct pack *pack = &t->packs[part][item];
    struct row_writer w = { out, t, key, 0, 0 };
    int32_t *by_token = ARENA_ARRAY(a, int32_t, 4 * t->length), *by_mask = ARENA_ARRAY(a, int32_t, 2 * t->n_masked);
    int32_t *by_sample = ARENA_ARRAY(a, int32_t, 2 * t->sequences);
    *out = (struct pack_row){ by_token, by_token + t->length, by_token + 2 * t->length, by_token + 3 * t->length, by_mask, by_mask + t->n_masked,
                              by_sample, by_sample + t->sequences };
    for (uint64_t i = 0; i < t->n_masked; i++)
        out->labels[i] = -1;
    for (uint64_t i = 0; i < t->sequences; i++)
        out->next[i] = -1;
    for (uint32_t i = 0; i < pack->n; i++)
        put_sample(&w, part, t->order[part][pack->first + i], i);
    mask_words(&w, item);
}
