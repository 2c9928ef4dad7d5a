/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * audit.c - reads, evaluates and judges claims; see check.h.
 *
 * The tolerance is a relative difference. "is" allows it in both directions, "at least" and "at most" allow it on the side that fails, and
 * "between" allows it beyond both ends. For a claimed value of 0 the tolerance is an absolute difference.
 */
#include "results/published/check.h"

#include "system-model/base/expression.h"

const char *const relation_names[N_RELATIONS + 1] = { "is", "at least", "at most", "between", NULL };
const char *const audit_verdict_names[N_AUDIT_VERDICTS] = { "holds", "holds under a stated reading", "does not hold",
                                                            "cannot be checked here" };

#define F(member, ...) FIELD_OF(struct claim, member, __VA_ARGS__)
static const struct field claim_fields[] = {
    F(id), F(kind), F(documents), FIELD_AS(struct claim, text, "claim"), F(unit), F(expression), F(reading), F(reading_expression),
    F(simulated_expression), F(note), F(value, FIELD_ANY), F(high, FIELD_ANY), F(tolerance, FIELD_ANY),
    { .name = "relation", .type = FIELD_CHOICE, .offset = offsetof(struct claim, relation), .choices = relation_names, .required = true },
};
#undef F

static bool check_claim(const struct claim *c, const char *where, struct err *err)
{
    if (!*c->id || !*c->documents || !*c->text)
        return fail(err, "%s: id, documents or claim is empty", where);
    if (!*c->expression && !*c->reading_expression && !*c->note)
        return fail(err, "%s: has neither an expression nor a note; say in the note why it cannot be checked", where);
    if (!*c->reading != !*c->reading_expression)
        return fail(err, "%s: reading and reading_expression: want both or neither", where);
    return c->relation != RELATION_BETWEEN || c->high > c->value || fail(err, "%s: high: %g is not above %g", where, c->high, c->value);
}

static bool read_claim(struct claim *c, const struct csv_table *t, const struct csv_row *row, struct arena *a, struct err *err)
{
    double *const numbers[] = { &c->value, &c->high, &c->tolerance };
    c->line = row->line;
    if (!fields_from_row(c, claim_fields, N_FIELDS(claim_fields), t, row, err))
        return false;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = isnan(*numbers[i]) ? 0 : *numbers[i];
    return check_claim(c, arena_printf(a, "%s:%u", t->path, row->line), err);
}

static bool check_claim_ids(const struct claims *c, struct arena *a, struct err *err)
{
    size_t earlier, again = first_repeated(&earlier, TEXTS_OF(c->items, c->n, struct claim, id, a), c->n);
    return again == c->n || fail(err, "%s:%u: id: '%.40s' is already in line %u", c->path, c->items[again].line, c->items[again].id,
                                 c->items[earlier].line);
}

bool claims_load(struct claims *out, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    if (!fields_load(&t, path, claim_fields, N_FIELDS(claim_fields), a, err))
        return false;
    *out = (struct claims){ ARENA_ARRAY(a, struct claim, t.n_rows), t.n_rows, path };
    for (size_t i = 0; i < t.n_rows; i++)
        if (!read_claim(&out->items[i], &t, &t.rows[i], a, err))
            return false;
    return check_claim_ids(out, a, err);
}

bool claim_meets(const struct claim *c, double found)
{
    double slack = c->tolerance * (c->value != 0 ? fabs(c->value) : 1) * (1 + 1e-12);
    switch (c->relation) {
    case RELATION_IS:       return fabs(found - c->value) <= slack;
    case RELATION_AT_LEAST: return found >= c->value - slack;
    case RELATION_AT_MOST:  return found <= c->value + slack;
    case RELATION_BETWEEN:  return found >= c->value - slack && found <= c->high + c->tolerance * fabs(c->high);
    case N_RELATIONS: break;
    }
    return false;
}

static bool find_value(struct value *out, void *values, const char *kind, const char *argument, struct err *err)
{
    *out = (struct value){ .kind = VALUE_NUMBER };
    return audit_lookup(&out->number, values, kind, argument, err);
}

static bool evaluate(double *out, bool *has, const char *text, const struct claim *c, const char *column, struct audit_values *v,
                     const char *path, struct err *err)
{
    const char *where = arena_printf(v->a, "%s:%u: %s", path, c->line, column);
    const struct expression_names names = { .lookup = find_value, .user = v };
    struct expression e;
    struct value found;
    *has = *text;
    if (!*text)
        return true;
    if (!expression_parse(&e, text, &names, where, v->a, err))
        return false;
    if (!expression_compute(&found, &e, NULL) || found.kind != VALUE_NUMBER || !isfinite(found.number))
        return fail(err, "%s: is not a finite number", where);
    *out = found.number;
    return true;
}

static enum audit_verdict claim_verdict(const struct claim *c)
{
    if (!c->has_found && !c->has_reading)
        return AUDIT_UNCHECKED;
    if (c->has_found && claim_meets(c, c->found))
        return AUDIT_HOLDS;
    return c->has_reading && claim_meets(c, c->found_as_read) ? AUDIT_READING : AUDIT_FAILS;
}

bool audit_run(struct claims *claims, struct audit_values *values, const struct watch *watch, struct err *err)
{
    for (size_t i = 0; i < claims->n; i++) {
        struct claim *c = &claims->items[i];
        if (!evaluate(&c->found, &c->has_found, c->expression, c, "expression", values, claims->path, err) ||
            !evaluate(&c->found_as_read, &c->has_reading, c->reading_expression, c, "reading_expression", values, claims->path, err) ||
            !evaluate(&c->simulated, &c->has_simulated, c->simulated_expression, c, "simulated_expression", values, claims->path, err))
            return false;
        c->verdict = claim_verdict(c);
        watch_report(watch, "", i + 1, claims->n);
    }
    return true;
}
