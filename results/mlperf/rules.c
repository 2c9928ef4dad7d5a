/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rules.c - loads the tables of rules and of the names of weights; see rules.h.
 */
#include "results/mlperf/rules.h"

#include <unistd.h>

#include "results/mlperf/mllog.h"

/* ---- names of weights ------------------------------------------------------------------------------------ */

void name_list_add(struct name_list *l, const char *name, struct arena *a)
{
    ARENA_APPEND(a, l->names, l->n, l->cap, arena_strdup(a, name));
}

bool name_list_has(const struct name_list *l, const char *name)
{
    return find_text(l->names, l->n, sizeof *l->names, 0, name);
}

bool tensor_lists_load(struct tensor_lists *out, const char *path, struct arena *a, struct err *err)
{
    struct csv_table t;
    size_t names, list;
    if (!csv_load(&t, path, a, err) || !csv_column(&names, &t, "names", err) || !csv_column(&list, &t, "list", err))
        return false;
    *out = (struct tensor_lists){ ARENA_ROOM(a, const char *, t.n_rows), ARENA_ARRAY(a, struct name_list, t.n_rows), t.n_rows };
    for (size_t i = 0; i < t.n_rows; i++) {
        const char *rest = t.rows[i].cells[list];
        out->names[i] = t.rows[i].cells[names];
        for (const char *name; (name = text_item(&rest, ' ', a)); )
            name_list_add(&out->lists[i], name, a);
        sort_items(out->lists[i].names, out->lists[i].n, sizeof *out->lists[i].names, compare_texts);
    }
    return true;
}

const struct name_list *tensor_lists_find(const struct tensor_lists *t, const char *name)
{
    const char *const *found = find_text(t->names, t->n, sizeof *t->names, 0, name);
    return found ? &t->lists[found - t->names] : NULL;
}

/* ---- values -------------------------------------------------------------------------------------------- */

static bool json_member(struct value *out, const void *object, const char *name)
{
    const json_t *v = json_object_get(object, name);
    *out = value_of_json(v);
    return v != NULL;
}

static bool json_item(struct value *out, const void *object, size_t index)
{
    const json_t *v = json_array_get(object, index);
    *out = value_of_json(v);
    return v != NULL;
}

static size_t json_count(const void *object)
{
    return json_array_size(object) + json_object_size(object);
}

static bool json_items_equal(const void *x, const void *y)
{
    const json_t *a = x, *b = y;
    if (json_is_array(a) != json_is_array(b) || json_is_object(a))
        return json_equal(a, b);
    bool equal = json_array_size(a) == json_array_size(b);
    for (size_t i = 0; equal && i < json_array_size(a); i++) {
        struct value one = value_of_json(json_array_get(a, i)), other = value_of_json(json_array_get(b, i));
        equal = values_equal(&one, &other);
    }
    return equal;
}

static const struct value_type json_values = { json_member, json_item, json_count, json_items_equal };

struct value value_of_json(const json_t *v)
{
    double x;
    if (json_is_boolean(v))
        return (struct value){ .kind = VALUE_BOOL, .number = json_is_true(v) };
    if (mllog_number(v, &x))
        return (struct value){ .kind = VALUE_NUMBER, .number = x, .is_whole = json_is_integer(v) };
    if (json_is_string(v))
        return (struct value){ .kind = VALUE_TEXT, .text = json_string_value(v) };
    if (json_is_array(v) || json_is_object(v))
        return (struct value){ .kind = VALUE_OBJECT, .type = &json_values, .object = v };
    return (struct value){ .kind = v ? VALUE_NULL : VALUE_NONE };
}

static size_t names_count(const void *object)
{
    return ((const struct name_list *)object)->n;
}

/* True if both lists have the same names. The second list comes from a table and is sorted. */
static bool names_equal(const void *a, const void *b)
{
    const struct name_list *list = a, *sorted = b;
    bool equal = list->n == sorted->n;
    sort_items(list->names, list->n, sizeof *list->names, compare_texts);
    for (size_t i = 0; equal && i < list->n; i++)
        equal = text_is(list->names[i], sorted->names[i]);
    return equal;
}

static const struct value_type names_type = { .count = names_count, .equal = names_equal };

