/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * infer.c - the nodes that count, the sizes of a model's inputs, and from them the shapes of all its values.
 *
 * Nodes count that lead to the outputs, or to the values that the recipe stops at. Others are neither shaped nor
 * refused: what a detector does with its boxes, say. A body of an If or a Loop may read any value made before it, so
 * all nodes before one that counts do too.
 *
 * A dimension called batch (batch_size, bs, N) is the batch, wherever it is; without one, the first dimension of an
 * input is, if it has a name or the size of the first input's. If the file fixes the batch, a reshape to that size
 * means the recipe's; data.batch=0 says that there is none. The options give sizes to symbolic dimensions by name, the batch included, and numbers to values
 * of one element. A model has no batch, and runs one sample, if its first input has a fixed size first and names after
 * it ([3, height, width]), or meets a constant with a number for each of its first dimension (a mean for each
 * channel). A name may be a sum of products of others ("past_sequence + sequence", "2*s0"), which exporters write for
 * decoders with a cache.
 */
#include "workloads/onnx/onnx_fold.h"
#include "workloads/onnx/onnx_passes.h"
#include "workloads/onnx/onnx_shapes.h"

/* Names such as "boxes,scores" replace the file's own outputs. */
static bool stop_at(struct onnx_model *m, const char *names, struct err *err)
{
    size_t n = 0, cap = 0;
    uint32_t *outputs = NULL;
    const char **own = ARENA_ARRAY(m->arena, const char *, m->n_outputs);
    for (size_t i = 0; i < m->n_outputs; i++) {
        own[i] = m->values[m->outputs[i]].name;
        m->values[m->outputs[i]].output = false;
    }
    for (char *rest = arena_strdup(m->arena, names), *name; (name = strsep(&rest, ",")); ) {
        uint32_t id = onnx_value(m, name);
        if (m->values[id].producer == NO_ID)
            return fail(err, "%s: recipe.output: no node makes '%.80s'; take the name of a node's output; the file's own outputs are %s",
                        m->path, name, names_list(own, m->n_outputs, m->arena));
        m->values[id].output = true;
        ARENA_APPEND(m->arena, outputs, n, cap, id);
    }
    m->outputs = outputs;
    m->n_outputs = n;
    return true;
}

bool onnx_reach(struct onnx_model *m, const struct onnx_options *o, struct err *err)
{
    if (o->output && !stop_at(m, o->output, err))
        return false;
    bool all_trained = onnx_metadata(m->file->metadata_props, m->file->n_metadata_props, ONNX_LOSS_KEY) != NULL;
    m->n_wanted = o->inference || o->output || all_trained ? m->n_outputs : 1;
    bool *wanted = ARENA_ARRAY(m->arena, bool, m->n_values), all = false;
    for (size_t i = 0; i < m->n_wanted; i++)
        wanted[m->outputs[i]] = true;
    for (size_t i = m->n_nodes; i-- > 0; ) {
        const struct onnx_node *n = &m->nodes[i];
        bool any = all;
        for (uint32_t k = 0; k < n->n_outputs; k++)
            any |= n->outputs[k] != NO_ID && wanted[n->outputs[k]];
        all |= any && !n->gone && onnx_has(n, ONNX_HAS_BODY);
        for (uint32_t k = 0; k < n->n_inputs && any; k++)
            if (n->inputs[k] != NO_ID)
                wanted[n->inputs[k]] = true;
        if (!any)
            onnx_retire(m, i, NULL);
    }
    return true;
}

/* ---- sizes of inputs --------------------------------------------------------------------------------- */

/* The next operand of a dimension's name, and the sign after it; NULL if no more. */
static const char *next_operand(const char **at, char *sign, struct arena *a)
{
    *at += strspn(*at, " ");
    size_t n = strcspn(*at, "+*"), end = n;
    if (**at == '\0')
        return NULL;
    while (end && (*at)[end - 1] == ' ')
        end--;
    const char *part = arena_printf(a, "%.*s", (int)end, *at);
    *sign = (*at)[n];
    *at += n + (*sign != '\0');
    return part;
}

struct names { const char **at; size_t n, cap; };

