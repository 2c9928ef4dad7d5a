/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * audit_print.c - an audit as text, CSV, JSON and Markdown.
 */
#include "results/published/audit.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

/* "250 TFLOPS", "between 2 and 4 x" */
static void says(char *out, size_t n, const struct claim *c)
{
    char high[32] = "";
    if (c->relation == RELATION_BETWEEN)
        snprintf(high, sizeof high, " and %.6g", c->high);
    snprintf(out, n, "%s%s%.6g%s%s%s", c->relation == RELATION_IS ? "" : relation_names[c->relation], c->relation == RELATION_IS ? "" : " ",
             c->value, high, *c->unit ? " " : "", c->unit);
}

/* "124.5; read as of a card of two: 249" and what stands beside. */
static void finds(char *out, size_t n, const struct claim *c)
{
    char read[240] = "", beside[64] = "";
    if (c->has_read)
        snprintf(read, sizeof read, "%sread as %s: %.6g", c->has_found ? "; " : "", c->reading, c->read);
    if (c->has_beside)
        snprintf(beside, sizeof beside, "; simulated %.6g", c->set_beside);
    if (c->has_found)
        snprintf(out, n, "%.6g%s%s", c->found, read, beside);
    else
        snprintf(out, n, "%s%s", c->has_read ? read : c->note, beside);
}

static void print_line(FILE *f, const struct claim *c)
{
    char said[160], found[400];
    says(said, sizeof said, c);
    finds(found, sizeof found, c);
    if (c->verdict == AUDIT_UNCHECKED)
        fprintf(f, "%s  %-28s  %s: %s\n", c->id, audit_verdict_names[c->verdict], c->text, c->note);
    else
        fprintf(f, "%s  %-28s  %s: claimed %s, %s%s\n", c->id, audit_verdict_names[c->verdict], c->text, said, c->has_found ? "found " : "",
                found);
}

static size_t count(const struct claims *c, enum audit_verdict v)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += c->items[i].verdict == v;
    return n;
}

static void print_counts(FILE *f, const struct claims *c)
{
    fprintf(f, "%zu claims;", c->n);
    for (int v = 0; v < N_AUDIT_VERDICTS; v++)
        fprintf(f, " %s: %zu%s", audit_verdict_names[v], count(c, (enum audit_verdict)v), v + 1 < N_AUDIT_VERDICTS ? "," : "\n");
}

void audit_print_text(FILE *f, const struct claims *c)
{
    print_counts(f, c);
    fprintf(f, "\n");
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].verdict == AUDIT_FAILS)
            print_line(f, &c->items[i]);
}

void audit_print_all(FILE *f, const struct claims *c)
{
    print_counts(f, c);
    fprintf(f, "\n");
    for (size_t i = 0; i < c->n; i++)
        print_line(f, &c->items[i]);
}

static void number_cell(FILE *f, bool known, double value, bool last)
{
    char text[32] = "";
    if (known)
        snprintf(text, sizeof text, "%.10g", value);
    csv_write_cell(f, text, last);
}

void audit_print_csv(FILE *f, const struct claims *c)
{
    fputs("id,kind,documents,claim,relation,value,high,unit,tolerance,found,read_as,found_as_read,simulated,verdict,note\n", f);
    for (size_t i = 0; i < c->n; i++) {
        const struct claim *x = &c->items[i];
        const char *const words[] = { x->id, x->kind, x->documents, x->text, relation_names[x->relation] };
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            csv_write_cell(f, words[k], false);
        number_cell(f, true, x->value, false);
        number_cell(f, x->relation == RELATION_BETWEEN, x->high, false);
        csv_write_cell(f, x->unit, false);
        number_cell(f, true, x->tolerance, false);
        number_cell(f, x->has_found, x->found, false);
        csv_write_cell(f, x->reading, false);
        number_cell(f, x->has_read, x->read, false);
        number_cell(f, x->has_beside, x->set_beside, false);
        csv_write_cell(f, audit_verdict_names[x->verdict], false);
        csv_write_cell(f, x->note, true);
    }
}