struct value value_of_names(const struct name_list *names)
{
    return (struct value){ .kind = VALUE_OBJECT, .type = &names_type, .object = names };
}

const struct name_list *value_names(const struct value *v)
{
    return v->kind == VALUE_OBJECT && v->type == &names_type ? v->object : NULL;
}

/* ---- state ------------------------------------------------------------------------------------------------ */

struct value *rule_state_find(struct rule_state *st, const char *name)
{
    for (size_t i = 0; i < st->n; i++)
        if (text_is(st->items[i].name, name))
            return &st->items[i].value;
    return NULL;
}

bool rule_state_set(struct rule_state *st, const char *name, const struct value *v)
{
    struct value *old = rule_state_find(st, name);
    if (!old) {
        if (st->n == sizeof st->items / sizeof *st->items)
            return false;
        st->items[st->n].name = name;
        old = &st->items[st->n++].value;
    }
    *old = *v;
    return true;
}

static bool state_member(struct value *out, const void *object, const char *name)
{
    const struct value *found = rule_state_find((struct rule_state *)object, name);
    *out = found ? *found : (struct value){ .kind = VALUE_NONE };
    return found;
}

static const struct value_type state_type = { .member = state_member };

const char *const rule_variables[N_RULE_VARIABLES + 1] = { "v", "m", "st", "t_ms", NULL };

struct rule_scope rule_scope_of(const json_t *v, const json_t *m, double t_ms, struct rule_state *st)
{
    struct rule_scope s = { { value_of_json(v), value_of_json(m), { .kind = st ? VALUE_OBJECT : VALUE_NONE, .type = &state_type, .object = st },
                              { .kind = VALUE_NUMBER, .number = t_ms } } };
    return s;
}

/* ---- rows of rules.csv ------------------------------------------------------------------------------------ */

struct rule_loader { const char *where; struct expression_names names; struct arena *a; struct err *err; };

/* ---- parts of a row ------------------------------------------------------------------------------- */

/* The next part of a list, without surrounding spaces, or NULL at the end; *rest advances. */
static char *next_rule_part(char **rest, const char *separator)
{
    char *part = *rest, *end;
    if (!part || !*part)
        return NULL;
    end = strstr(part, separator);
    *rest = end ? end + strlen(separator) : part + strlen(part);
    if (!end)
        end = part + strlen(part);
    while (*part == ' ')
        part++;
    while (end > part && end[-1] == ' ')
        end--;
    *end = 0;
    return part;
}

static bool parse_expression(struct expression *out, const char *text, const struct rule_loader *d)
{
    return expression_parse(out, text, &d->names, d->where, d->a, d->err);
}

static bool parse_group(struct rule *r, const char *names, const struct rule_loader *d)
{
    char *rest = arena_strdup(d->a, names), *name;
    r->occurs = OCCURS_ANY_OF;
    while ((name = next_rule_part(&rest, " "))) {
        if (r->n_of == MOST_OF)
            return fail(d->err, "%s: occurs: more than %d keys in a group", d->where, MOST_OF);
        r->any_of[r->n_of++] = name;
    }
    return true;
}

static bool parse_occurs(struct rule *r, const char *cell, const struct rule_loader *d)
{
    static const char *const words[] = { [OCCURS_FREE] = "", [OCCURS_ONCE] = "1", [OCCURS_BEGIN] = "begin", [OCCURS_END] = "end" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i] && text_is(cell, words[i])) {
            r->occurs = (enum rule_occurs)i;
            return true;
        }
    if (!strncmp(cell, "1+ of ", 6))
        return parse_group(r, cell + 6, d);
    r->occurs = OCCURS_TIMES;
    size_t n = strlen(cell);
    return (n > 1 && cell[n - 1] == '+' && parse_u64(arena_printf(d->a, "%.*s", (int)n - 1, cell), &r->at_least))
        || fail(d->err, "%s: occurs: '%s', want nothing, 1, N+, 1+ of KEY KEY, begin or end", d->where, cell);
}