static void add_dimension_name(struct names *names, const char *name, struct arena *a)
{
    uint64_t number;
    bool seen = parse_u64(name, &number);
    for (size_t k = 0; k < names->n && !seen; k++)
        seen = text_is(names->at[k], name);
    if (seen)
        return;
    ARENA_APPEND(a, names->at, names->n, names->cap, name);
}

/* Names of symbolic dimensions, and of the operands in them. */
static struct names symbolic_names(const struct onnx_model *m)
{
    struct names names = { 0 };
    for (size_t i = 0; i < m->n_inputs; i++)
        for (uint32_t d = 0; d < m->values[m->inputs[i]].n_dims; d++) {
            const char *at = m->values[m->inputs[i]].dim_names[d], *part;
            char sign;
            if (at)
                add_dimension_name(&names, at, m->arena);
            while (at && (part = next_operand(&at, &sign, m->arena)))
                add_dimension_name(&names, part, m->arena);
        }
    return names;
}

/* True if the options may use this name. Until all shapes are known (whole), any value may prove to be one number, and values of a branch
 * ("0/...") do not exist yet. */
static bool is_name_of(const struct onnx_model *m, const struct names *names, const char *name, bool whole)
{
    bool found = !whole && name[strspn(name, "0123456789")] == '/' && *name != '/';
    for (size_t k = 0; k < names->n && !found; k++)
        found = text_is(names->at[k], name);
    for (size_t i = 0; i < m->n_values && !found; i++)
        found = text_is(m->values[i].name, name) && (whole ? m->values[i].given : !m->values[i].constant);
    return found;
}

static bool says_no_batch(const struct onnx_options *o)
{
    bool found = false;
    for (size_t i = 0; i < o->n_dimensions; i++)
        found |= text_is(o->dimensions[i].name, "batch") && o->dimensions[i].size == 0;
    return found;
}

static bool check_dimension_names(const struct onnx_model *m, const struct onnx_options *o, bool whole, struct err *err)
{
    struct names names = symbolic_names(m);
    for (size_t i = 0; i < o->n_dimensions; i++) {
        const char *name = o->dimensions[i].name;
        if (!(says_no_batch(o) && text_is(name, "batch")) && !is_name_of(m, &names, name, whole))
            return fail(err, "%s: data.%s: the model has no symbolic dimension of this name; %s%s", m->path, name,
                        names.n ? "its dimensions: " : "it has none", names.n ? names_list(names.at, names.n, m->arena) : "");
    }
    return true;
}

/* True for a constant [n, 1, 1] that is combined with a value [n, ...]. */
static bool is_column_for(const struct onnx_value *v, const struct onnx_value *of)
{
    uint64_t all = 1;
    for (size_t d = 0; v->data && d < v->data->n_dims; d++)
        all *= (uint64_t)v->data->dims[d];
    return v->data && v->data->n_dims == of->n_dims && of->dims[0] > 1 && all == of->dims[0] && (uint64_t)v->data->dims[0] == all;
}

/* True if the input is normalised with one number for each index of its first dimension, which is then that of the channels. */
static bool has_channels_first(const struct onnx_model *m, uint32_t input)
{
    for (const struct onnx_node *n = m->nodes, *end = m->nodes + m->n_nodes; n < end; n++)
        if (onnx_has(n, ONNX_ARITHMETIC) && n->n_inputs == 2 && n->inputs[0] == input && n->inputs[1] != NO_ID &&
            is_column_for(&m->values[n->inputs[1]], &m->values[input]))
            return true;
    return false;
}

/* The batch that the file fixes; 0 if none. */
static uint64_t batch_in_file(const struct onnx_model *m, uint32_t input)
{
    const struct onnx_value *v = &m->values[input];
    bool names = false;
    for (uint32_t d = 1; d < v->n_dims; d++)
        names |= v->dim_names[d] != NULL;
    return m->lacks_batch || v->n_dims == 0 || (names && v->dims[0] > 1) || has_channels_first(m, input) ? 0 : v->dims[0];
}

/* The options may give a value of one number by its name: an input that selects a branch (a sampling rate), or a
 * condition that depends on data. Its contents are known from here on. */