static json_t *number_json(bool known, double value)
{
    return known ? json_real(value) : json_null();
}

static json_t *claim_json(const struct claim *c)
{
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:f}", "id", c->id, "kind", c->kind, "documents", c->documents, "claim", c->text,
                          "relation", relation_names[c->relation], "value", c->value);
    json_object_set_new(o, "high", number_json(c->relation == RELATION_BETWEEN, c->high));
    json_object_set_new(o, "unit", json_string(c->unit));
    json_object_set_new(o, "tolerance", json_real(c->tolerance));
    json_object_set_new(o, "expression", json_string(c->expression));
    json_object_set_new(o, "found", number_json(c->has_found, c->found));
    json_object_set_new(o, "reading", json_string(c->reading));
    json_object_set_new(o, "reading_expression", json_string(c->reading_expression));
    json_object_set_new(o, "found_as_read", number_json(c->has_read, c->read));
    json_object_set_new(o, "simulated", number_json(c->has_beside, c->set_beside));
    json_object_set_new(o, "verdict", json_string(audit_verdict_names[c->verdict]));
    json_object_set_new(o, "note", json_string(c->note));
    return o;
}

json_t *audit_json(const struct claims *c)
{
    json_t *counts = json_object(), *all = json_array();
    for (int v = 0; v < N_AUDIT_VERDICTS; v++)
        json_object_set_new(counts, audit_verdict_names[v], json_integer((json_int_t)count(c, (enum audit_verdict)v)));
    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(all, claim_json(&c->items[i]));
    return json_pack("{s:I, s:o, s:o}", "claims", (json_int_t)c->n, "verdicts", counts, "audit", all);
}

/* ---- Markdown ------------------------------------------------------------------------------------------ */

/* In a table a bar would end the cell. */
static void markdown_text(FILE *f, const char *text)
{
    for (; *text; text++)
        fprintf(f, *text == '|' ? "\\%c" : "%c", *text);
}

static void markdown_code(FILE *f, const char *text)
{
    if (*text) {
        fputc('`', f);
        markdown_text(f, text);
        fputc('`', f);
    }
}

static void markdown_row(FILE *f, const struct claim *c)
{
    char said[160], found[400];
    says(said, sizeof said, c);
    finds(found, sizeof found, c);
    fprintf(f, "| %s | ", c->id);
    markdown_text(f, c->text);
    fprintf(f, " | %s | ", c->documents);
    markdown_text(f, c->verdict == AUDIT_UNCHECKED ? "" : said);
    fputs(" | ", f);
    markdown_text(f, found);
    fputs(" | ", f);
    markdown_code(f, c->expression);
    if (*c->expression && *c->reading_expression)
        fputs("; ", f);
    markdown_code(f, c->reading_expression);
    fputs(" |\n", f);
}

void audit_print_markdown(FILE *f, const struct claims *c)
{
    static const enum audit_verdict order[] = { AUDIT_FAILS, AUDIT_READING, AUDIT_HOLDS, AUDIT_UNCHECKED };
    fputs("# The claims of the source documents, recomputed\n\nMade by `podbench audit --format markdown`. Each row of "
          "`results/published/claims/claims.csv` names an expression over spec sheets, published figures, recipes and simulations; the "
          "verdict follows from its value. Documents are listed in `results/published/claims/documents.csv`; the number behind a document "
          "is the line of its text.\n\n", f);
    print_counts(f, c);
    for (size_t k = 0; k < N_AUDIT_VERDICTS; k++) {
        const char *name = audit_verdict_names[order[k]];
        fprintf(f, "\n## %c%s: %zu\n\n| claim | what it says | where | claimed | found | by |\n|---|---|---|---|---|---|\n", toupper((unsigned char)*name), name + 1, count(c, order[k]));
        for (size_t i = 0; i < c->n; i++)
            if (c->items[i].verdict == order[k])
                markdown_row(f, &c->items[i]);
    }
}
