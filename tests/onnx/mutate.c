/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mutate.c - writes valid small models at random, for ONNX Runtime (runtime.js) and podbench (outputs) to compute and compare.
 *
 * usage: mutate FOLDER SEED N. Each model is a template with sizes drawn from ranges, and up to four steps after it that are valid for any tensor:
 * functions, reshapes, transpositions, reductions. So nearly all are accepted by both. With a file of versions (versions.txt), each of its lines.
 */
#include "tests/onnx/draft.h"

/* {a-b} is a number from a to b; {a-b=n} names it, and {n} repeats it. y is what follow-up steps read. */
static const char *const templates[] = {
    "x: {1-3},{2-5=c},{5-9},{5-9}; w = {1-6=o},{c},{1-3},{1-3}; b = {o}; Conv x w b > y strides={1-2},{1-2} pads={0-1},{0-1},{0-1},{0-1}",
    "x: {1-3},{2-4=c},{5-9}; w = {1-6},{c},{1-3}; Conv x w > y strides={1-2}",
    "x: {1-2},{2-5=c},{6-9},{6-9}; w = {c},1,{1-3},{1-3}; Conv x w > y group={c} dilations={1-2=d},{d}",
    "x: {1-2},{2-4=c},{3-5},{4-6},{4-6}; w = {1-5},{c},{1-3},{1-3},{1-3}; Conv x w > y strides={1-2},{1-2},{1-2} pads={0-1},{0-1},{0-1},{0-1},{0-1},{0-1}",
    "x: {1-2},{2-4=c},{3-5},{4-6},{4-6}; w = {c},1,{1-3},{1-3},{1-3}; Conv x w > y group={c} strides={1-2},{1-2},{1-2}",
    "x: {1-2},4,{2-4},{3-5},{3-5}; w = 6,2,{1-3},{1-3},{1-3}; Conv x w > y group=2",
    "x: {1-2},{2-4=c},{3-6},{3-6}; w = {c},{1-4},{2-3},{2-3}; ConvTranspose x w > y strides={1-2},{1-2} pads={0-1},{0-1},{0-1},{0-1}",
    "x: {1-2},{2-4=c},{2-4},{3-4},{3-4}; w = {c},{1-3=o},{2-3},{2-3},{2-3}; b = {o}; ConvTranspose x w b > y strides={1-2},{1-2},{1-2} pads={0-1},{0-1},{0-1},{0-1},{0-1},{0-1}",
    "x: {1-2},4,{2-4},{3-4},{3-4}; w = 4,{1-3},{1-3},{2-3},{2-3}; ConvTranspose x w > y group=2 strides={1-3},{1-2},{1-2}",
    "x: {1-3},{2-5},{5-9},{5-9}; MaxPool x > y kernel_shape={1-3},{2-3} strides={1-2},{1-2} pads={0-1},{0-1},{0-1},{0-1}",
    "x: {1-3},{2-5},{5-9},{5-9}; AveragePool x > y kernel_shape={2-3},{2-3} strides={1-2},{1-2} pads={0-1},{0-1},{0-1},{0-1} count_include_pad={0-1}",
    "x: {1-3},{1-9},{2-9=k}; w = {k},{1-9}; MatMul x w > y", "x: {1-9},{2-9=k}; w = {1-9=n},{k}; b = {n}; Gemm x w b > y transB=1",
    "x: {1-3},{2-6=c},{3-6},{3-6}; s = {c}; t = {c}; InstanceNormalization x s t > y", "x: {1-3},{1-6},{2-9=n}; s = {n}; t = {n}; LayerNormalization x s t > y",
    "x: {1-3},4,{3-6},{3-6}; f = 37.5; Mul x f > u; Sin u > v; s = 4; t = 4; GroupNormalization v s t > y num_groups=2",   /* about 0: ONNX defines
                                                                        * its variance as a difference of squares, which loses digits elsewhere */
    "x: {1-3},{1-6},{2-9=n}; s = {n}; RMSNormalization x s > y", "x: {1-3},{2-7},{2-6}; Softmax x > y axis={0-2}",
    "x: {1-2},{1-3},{3-6},{3-6}; s = [1,1,2,2]; Cast s > f to=1; Resize x - f > y mode=cubic",
    "x: {1-2=b},{1-3=c},{3-6},{3-6}; s = [{b},{c},{2-9},{2-9}]; Resize x - - s > y mode=cubic coordinate_transformation_mode=align_corners",
    "x: {1-2=b},{1-3=c},{3-6},{3-6}; s = [{b},{c},{2-9},{2-9}]; Resize x - - s > y mode=cubic coordinate_transformation_mode=asymmetric exclude_outside={0-1}",
    "x: {1-2=b},{1-3=c},{3-6},{3-6}; s = [{b},{c},{3-9},{3-9}]; Resize x - - s > y mode=linear",
    "x: {1-2=b},{1-4=h},{1-5=s},4; k: {b},{h},{2-6=t},4; v: {b},{h},{t},{1-4}; Attention x k v > y is_causal={0-1}",
    "x: {1-2=b},4,{1-5},6; k: {b},2,{2-6},6; Attention x k k > y", "x: {1-2=b},{1-5=s},12; k: {b},{2-6=t},12; v: {b},{t},12; Attention x k v > y q_num_heads=4 kv_num_heads=4",
    "x: {1-2=b},{1-5=s},24; k: {b},{2-6=t},12; Attention x k k > y q_num_heads=4 kv_num_heads=2 scale=0.5",
    "x: {1-2=b},{1-3=h},{2-4=s},4; k: {b},{h},{2-6=t},4; m: {s},{t}; Attention x k k m > y softcap=2.0",
    "x: {1-2=b},{1-3=h},{2-4=s},4; k: {b},{h},{2-6=t},4; m: {s},{t}; Attention x k k m > q r u y softcap=2.0 qk_matmul_output_mode={0-3}",
    "x: {1-2=b},{1-3=h},{2-4=s},4; k: {b},{h},{2-6=t},4; p: {b},{h},{1-3=u},4; Attention x k k - p p > y q r is_causal={0-1}",
    "x: {1-2=b},{1-3},{1-5=s},8; c: {b},{s},4; d: {b},{s},4; RotaryEmbedding x c d > y interleaved={0-1}",
    "x: {1-2=b},{1-5=s},24; p: int64 {b},{s}; c = 6,3; d = 6,3; RotaryEmbedding x c d p > y num_heads=4 interleaved={0-1}",
    "x: {1-2=b},{2-3},{1-5=s},8; p: int64 {b},{s}; c = 6,2; d = 6,2; RotaryEmbedding x c d p > y rotary_embedding_dim=4",
    "x: {1-5},{1-3=b},{2-4=n}; w = 1,12,{n}; r = 1,12,3; z = 1,24; h: 1,{b},3; c: 1,{b},3; LSTM x w r z - h c > q y hidden_size=3",
    "x: {1-5},{1-3=b},{2-4=n}; w = 2,12,{n}; r = 2,12,3; z = 2,24; h: 2,{b},3; c: 2,{b},3; LSTM x w r z - h c > y hidden_size=3 direction=bidirectional",
    "x: {1-5},{1-3=b},{2-4=n}; w = 1,9,{n}; r = 1,9,3; z = 1,18; h: 1,{b},3; GRU x w r z - h > y hidden_size=3 linear_before_reset={0-1}",
    "x: {1-5},{1-3=b},{2-4=n}; w = 2,9,{n}; r = 2,9,3; z = 2,18; h: 2,{b},3; GRU x w r z - h > y hidden_size=3 direction=bidirectional",
    "x: {1-3=b},{2-5=n},{1-4}; p: int64 {b},{1-4},1; GatherND x p > y batch_dims=1", "x: {1-3},{1-4=t},1,{1-4=h}; z: 1,1,{2-4},{h}; Add x z > y",
};
enum { N_TEMPLATES = sizeof templates / sizeof *templates };