static bool take_given(struct onnx_value *v, const struct onnx_model *m, const struct onnx_options *o, struct err *err)
{
    for (size_t i = 0; i < o->n_dimensions; i++) {
        if (!text_is(o->dimensions[i].name, v->name) || v->bounded)
            continue;
        if (onnx_elements(v) != 1)
            return fail(err, "%s: data.%.80s: a value of %ju numbers, want one number, or a dimension", m->path, v->name,
                        (uintmax_t)onnx_elements(v));
        if (v->known && v->known[0] != (double)o->dimensions[i].size)
            return fail(err, "%s: data.%.80s: the model has %g there already", m->path, v->name, v->known[0]);
        v->known = ARENA_ARRAY(m->arena, double, 1);
        v->known[0] = (double)o->dimensions[i].size;
        v->given = true;
    }
    return true;
}

static bool has_batch_name(const struct onnx_model *m, const struct onnx_value *v, uint32_t d)
{
    return v->dim_names[d] && m->batch_name && text_is(v->dim_names[d], m->batch_name);
}

/* True for the dimension with the batch's name. If no dimension has it, the first one is the batch, if it has another name or the size that the
 * file fixes. */
static bool is_batch(const struct onnx_model *m, const struct onnx_value *v, uint32_t d)
{
    bool elsewhere = m->lacks_batch;
    for (uint32_t k = 1; k < v->n_dims; k++)
        elsewhere |= has_batch_name(m, v, k);
    return has_batch_name(m, v, d) || (d == 0 && !elsewhere && (v->dim_names[0] || v->dims[0] == m->file_batch));
}

