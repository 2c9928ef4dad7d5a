/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * audit_print.c - an audit as a document: every claim as CSV and JSON, those that do not hold (or all) as text, and a
 * page in Markdown.
 */
#include "results/published/check.h"
#include <ctype.h>
#include <jansson.h>

struct claim_line {
    const char *id, *kind, *documents, *claim, *relation, *unit, *expression, *reading, *reading_expression, *verdict, *note, *claimed, *found_text,
               *summary;
    double value, high, tolerance, found, found_as_read, simulated;
};
#define C(member, ...) { COLUMN(struct claim_line, member), __VA_ARGS__ }
#define AS(csv_name, member, ...) { COLUMN_AS(struct claim_line, member, csv_name), __VA_ARGS__ }
static const struct table_column data_columns[] = {
    C(id), C(kind), C(documents), C(claim), C(relation), C(value), C(high), C(unit), C(tolerance), C(expression, .formats = IN_JSON), C(found),
    AS("read_as", reading, .formats = IN_CSV), C(reading, .formats = IN_JSON), C(reading_expression, .formats = IN_JSON), C(found_as_read),
    C(simulated), C(verdict), C(note),
};
static const struct table_column text_columns[] = { C(id, .heading = ""), C(verdict, .heading = ""), C(summary, .heading = "") };
static const struct table_column page_columns[] = {
    C(id, .heading = "claim"), C(claim, .heading = "what it says"), C(documents, .heading = "where"), C(claimed, .heading = "claimed"),
    C(tolerance, .heading = "tolerance %", .format = "%.3g", .scale = 100),
    C(found_text, .heading = "found"), C(expression, .heading = "by", .is_code = true),
    C(reading_expression, .heading = "as read by", .is_code = true),
};
#undef AS
#undef C

/* The claim as text, such as "250 TFLOPS" or "between 2 and 4 x". */
static const char *claimed_text(const struct claim *c, struct arena *a)
{
    const char *relation = c->relation == RELATION_IS ? "" : arena_printf(a, "%s ", relation_names[c->relation]);
    const char *high = c->relation == RELATION_BETWEEN ? arena_printf(a, " and %.6g", c->high) : "";
    return arena_printf(a, "%s%.6g%s%s%s", relation, c->value, high, *c->unit ? " " : "", c->unit);
}

/* The value that was found as text, such as "124.5; read as of a card of two: 249; simulated 120". */
static const char *found_text(const struct claim *c, struct arena *a)
{
    bool is_noted = (c->has_found || c->has_reading) && *c->note;
    const char *found = c->has_found ? arena_printf(a, "%.6g", c->found) : c->has_reading ? "" : c->note;
    const char *read = c->has_reading ? arena_printf(a, "%sread as %s: %.6g", c->has_found ? "; " : "", c->reading, c->found_as_read) : "";
    const char *simulated = c->has_simulated ? arena_printf(a, "; simulated %.6g", c->simulated) : "";
    return arena_printf(a, "%s%s%s%s%s", found, read, simulated, is_noted ? "; " : "", is_noted ? c->note : "");
}

static struct claim_line line_of_claim(const struct claim *c, struct arena *a)
{
    const char *claimed = claimed_text(c, a), *found = found_text(c, a);
    bool is_checked = c->verdict != AUDIT_UNCHECKED;
    return (struct claim_line){
        .id = c->id, .kind = c->kind, .documents = c->documents, .claim = c->text, .relation = relation_names[c->relation], .value = c->value,
        .high = c->relation == RELATION_BETWEEN ? c->high : (double)NAN, .unit = c->unit, .tolerance = c->tolerance, .expression = c->expression,
        .found = c->has_found ? c->found : (double)NAN, .reading = c->reading, .reading_expression = c->reading_expression,
        .found_as_read = c->has_reading ? c->found_as_read : (double)NAN, .simulated = c->has_simulated ? c->simulated : (double)NAN,
        .verdict = audit_verdict_names[c->verdict], .note = c->note, .claimed = is_checked ? claimed : "", .found_text = found,
        .summary = is_checked ? arena_printf(a, "%s: claimed %s, %s%s", c->text, claimed, c->has_found ? "found " : "", found)
                              : arena_printf(a, "%s: %s", c->text, c->note),
    };
}

static size_t count_claims(const struct claims *c, enum audit_verdict v)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += c->items[i].verdict == v;
    return n;
}

/* Adds the claims with this verdict, or all claims if verdict is N_AUDIT_VERDICTS. */
static struct table *add_claims(struct document *d, const struct claims *c, struct table t, enum audit_verdict verdict)
{
    struct table *out = document_table(d, t);
    for (size_t i = 0; i < c->n; i++)
        if (verdict == N_AUDIT_VERDICTS || c->items[i].verdict == verdict) {
            table_add(out, (struct claim_line[]){ line_of_claim(&c->items[i], d->arena) }, d->arena);
        }
    return out;
}

static void add_counts(struct document *d, const struct claims *c)
{
    const char *text = arena_printf(d->arena, "%zu claims;", c->n);
    json_t *counts = json_object();
    for (int v = 0; v < N_AUDIT_VERDICTS; v++) {
        size_t n = count_claims(c, (enum audit_verdict)v);
        json_object_set_new(counts, audit_verdict_names[v], json_integer((json_int_t)n));
        text = arena_printf(d->arena, "%s %s: %zu%s", text, audit_verdict_names[v], n, v + 1 < N_AUDIT_VERDICTS ? "," : "");
    }
    document_line(d, "%s", text);
    document_member(d, "claims", json_integer((json_int_t)c->n));
    document_member(d, "verdicts", counts);
}

static void add_page(struct document *d, const struct claims *c)
{
    static const enum audit_verdict order[] = { AUDIT_FAILS, AUDIT_READING, AUDIT_HOLDS, AUDIT_UNCHECKED };
    for (size_t k = 0; k < N_AUDIT_VERDICTS; k++) {
        const char *name = audit_verdict_names[order[k]];
        struct table t = TABLE(page_columns, struct claim_line, .formats = IN_MARKDOWN,
                               .title = arena_printf(d->arena, "\n## %c%s: %zu", toupper((unsigned char)*name), name + 1, count_claims(c, order[k])));
        add_claims(d, c, t, order[k]);
    }
}

void audit_document(struct document *d, const struct claims *c, bool all)
{
    document_line_for(d, IN_MARKDOWN, "# The claims of the source documents, recomputed\n\nMade by `podbench audit --format markdown`. Each row of "
        "`results/published/claims/claims.csv` names an expression over spec sheets, published figures, recipes and simulations; the verdict follows "
        "from its value. Documents are listed in `results/published/claims/documents.csv`; the number after a document is the line of its text.\n");
    add_counts(d, c);
    document_line_for(d, IN_TEXT, "%s", "");
    add_claims(d, c, TABLE(data_columns, struct claim_line, .name = "audit", .formats = IN_CSV | IN_JSON), N_AUDIT_VERDICTS);
    add_claims(d, c, TABLE(text_columns, struct claim_line, .formats = IN_TEXT), all ? N_AUDIT_VERDICTS : AUDIT_FAILS);
    add_page(d, c);
}