/* Parses the conditions of a rule. `texts` has their sentences with the same separators, or is "". */
static bool parse_checks(struct rule *r, const char *cell, const char *texts, const struct rule_loader *d)
{
    char *rest = arena_strdup(d->a, cell), *rest_texts = arena_strdup(d->a, texts), *part;
    while ((part = next_rule_part(&rest, ";;"))) {
        if (r->n_checks == MOST_CHECKS)
            return fail(d->err, "%s: check: more than %d parts", d->where, MOST_CHECKS);
        struct rule_check *c = &r->checks[r->n_checks++];
        c->text = next_rule_part(&rest_texts, ";;");
        if (*texts && !c->text)
            return fail(d->err, "%s: check_text: a sentence is missing for '%.60s'", d->where, part);
        if (!c->text)
            c->text = "";
        if (!parse_expression(&c->condition, part, d))
            return false;
    }
    return !next_rule_part(&rest_texts, ";;") || fail(d->err, "%s: check_text: more sentences than conditions", d->where);
}

/* ---- actions -------------------------------------------------------------------------------------------- */

static bool parse_apply(struct action *out, char *text, const struct rule_loader *d)
{
    char *rest = text, *name = next_rule_part(&rest, " for "), *value = next_rule_part(&rest, ";");
    size_t n = strlen(name), m = value ? strlen(value) : 2;
    if (n < 2 || name[0] != '"' || name[n - 1] != '"' || m < 2 || (value && (value[0] != '"' || value[m - 1] != '"')))
        return fail(d->err, "%s: action: apply %s, want apply \"LAYER\", or apply \"LAYER\" for \"VALUE\"", d->where, text);
    name[n - 1] = 0;
    if (value)
        value[m - 1] = 0;
    *out = (struct action){ .kind = ACTION_APPLY, .name = name + 1, .member = value ? value + 1 : NULL };
    return true;
}

static bool parse_gather(struct action *out, char *text, const struct rule_loader *d)
{
    char *rest = text;
    out->kind = ACTION_GATHER;
    out->key = next_rule_part(&rest, " into ");
    out->name = next_rule_part(&rest, " by ");
    out->member = next_rule_part(&rest, " ");
    return out->member || fail(d->err, "%s: action: want gather KEY into KEY by MEMBER", d->where);
}

static bool parse_append(struct action *out, char *text, const struct rule_loader *d)
{
    char *rest = text, *value = next_rule_part(&rest, " to st.");
    out->kind = ACTION_APPEND;
    out->name = next_rule_part(&rest, " ");
    return out->name ? parse_expression(&out->value, value, d) : fail(d->err, "%s: action: want append VALUE to st.NAME", d->where);
}

static bool parse_set(struct action *out, char *text, const struct rule_loader *d)
{
    char *rest = text, *name = next_rule_part(&rest, ":="), *value = next_rule_part(&rest, ";");
    if (!value || strncmp(name, "st.", 3))
        return fail(d->err, "%s: action: '%.60s', want st.NAME:=VALUE, append, apply or gather", d->where, text);
    *out = (struct action){ .kind = text_is(value, "[]") ? ACTION_NEW_NAMES : ACTION_SET, .name = name + 3 };
    return out->kind == ACTION_NEW_NAMES || parse_expression(&out->value, value, d);
}

static bool parse_action(struct action *out, char *text, const struct rule_loader *d)
{
    static const struct { const char *word; bool (*parse)(struct action *, char *, const struct rule_loader *); } kinds[] = {
        { "apply ", parse_apply }, { "gather ", parse_gather }, { "append ", parse_append }, { "", parse_set },
    };
    for (size_t i = 0; ; i++) {
        size_t n = strlen(kinds[i].word);
        if (!strncmp(text, kinds[i].word, n))
            return kinds[i].parse(out, text + n, d);
    }
}

static bool parse_actions(struct rule *r, const char *cell, const struct rule_loader *d)
{
    char *rest = arena_strdup(d->a, cell), *part;
    while ((part = next_rule_part(&rest, ";"))) {
        if (r->n_actions == MOST_ACTIONS)
            return fail(d->err, "%s: action: more than %d parts", d->where, MOST_ACTIONS);
        if (!parse_action(&r->actions[r->n_actions++], part, d))
            return false;
    }
    return true;
}

/* ---- a row -------------------------------------------------------------------------------------------------- */