/* A dimension called batch, wherever it is; without one, the first of the first input. */
static const char *find_batch_name(const struct onnx_model *m)
{
    static const char *const names[] = { "batch", "batch_size", "bs", "N" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (size_t i = 0; i < m->n_inputs; i++)
            for (uint32_t d = 0; d < m->values[m->inputs[i]].n_dims; d++)
                if (m->values[m->inputs[i]].dim_names[d] && text_is(m->values[m->inputs[i]].dim_names[d], names[k]))
                    return names[k];
    return m->n_inputs && m->values[m->inputs[0]].n_dims ? m->values[m->inputs[0]].dim_names[0] : NULL;
}

/* True if one input has the name twice, as in [nodes, nodes]. The name is then a size of the model, which has no batch. */
static bool is_squared(const struct onnx_model *m, const char *name)
{
    bool found = false;
    for (size_t i = 0; name && i < m->n_inputs; i++) {
        const struct onnx_value *v = &m->values[m->inputs[i]];
        uint32_t n = 0;
        for (uint32_t d = 0; d < v->n_dims; d++)
            n += v->dim_names[d] && text_is(v->dim_names[d], name);
        found |= n > 1;
    }
    return found;
}

static void settle_batch_name(struct onnx_model *m, bool none)
{
    const char *name = find_batch_name(m);
    m->lacks_batch = none || is_squared(m, name);
    m->batch_name = m->lacks_batch ? NULL : name;
}

/* The size that the options give to a name; 0 if none. */
static uint64_t given_size(const struct onnx_model *m, const struct onnx_options *o, const char *name)
{
    uint64_t size = 0;
    for (size_t i = 0; i < o->n_dimensions; i++)
        if (text_is(o->dimensions[i].name, name))
            size = o->dimensions[i].size;
    return size || !m->batch_name || !text_is(m->batch_name, name) ? size : o->batch;
}

/* The size of a name, or of a sum of products of names and numbers; 0: *unknown is the first operand without a size. */
static uint64_t size_of_name(const struct onnx_model *m, const struct onnx_options *o, const char *name, const char **unknown)
{
    uint64_t sum = 0, product = 1, size = given_size(m, o, name);
    const char *at = name, *part;
    char sign = '\0';
    *unknown = name;
    if (size)
        return size;
    while ((part = next_operand(&at, &sign, m->arena))) {
        if (!parse_u64(part, &size))
            size = given_size(m, o, part);
        *unknown = part;
        if (!size || size > UINT32_MAX || product > UINT32_MAX || sum > UINT32_MAX)
            return 0;
        product *= size;
        if (sign == '*')
            continue;
        sum += product;
        product = 1;
    }
    return sign ? 0 : sum;              /* a trailing sign is malformed */
}

static bool settle_input(struct onnx_model *m, struct onnx_value *v, const struct onnx_options *o, struct err *err)
{
    if (!v->shaped)
        return fail(err, "%s: input %.80s has no shape; export the model with shapes", m->path, v->name);
    if (v->type == ONNX_STRING)
        return fail(err, "%s: input %.80s holds strings; export the model without the nodes that read them", m->path, v->name);
    for (uint32_t d = 0; d < v->n_dims; d++) {
        const char *name = v->dim_names[d], *unknown = name;
        uint64_t size = name ? size_of_name(m, o, name, &unknown) : 0;
        bool batch = is_batch(m, v, d), sized = size && (!batch || given_size(m, o, name));
        m->has_batch |= batch && (!sized || (m->batch_name && text_is(name, m->batch_name) && size == o->batch));
        if (batch || sized)
            v->dims[d] = sized ? size : o->batch;
        if (v->dims[d] == 0)
            return fail(err, "%s: input %.60s: the size of its dimension '%.60s' is not known; give it: --set data.%.60s=128", m->path,
                        v->name, name, unknown);
    }
    if (!onnx_has_size(v->n_dims, v->dims))
        return fail(err, "%s: input %.80s has more than 2^40 elements; are the symbolic dimensions meant?", m->path, v->name);
    return take_given(v, m, o, err);
}

/* ---- shapes of nodes --------------------------------------------------------------------------------- */

/* Takes the shape that the file states or, without one, the shape of the first input. */
static void guess_shape(const struct onnx_model *m, struct onnx_value *out, const struct onnx_value *x)
{
    if (!out->shaped) {
        out->type = x->type;
        out->n_dims = x->n_dims;
        memcpy(out->dims, x->dims, sizeof out->dims);
    }
    out->shaped = true;
    for (uint32_t d = 0; d < out->n_dims; d++)
        if (!out->dims[d])
            out->dims[d] = d == 0 ? m->batch : 1;
}

static bool is_of_other_domain(const struct onnx_node *n)
{
    return n->proto && n->proto->domain && *n->proto->domain && !text_is(n->proto->domain, "ai.onnx");
}

static bool is_of_runtime(const struct onnx_node *n) { return strncmp(n->proto->domain, "com.microsoft", strlen("com.microsoft")) == 0; }

/* Advice for an operator that is not modelled, or NULL. */
static const char *advice(const struct onnx_model *m, const struct onnx_node *n)
{
    static const struct advice { const char *op, *why; } advices[] = {
        { "QLinear", "the chip's products are of floats; quantise the model to QDQ, or export it before" },
        { "DynamicQuantizeLinear", "the chip's products are of floats; quantise the model to QDQ, or export it before" },
        { "ConvInteger", "the chip's products are of floats; quantise the model to QDQ, or export it before" },
        { "MatMulInteger", "the chip's products are of floats; quantise the model to QDQ, or export it before" },
        { "Unique", "how much it makes is known only while the model runs; stop before it with --set recipe.output=NAME" },
        { "Sequence", "sequences of tensors are not modelled; export tensors" },
    };
    for (size_t i = 0; i < sizeof advices / sizeof *advices; i++)
        if (strncmp(n->op->name, advices[i].op, strlen(advices[i].op)) == 0)
            return advices[i].why;
    if (!is_of_other_domain(n))
        return NULL;
    if (is_of_runtime(n))
        return "not an operator of ONNX's own; export the model before a runtime has optimised it";
    const struct codelets *own = m->options->codelets;
    const char *known = own && own->n ? arena_printf(m->arena, ", which has %.60s,%.60s and not this one", own->items[0].domain, own->items[0].name) : "";
    return arena_printf(m->arena, "not an operator of ONNX's own; describe it in the FILE of --operators%s, by the lines below (docs/operators.md)", known);
}

static bool needs_sheet(const struct onnx_model *m, const struct onnx_node *n)
{
    return !n->gone && !n->op->shape && is_of_other_domain(n) && !is_of_runtime(n) && !onnx_codelet(m, n);
}

static bool is_first_of_kind(const struct onnx_model *m, const struct onnx_node *n)
{
    for (const struct onnx_node *other = m->nodes; other < n; other++)
        if (needs_sheet(m, other) && text_is(other->written, n->written) && text_is(other->proto->domain, n->proto->domain))
            return false;
    return true;
}

/* Adds the lines of a sheet for all nodes that need one, as CSV; a sheet that is given already has a head. */
static void add_sheet(const struct onnx_model *m, struct err *err)
{
    const struct codelets *own = m->options->codelets;
    if (!own || !own->n)
        fail_line(err, "domain,name,key,value,unit,source");
    for (const struct onnx_node *n = m->nodes; n < m->nodes + m->n_nodes; n++)
        if (needs_sheet(m, n) && is_first_of_kind(m, n)) {
            fail_line(err, "%s,%s,split,0,,WHO SAYS SO", n->proto->domain, n->written);
            fail_line(err, "%s,%s,cycles_per_element,NUMBER,cycles,WHO SAYS SO", n->proto->domain, n->written);
        }
}

static bool guess_shapes(const struct onnx_model *m, const struct onnx_node *n, bool approximate, struct err *err)
{
    const struct onnx_value *x = onnx_in(m, n, 0);
    const char *why = advice(m, n);
    if (!approximate && why) {
        onnx_refuse(m, n, err, "%s, or price it roughly with --approximate", why);
        if (needs_sheet(m, n))
            add_sheet(m, err);
        return false;
    }
    if (!approximate)
        return onnx_refuse(m, n, err, "this operator is not modelled; change the model, or price it roughly with --approximate");
    for (uint32_t k = 0; k < n->n_outputs; k++) {
        struct onnx_value *out = onnx_out(m, n, k);
        if (out && !out->shaped && !(x && x->shaped))
            return onnx_refuse(m, n, err, "this operator is not modelled, and neither its result nor its input has a shape");
        if (out)
            guess_shape(m, out, x);
    }
    return true;
}

/* Parameters that are only cut and joined, such as the gates of a recurrence in another order, become constants: that work is done only when the
   model is loaded. */
static bool is_rearranged(struct onnx_model *m, uint32_t value, uint32_t depth)
{
    struct onnx_value *v = &m->values[value];
    if (v->constant || v->producer == NO_ID || depth == 0)
        return v->constant;
    const struct onnx_node *n = &m->nodes[v->producer];
    bool constant = onnx_has(n, ONNX_VIEWS | ONNX_CUTS | ONNX_JOINS);
    for (uint32_t i = 0; i < n->n_inputs && constant; i++)
        constant = n->inputs[i] == NO_ID || is_rearranged(m, n->inputs[i], depth - 1);
    return v->constant = constant;
}

/* The longest chain of cuts and joins that is followed. */
enum { MOST_REARRANGED = 32 };

static void settle_recurrence(struct onnx_model *m, const struct onnx_node *n)
{
    for (uint32_t i = 1; i < 4 && i < n->n_inputs && onnx_has(n, ONNX_RECURRENT); i++)
        if (n->inputs[i] != NO_ID)
            is_rearranged(m, n->inputs[i], MOST_REARRANGED);
}

/* A constant behind Identity nodes stays one weight, however many nodes read it: torch writes shared weights so. */
static void read_originals(struct onnx_model *m, const struct onnx_node *n)
{
    for (uint32_t k = 0; k < n->n_inputs; k++) {
        const struct onnx_value *v = onnx_in(m, n, k);
        const struct onnx_node *by = v && v->constant && v->producer != NO_ID ? &m->nodes[v->producer] : NULL;
        if (!onnx_is(by, ONNX_OP_IDENTITY))
            continue;
        m->values[n->inputs[k]].n_readers--;
        n->inputs[k] = by->inputs[0];
        m->values[n->inputs[k]].n_readers++;
    }
}

static bool settle_node(struct onnx_model *m, struct onnx_node *n, const struct onnx_options *o, struct err *err)
{
    if (n->gone)
        return true;
    read_originals(m, n);
    const struct codelet *own = onnx_codelet(m, n);
    if (own)
        return onnx_shape_codelet(m, n, own, err);
    if (o->approximate)
        onnx_stand_in(m, n);
    if (!n->op->shape)
        return guess_shapes(m, n, o->approximate, err);
    if (!onnx_shape_node(m, n, err))
        return false;
    onnx_fold(m, n);
    settle_recurrence(m, n);
    for (uint32_t k = 0; k < n->n_outputs; k++)
        if (onnx_out(m, n, k) && !take_given(onnx_out(m, n, k), m, o, err))
            return false;
    return true;
}

/* True if the value is an output and has exactly the sizes that the file states, which are those of the file's own batch. */
static bool keeps_file_sizes(const struct onnx_model *m, const struct onnx_value *v)
{
    const Onnx__GraphProto *g = m->file->graph;
    for (size_t i = 0; i < g->n_output; i++) {
        const Onnx__TypeProto__Tensor *t = g->output[i]->type ? g->output[i]->type->tensor_type : NULL;
        bool same = t && t->shape && t->shape->n_dim == v->n_dims && onnx_elements(v) > 1 && text_is(g->output[i]->name, v->name);
        for (uint32_t d = 0; same && d < v->n_dims; d++)
            same = t->shape->dim[d]->has_dim_value && (uint64_t)t->shape->dim[d]->dim_value == v->dims[d];
        if (same)
            return true;
    }
    return false;
}

/* In a file of fixed sizes the first dimension is taken for the batch. It is none if no output depends on it. */
static bool check_batch_in_file(const struct onnx_model *m, struct err *err)
{
    bool kept = m->file_batch && m->file_batch != m->batch && m->n_wanted > 0;
    for (size_t i = 0; i < m->n_wanted && kept; i++)
        kept = keeps_file_sizes(m, &m->values[m->outputs[i]]);
    return !kept || fail(err, "%s: its first dimension, %ju, is not a batch: no output depends on it; if the model has no batch, give --set data.batch=0", m->path,
                         (uintmax_t)m->file_batch);
}

/* An Identity is replaced only if it passes on a sequence. */
static bool is_unfolded(const struct onnx_model *m, const struct onnx_node *n)
{
    const struct onnx_value *x = onnx_in(m, n, 0);
    return !n->gone && n->op->unfold && (!onnx_is(n, ONNX_OP_IDENTITY) || (x && x->items));
}

bool onnx_infer(struct onnx_model *m, const struct onnx_options *o, struct err *err)
{
    m->batch = o->batch;
    m->approximate = o->approximate;
    m->options = o;
    settle_batch_name(m, says_no_batch(o));
    if (!check_dimension_names(m, o, false, err))
        return false;
    for (size_t i = 0; i < m->n_inputs; i++) {
        struct onnx_value *v = &m->values[m->inputs[i]];
        if (i == 0 || !m->file_batch)
            m->file_batch = batch_in_file(m, m->inputs[i]);
        if (!settle_input(m, v, o, err))
            return false;
    }
    if (!m->has_batch && o->batch > 1)
        return fail(err, "%s: parallel.micro_batch: %ju: no input has a batch dimension%s, so a run is one sample; want 1", m->path,
                    (uintmax_t)o->batch, m->batch_name ? " without a size of its own" : "");
    for (size_t i = 0; i < m->n_nodes; ) {
        bool unfolds = is_unfolded(m, &m->nodes[i]);
        if (unfolds ? !m->nodes[i].op->unfold(m, i, err) : !settle_node(m, &m->nodes[i], o, err))
            return false;
        i += !unfolds;                  /* if the node unfolds, the nodes that replace it are next */
    }
    return check_batch_in_file(m, err) && check_dimension_names(m, o, true, err);
}

/* ---- before a file is imported ----------------------------------------------------------------------------------------- */

bool onnx_describe(struct onnx_description *out, const char *path, struct arena *a, struct err *err)
{
    struct onnx_model *m = ARENA_NEW(a, struct onnx_model);
    if (!onnx_read(m, path, false, a, err))
        return false;
    settle_batch_name(m, false);
    struct names names = symbolic_names(m);
    *out = (struct onnx_description){ .producer = m->producer, .dimensions = ARENA_ARRAY(a, const char *, names.n) };
    for (size_t i = 0; i < names.n; i++)
        if (!(m->batch_name && text_is(names.at[i], m->batch_name)) && !strpbrk(names.at[i], "+*"))
            out->dimensions[out->n_dimensions++] = names.at[i];
    for (size_t i = 0; i < m->n_inputs && !m->batch_name && !out->file_batch; i++)
        out->file_batch = batch_in_file(m, m->inputs[i]);
    for (const struct onnx_node *n = m->nodes, *end = n + m->n_nodes; n < end; n++)
        out->training |= text_is(n->op->name, "Dropout") || (onnx_is(n, ONNX_OP_BATCH_NORM) && onnx_flag(n, "training_mode", false));
    return true;
}