static const char *const steps[] = {
    "Relu %s > %s", "Sigmoid %s > %s", "Tanh %s > %s", "Neg %s > %s", "Abs %s > %s", "Erf %s > %s", "Softplus %s > %s", "HardSwish %s > %s", "Elu %s > %s",
    "LeakyRelu %s > %s alpha=0.5", "Transpose %s > %s", "Flatten %s > %s axis=1", "Exp %s > %s", "Ceil %s > %s", "Softmax %s > %s axis=-1",
    "ReduceMean %s > %s keepdims=1", "Mul %s %s > %s", "Add %s %s > %s", "Identity %s > %s", "Sqrt a_%s > %s",
};

struct draw { uint64_t seed, n; };
static uint64_t drawn(struct draw *d, uint64_t below)
{
    d->n++;
    return hash_bytes(&d->n, sizeof d->n, d->seed) % below;
}

/* The template with its numbers drawn. */
static const char *filled(struct draw *d, const char *text, struct arena *a)
{
    uint64_t named[128] = { 0 };
    const char *out = "";
    for (const char *open; (open = strchr(text, '{')); text = strchr(open, '}') + 1) {
        uint64_t low = strtoull(open + 1, NULL, 10), high = strchr(open, '-') < strchr(open, '}') && strchr(open, '-') ? strtoull(strchr(open, '-') + 1, NULL, 10) : low;
        const char *equals = strchr(open, '=');
        bool repeats = open[2] == '}' && open[1] >= 'a';
        uint64_t x = repeats ? named[(int)open[1]] : low + drawn(d, high - low + 1);
        if (!repeats && equals && equals < strchr(open, '}'))
            named[(int)equals[1]] = x;
        out = arena_printf(a, "%s%.*s%ju", out, (int)(open - text), text, (uintmax_t)x);
    }
    return arena_printf(a, "%s%s", out, text);
}