static bool parse_rule(struct rule *r, const struct csv_table *t, const struct csv_row *row, const struct rule_loader *d)
{
    const char *severity = csv_cell(t, row, "severity"), *occurs = csv_cell(t, row, "occurs"), *once = csv_cell(t, row, "once");
    *r = (struct rule){ .layer = csv_cell(t, row, "layer"), .key = csv_cell(t, row, "key"), .source = csv_cell(t, row, "source"),
                        .only_warns = text_is(severity, "warning"), .absent_warns = text_is(severity, "absent: warning"),
                        .only_reviews = text_is(severity, "review") };
    if (!r->only_warns && !r->absent_warns && !r->only_reviews && !text_is(severity, "error"))
        return fail(d->err, "%s: severity: '%s', want one of: 'error', 'warning', 'absent: warning', 'review'", d->where, severity);
    if (r->only_reviews != (strstr(r->layer, LAYER_REVIEW) != NULL))
        return fail(d->err, "%s: layer: '%s' has severity '%s'; rules of severity review, and no others, belong to a layer NAME%s", d->where, r->layer, severity, LAYER_REVIEW);
    if (!parse_occurs(r, occurs, d) || !parse_checks(r, csv_cell(t, row, "check"), csv_cell(t, row, "check_text"), d)
        || !parse_actions(r, csv_cell(t, row, "action"), d) || (*once && !parse_expression(&r->once.condition, once, d)))
        return false;
    r->once.text = *once ? csv_cell(t, row, "once_text") : NULL;
    bool keyless = r->occurs == OCCURS_BEGIN || r->occurs == OCCURS_END;
    if (keyless != !*r->key)
        return fail(d->err, "%s: key: '%s' does not go with occurs '%s': rows of begin and end have no key, all others have one", d->where, r->key, occurs);
    return *r->source || fail(d->err, "%s: source is empty", d->where);
}

static void note_apply_key(struct rule_book *b, const struct rule *r, struct arena *a)
{
    for (size_t i = 0; i < r->n_actions; i++)
        if (r->actions[i].kind == ACTION_APPLY && !name_list_has(&b->apply_keys, r->key))
            name_list_add(&b->apply_keys, r->key, a);
}

/* Finds names[TABLE], the names of weights that tensors.csv lists under TABLE. */
static bool find_tensors(struct value *out, void *user, const char *kind, const char *name, struct err *err)
{
    const struct name_list *found = tensor_lists_find(user, name);
    if (!text_is(kind, "names") || !found)
        return fail(err, "want names[TABLE], where TABLE is in tensors.csv");
    *out = value_of_names(found);
    return true;
}

static bool load_rules(struct rule_book *b, const char *path, struct arena *a, struct err *err)
{
    static const char *const columns[] = { "layer", "key", "occurs", "check", "once", "action", "severity", "source", NULL };
    struct csv_table t;
    struct rule_loader d = { NULL, { rule_variables, find_tensors, &b->tensors }, a, err };
    if (!csv_load(&t, path, a, err) || !csv_has_columns(&t, columns, err))
        return false;
    b->rules = ARENA_ROOM(a, struct rule, t.n_rows);
    for (size_t i = 0; i < t.n_rows; i++) {
        d.where = arena_printf(a, "%s:%u", t.path, t.rows[i].line);
        if (!parse_rule(&b->rules[b->n_rules++], &t, &t.rows[i], &d))
            return false;
        note_apply_key(b, &b->rules[i], a);
    }
    return true;
}

/* ---- books ------------------------------------------------------------------------------------------------------ */

static size_t count_layer(const struct rule_book *b, const char *layer)
{
    size_t n = 0;
    for (size_t i = 0; i < b->n_rules; i++)
        n += text_is(b->rules[i].layer, layer);
    return n;
}

static struct rule_layer *book_layer(struct rule_book *b, const char *name, struct arena *a)
{
    const struct rule_layer *found = rule_layer_find(b, name);
    if (found)
        return &b->layers[found - b->layers];
    struct rule_layer *l = &b->layers[b->n_layers++];
    size_t most = count_layer(b, name);
    *l = (struct rule_layer){ .name = name, .begins = ARENA_ROOM(a, const struct rule *, most),
        .ends = ARENA_ROOM(a, const struct rule *, most), .rules = ARENA_ROOM(a, const struct rule *, most) };
    return l;
}