/* The model's last value becomes an output, and types are stated, as ONNX Runtime wants them. */
static void finish(struct draft *f, const char *last, const char *path)
{
    draft_text(f, "o = 1,1; one: 1,1; MatMul one o > work");       /* a model without a product is refused */
    f->model.has_ir_version = true;
    f->model.ir_version = 10;
    draft_outputs(f, arena_printf(&f->arena, "%s work", last));
    for (size_t k = 0; k < f->graph.n_output; k++) {
        const char *name = f->outputs[k]->name;
        f->outputs[k] = draft_info(f, name, ONNX_FLOAT, "1");
        f->outputs[k]->type->tensor_type->shape = NULL;
    }
    for (size_t k = 0; k < f->graph.n_node; k++)
        for (size_t t = 0; t < f->nodes[k]->n_attribute; t++) {
            Onnx__AttributeProto *p = f->nodes[k]->attribute[t];
            p->has_type = true;
            p->type = p->has_i ? 2 : p->has_f ? 1 : p->has_s ? 3 : p->t ? 4 : p->n_floats ? 6 : 7;
        }
    f->opset.domain = arena_strdup(&f->arena, "");
    f->graph.name = arena_strdup(&f->arena, "mutant");
    draft_pack(f, path);
    draft_end(f);
}

static void write_one(const char *folder, uint64_t seed, uint64_t i)
{
    struct arena a = { 0 };
    struct draw d = { hash_bytes(&i, sizeof i, seed), 0 };
    struct draft *f = draft_start(23);
    const char *at = "y";
    draft_text(f, filled(&d, templates[i % N_TEMPLATES], &a));
    for (uint64_t k = drawn(&d, 5); k > 0; k--) {
        const char *step = steps[drawn(&d, sizeof steps / sizeof *steps)], *next = arena_printf(&a, "y%ju", (uintmax_t)k);
        if (strncmp(step, "Sqrt", 4) == 0)
            draft_text(f, arena_printf(&a, "Abs %s > a_%s", at, at));
        draft_text(f, strstr(step, "%s %s >") ? arena_printf(&a, step, at, at, next) : arena_printf(&a, step, at, next));
        at = next;
    }
    finish(f, at, arena_printf(&a, "%s/m%05ju.onnx", folder, (uintmax_t)i));
    arena_free(&a);
}

/* A model for each line "@OPSET TEXT" of a file of versions. */
static bool write_versions(const char *folder, const char *path)
{
    FILE *in = fopen(path, "r");
    char line[1000], *text, file[4096];
    for (uint64_t i = 0; in && fgets(line, sizeof line, in); )
        if (*line == '@') {
            struct draft *f = draft_start(strtol(line + 1, &text, 10));
            text[strcspn(text, "\n")] = '\0';
            draft_text(f, text + 1);
            snprintf(file, sizeof file, "%s/v%05ju.onnx", folder, (uintmax_t)i++);
            finish(f, "y", file);
        }
    return in && fclose(in) == 0;
}

int main(int argc, char **argv)
{
    uint64_t seed, n;
    if (argc == 3 && write_versions(argv[1], argv[2]))
        return 0;
    if (argc != 4 || !parse_u64(argv[2], &seed) || !parse_u64(argv[3], &n)) {
        fprintf(stderr, "usage: %s FOLDER SEED N, or FOLDER VERSIONS\n", argv[0]);
        return 2;
    }
    for (uint64_t i = 0; i < n; i++)
        write_one(argv[1], seed, i);
    return 0;
}