static int by_rule_key(const void *x, const void *y)
{
    const struct rule *a = *(const struct rule *const *)x, *b = *(const struct rule *const *)y;
    return strcmp(a->key, b->key);
}

static void book_fill_layers(struct rule_book *b, struct arena *a)
{
    b->layers = ARENA_ROOM(a, struct rule_layer, b->n_rules);
    for (size_t i = 0; i < b->n_rules; i++) {
        const struct rule *r = &b->rules[i];
        struct rule_layer *layer = book_layer(b, r->layer, a);
        layer->reviews = r->only_reviews;
        if (r->occurs == OCCURS_BEGIN)
            layer->begins[layer->n_begins++] = r;
        else if (r->occurs == OCCURS_END)
            layer->ends[layer->n_ends++] = r;
        else
            layer->rules[layer->n_rules++] = r;
    }
    for (size_t i = 0; i < b->n_layers; i++)
        sort_items(b->layers[i].rules, b->layers[i].n_rules, sizeof *b->layers[i].rules, by_rule_key);
}

static bool check_keys(const struct rule_book *b, const char *path, struct err *err)
{
    for (size_t i = 0; i < b->n_layers; i++)
        for (size_t k = 1; k < b->layers[i].n_rules; k++)
            if (text_is(b->layers[i].rules[k - 1]->key, b->layers[i].rules[k]->key))
                return fail(err, "%s: layer %s: key '%s' appears twice", path, b->layers[i].name, b->layers[i].rules[k]->key);
    return b->n_layers > 0 || fail(err, "%s: no rules", path);
}

bool rules_of(const struct rule_book **out, struct rule_library *l, const struct edition *e, struct err *err)
{
    for (size_t i = 0; i < l->n_books; i++)
        if (l->books[i]->edition == e) {
            *out = l->books[i];
            return true;
        }
    struct rule_book *b = ARENA_NEW(l->a, struct rule_book);
    const char *path = round_file(l->rounds, e, "rules.csv", l->a), *tensors = round_file(l->rounds, e, "tensors.csv", l->a);
    b->edition = e;
    if (access(tensors, F_OK) == 0 && !tensor_lists_load(&b->tensors, tensors, l->a, err))
        return false;
    if (!load_rules(b, path, l->a, err))
        return false;
    book_fill_layers(b, l->a);
    if (!check_keys(b, path, err))
        return false;
    l->books = arena_grow(l->a, l->books, l->n_books, &l->cap_books, sizeof *l->books);
    *out = l->books[l->n_books++] = b;
    return true;
}

bool rules_of_round(const struct rule_book **out, struct rule_library *l, const char *round, struct err *err)
{
    const struct edition *e = edition_find(l->rounds, round);
    return e ? rules_of(out, l, e, err) : edition_unknown(l->rounds, round, err);
}

bool rules_load(struct rule_library *out, const char *data_dir, struct arena *a, struct err *err)
{
    struct round_table *rounds = ARENA_NEW(a, struct round_table);
    *out = (struct rule_library){ .a = a, .rounds = rounds };
    return round_table_load(rounds, data_dir, a, err);
}

const struct rule_layer *rule_layer_find(const struct rule_book *b, const char *name)
{
    return FIND_TEXT(b->layers, b->n_layers, struct rule_layer, name, name);
}

const struct rule *rule_find(const struct rule_layer *l, const char *key, size_t *index)
{
    const struct rule wanted = { .key = key }, *by_key = &wanted;
    const struct rule **found = l->n_rules ? bsearch(&by_key, l->rules, l->n_rules, sizeof *l->rules, by_rule_key) : NULL;
    if (found)
        *index = (size_t)(found - l->rules);
    return found ? *found : NULL;
}

const char *rule_wants(const struct rule_check *c, const char *here, const struct rule *r, const struct edition *edition, struct arena *a)
{
    return arena_printf(a, "%s%s%s (%s %s)", *c->text ? "" : "must fulfil ", *c->text ? c->text : c->condition.text, here, edition->ruleset, r->layer);
}
