/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * operators.c - the table of ONNX operators: shape rule, mapping, folding, element function and traits, one row an
 * operator.
 *
 * A node gets its row once, when it is linked. An operator that is a function of each element is one row with ELEMENTS
 * and its function; others name rules in shape.c, fold.c and the map_*.c files (onnx/docs/Operators.md, opset 7 to
 * 25).
 */
#include "workloads/onnx/onnx_fold.h"
#include "workloads/onnx/onnx_mapper.h"
#include "workloads/onnx/onnx_passes.h"
#include "workloads/onnx/onnx_shapes.h"
#include <string.h>

#define KIND(k) .kind = OP_##k
#define MAP(f) .kind = OP_MAP, .function = FUNCTION_##f
#define COMBINE(f) .kind = OP_COMBINE, .function = FUNCTION_##f
#define NAMED(name) .id = ONNX_OP_##name
#define RULES(n, shape_, map_) .n_inputs = n, .shape = shape_, .map = map_
#define FOLD(n, element_) .element = element_, .n_folded = n
#define ELEMENTS RULES(1, infer_like_first, map_function), FOLD(1, fold_function)
#define PAIR RULES(2, infer_pair, map_binary), FOLD(2, fold_pair)
#define TRUTH RULES(2, infer_truth, map_binary), FOLD(2, fold_pair)
#define LIKE_FIRST(map_) RULES(1, infer_like_first, map_)
#define VIEW_OF(shape_) RULES(1, shape_, map_reshape), FOLD(1, fold_copy)
#define REDUCES RULES(1, infer_reduce, map_reduce), .traits = ONNX_PASSES_EMPTY     /* without axes all dimensions are reduced */
#define REDUCE(kind_, sum_, before_, after_) .kind = OP_##kind_, .sum = sum_, .before = before_, .after = after_
#define DRAWN(kind) .draw = DRAW_##kind, .traits = ONNX_DRAWS
#define FUSED(op, ...) .rough_as = op, .n_kept = sizeof (uint32_t[]){ __VA_ARGS__ } / sizeof(uint32_t), .kept = { __VA_ARGS__ }

static const struct onnx_operator rows[] = {
    /* functions of each element */
    { "Abs",               ELEMENTS, MAP(ABS) },
    { "Acos",               ELEMENTS, MAP(ACOS) },
    { "Acosh",              ELEMENTS, MAP(ACOSH) },
    { "Asin",               ELEMENTS, MAP(ASIN) },
    { "Asinh",              ELEMENTS, MAP(ASINH) },
    { "Atan",               ELEMENTS, MAP(ATAN) },
    { "Atanh",              ELEMENTS, MAP(ATANH) },
    { "Ceil",              ELEMENTS, MAP(CEIL) },
    { "Cos",               ELEMENTS, MAP(COS) },
    { "Cosh",               ELEMENTS, MAP(COSH) },
    { "Elu",               ELEMENTS, MAP(ELU), .low = 1, .low_name = "alpha" },
    { "Erf",               ELEMENTS, MAP(ERF), NAMED(ERF) },
    { "Exp",               ELEMENTS, MAP(EXP), .traits = ONNX_REPARAMETRISES },
    { "Floor",             ELEMENTS, MAP(FLOOR) },
    { "Gelu",              ELEMENTS, KIND(GELU), NAMED(GELU) },
    { "HardSigmoid",       ELEMENTS, MAP(HARD_SIGMOID), NAMED(HARD_SIGMOID), .low = 0.2, .high = 0.5, .low_name = "alpha", .high_name = "beta" },
    { "HardSwish",         ELEMENTS, MAP(HARD_SWISH), NAMED(HARD_SWISH) },
    { "IsInf",             RULES(1, infer_test, map_is_inf), MAP(IS_INF) },
    { "IsNaN",             RULES(1, infer_test, map_function), FOLD(1, fold_function), MAP(IS_NAN) },
    { "LeakyRelu",         ELEMENTS, MAP(LEAKY_RELU), .low = 0.01, .low_name = "alpha" },
    { "Log",               ELEMENTS, MAP(LOG) },
    { "Neg",               ELEMENTS, MAP(NEGATE), .traits = ONNX_REPARAMETRISES },
    { "Reciprocal",        ELEMENTS, MAP(RECIPROCAL), NAMED(RECIPROCAL) },
    { "Relu",              ELEMENTS, KIND(RELU) },
    { "Round",             ELEMENTS, MAP(ROUND) },
    { "Sigmoid",           ELEMENTS, KIND(SIGMOID), NAMED(SIGMOID), .traits = ONNX_REPARAMETRISES },
    { "Sign",              ELEMENTS, MAP(SIGN) },
    { "Sin",               ELEMENTS, MAP(SIN) },
    { "Sinh",               ELEMENTS, MAP(SINH) },
    { "Softplus",          ELEMENTS, MAP(SOFTPLUS), .traits = ONNX_REPARAMETRISES },
    { "Sqrt",              ELEMENTS, MAP(SQRT), NAMED(SQRT) },
    { "Swish",             LIKE_FIRST(map_swish), KIND(SWISH), NAMED(SWISH) },
    { "Tan",                ELEMENTS, MAP(TAN) },
    { "Tanh",              ELEMENTS, KIND(TANH), NAMED(TANH), .traits = ONNX_REPARAMETRISES },
    { "Celu",              LIKE_FIRST(map_celu) },
    { "Mish",              LIKE_FIRST(map_mish) },
    { "Selu",              LIKE_FIRST(map_selu) },
    { "Shrink",            LIKE_FIRST(map_shrink) },
    { "Softsign",          LIKE_FIRST(map_softsign) },
    { "ThresholdedRelu",   LIKE_FIRST(map_thresholded_relu) },
    { "Clip",              LIKE_FIRST(map_clip) },
    { "PRelu",             LIKE_FIRST(map_prelu) },
    { "Not",               LIKE_FIRST(map_not), FOLD(1, fold_not) },
    { "Dropout",           LIKE_FIRST(map_dropout) },
    { "Cast",              RULES(1, infer_cast, map_cast), FOLD(1, fold_cast), .traits = ONNX_VIEWS | ONNX_PREPARES },
    { "CastLike",          RULES(2, infer_cast_like, map_cast), FOLD(1, fold_cast) },

    /* functions of two elements, or of several */
    { "Add",               PAIR, KIND(ADD), NAMED(ADD), .traits = ONNX_ARITHMETIC },
    { "Mul",               PAIR, KIND(MUL), NAMED(MUL), .traits = ONNX_ARITHMETIC },
    { "Sub",               PAIR, COMBINE(SUBTRACT), NAMED(SUB), .traits = ONNX_ARITHMETIC },
    { "Div",               RULES(2, infer_quotient, map_binary), FOLD(2, fold_pair), COMBINE(DIVIDE), NAMED(DIV), .traits = ONNX_ARITHMETIC },
    { "Mod",               RULES(2, infer_quotient, map_mod), FOLD(2, fold_mod) },
    { "Pow",               RULES(2, infer_pair, map_binary), FOLD(2, fold_pair), COMBINE(POWER), NAMED(POW) },
    { "Equal",             TRUTH, COMBINE(EQUAL) },
    { "Greater",           TRUTH, COMBINE(GREATER) },
    { "GreaterOrEqual",    TRUTH, COMBINE(GREATER_EQUAL) },
    { "Less",              TRUTH, COMBINE(LESS) },
    { "LessOrEqual",       TRUTH, COMBINE(LESS_EQUAL) },
    { "And",               TRUTH, COMBINE(AND) },
    { "Or",                TRUTH, COMBINE(OR) },
    { "Xor",               RULES(2, infer_truth, map_xor) },
    { "Max",               RULES(ALL_INPUTS, infer_numbers, map_binary), FOLD(2, fold_pair), COMBINE(MAXIMUM) },
    { "Min",               RULES(ALL_INPUTS, infer_numbers, map_binary), FOLD(2, fold_pair), COMBINE(MINIMUM) },
    { "Sum",               RULES(ALL_INPUTS, infer_numbers, map_sum), KIND(ADD) },
    { "Mean",              RULES(ALL_INPUTS, infer_numbers, map_sum), KIND(ADD), NAMED(MEAN) },
    { "Where",             RULES(ALL_INPUTS, infer_where, map_where), FOLD(3, fold_where) },

    /* products, windows, recurrences */
    { "Conv",              RULES(2, infer_conv, map_conv), .traits = ONNX_WINDOW },
    { "ConvTranspose",     RULES(2, infer_conv_transpose, map_conv_transpose), NAMED(CONV_TRANSPOSE) },
    { "Gemm",              RULES(2, infer_gemm, map_gemm) },
    { "MatMul",            RULES(2, infer_matmul, map_matmul), NAMED(MATMUL) },
    { "StaticSparseMatmul", RULES(1, infer_sparse_matmul, map_sparse_matmul) },      /* ai.graphcore */
    { "StaticDynSparse",   RULES(1, infer_sparse_matmul, map_sparse_matmul) },
    { "Einsum",            RULES(ALL_INPUTS, infer_einsum, map_einsum) },
    { "Attention",         RULES(3, infer_attention, map_attention) },
    { "RotaryEmbedding",   RULES(3, infer_like_first, map_rotary_embedding) },
    { "LSTM",              RULES(3, infer_recurrence, map_recurrence), NAMED(LSTM), .traits = ONNX_RECURRENT },
    { "GRU",               RULES(3, infer_recurrence, map_recurrence), .traits = ONNX_RECURRENT },
    { "RNN",               RULES(3, infer_recurrence, map_rnn), NAMED(RNN), .traits = ONNX_RECURRENT },
    { "AveragePool",       RULES(1, infer_pool, map_pool), KIND(AVERAGE_POOL), .traits = ONNX_WINDOW },
    { "MaxPool",           RULES(1, infer_pool, map_pool), KIND(MAX_POOL), .traits = ONNX_WINDOW },
    { "GlobalAveragePool", RULES(1, infer_global_pool, map_global_pool), KIND(AVERAGE_POOL) },
    { "GlobalMaxPool",     RULES(1, infer_global_pool, map_global_pool), KIND(MAX_POOL) },
    { "Resize",            RULES(1, infer_resize, map_resize), .traits = ONNX_PREPARES | ONNX_PASSES_EMPTY },
    { "Upsample",          RULES(1, infer_resize, map_resize), .traits = ONNX_PASSES_EMPTY },
    { "DepthToSpace",      RULES(1, infer_depth_to_space, map_blocks), NAMED(DEPTH_TO_SPACE) },
    { "SpaceToDepth",      RULES(1, infer_space_to_depth, map_blocks) },
    { "GridSample",        RULES(2, infer_grid_sample, map_grid_sample) },
    { "RoiAlign",          RULES(2, infer_roi_align, map_roi_align) },

    /* norms, softmax, losses, reductions */
    { "BatchNormalization",        LIKE_FIRST(map_batch_norm), NAMED(BATCH_NORM), .traits = ONNX_PREPARES },
    { "GroupNormalization",        LIKE_FIRST(map_group_norm), NAMED(GROUP_NORM) },
    { "InstanceNormalization",     LIKE_FIRST(map_group_norm), NAMED(INSTANCE_NORM) },
    { "LayerNormalization",        LIKE_FIRST(map_layer_norm), NAMED(LAYER_NORM) },
    { "RMSNormalization",          LIKE_FIRST(map_rms_norm) },
    { "SimplifiedLayerNormalization", LIKE_FIRST(map_rms_norm) },
    { "LRN",                       LIKE_FIRST(map_lrn) },
    { "Softmax",                   LIKE_FIRST(map_softmax), NAMED(SOFTMAX) },
    { "LogSoftmax",                LIKE_FIRST(map_softmax), NAMED(LOG_SOFTMAX) },
    { "Hardmax",                   LIKE_FIRST(map_hardmax) },
    { "SoftmaxCrossEntropyLoss",   RULES(2, infer_loss, map_loss), NAMED(SOFTMAX_LOSS), .traits = ONNX_LOSS },
    { "NegativeLogLikelihoodLoss", RULES(2, infer_loss, map_loss), .traits = ONNX_LOSS },
    { "ReduceMean",      REDUCES, NAMED(REDUCE_MEAN), REDUCE(AVERAGE_POOL, false, NO_FUNCTION, NO_FUNCTION) },
    { "ReduceSum",       REDUCES, .fold = fold_reduction, REDUCE(AVERAGE_POOL, true, NO_FUNCTION, NO_FUNCTION) },
    { "ReduceMax",       REDUCES, .fold = fold_reduction, REDUCE(MAX_POOL, false, NO_FUNCTION, NO_FUNCTION) },
    { "ReduceMin",       REDUCES, .fold = fold_reduction, REDUCE(MAX_POOL, false, FUNCTION_NEGATE, FUNCTION_NEGATE) },
    { "ReduceProd",      REDUCES, .fold = fold_reduction, REDUCE(MUL, false, NO_FUNCTION, NO_FUNCTION) },
    { "ReduceL1",        REDUCES, REDUCE(AVERAGE_POOL, true, FUNCTION_ABS, NO_FUNCTION) },
    { "ReduceL2",        REDUCES, REDUCE(AVERAGE_POOL, true, FUNCTION_SQUARE, FUNCTION_SQRT) },
    { "ReduceSumSquare", REDUCES, REDUCE(AVERAGE_POOL, true, FUNCTION_SQUARE, NO_FUNCTION) },
    { "ReduceLogSum",    REDUCES, REDUCE(AVERAGE_POOL, true, NO_FUNCTION, FUNCTION_LOG) },
    { "ReduceLogSumExp", REDUCES, REDUCE(AVERAGE_POOL, true, FUNCTION_EXP, FUNCTION_LOG) },
    { "ArgMax",          RULES(1, infer_argmax, map_arg_max) },
    { "ArgMin",          RULES(1, infer_argmax, map_arg_max), NAMED(ARG_MIN) },
    { "CumSum",          LIKE_FIRST(map_cumsum) },
    { "Trilu",           LIKE_FIRST(map_triangle), .fold = fold_triangle },

    /* moves */
    { "Identity",        RULES(1, infer_like_first, map_alias), FOLD(1, fold_copy), NAMED(IDENTITY), .traits = ONNX_VIEWS | ONNX_PREPARES,
                         .unfold = unfold_sequence_alias },
    { "Reshape",         VIEW_OF(infer_reshape), NAMED(RESHAPE), .traits = ONNX_VIEWS },
    { "Flatten",         VIEW_OF(infer_flatten), .traits = ONNX_VIEWS },
    { "Squeeze",         VIEW_OF(infer_squeeze), NAMED(SQUEEZE), .traits = ONNX_VIEWS },
    { "Unsqueeze",       VIEW_OF(infer_unsqueeze), NAMED(UNSQUEEZE), .traits = ONNX_VIEWS },
    { "Transpose",       RULES(1, infer_transpose, map_transpose), .fold = fold_transpose, NAMED(TRANSPOSE), .traits = ONNX_VIEWS | ONNX_PREPARES },
    { "Concat",          RULES(ALL_INPUTS, infer_concat, map_concat), .fold = fold_concat, NAMED(CONCAT), .traits = ONNX_JOINS | ONNX_PREPARES | ONNX_PASSES_EMPTY },
    { "Split",           RULES(1, infer_split, map_split), .fold = fold_split, NAMED(SPLIT), .traits = ONNX_CUTS },
    { "Slice",           RULES(1, infer_slice, map_slice), .fold = fold_slice, NAMED(SLICE), .traits = ONNX_CUTS | ONNX_PREPARES },
    { "Pad",             RULES(1, infer_pad, map_pad), .traits = ONNX_PREPARES },
    { "Expand",          RULES(1, infer_expand, map_expand), FOLD(1, fold_expand), .traits = ONNX_REPEATS },
    { "Tile",            RULES(1, infer_tile, map_tile), .traits = ONNX_REPEATS },
    { "Gather",          RULES(2, infer_gather, map_gather), .fold = fold_gather, NAMED(GATHER), .traits = ONNX_PICKS },
    { "GatherElements",  RULES(2, infer_gather_elements, map_gather_elements), .traits = ONNX_PICKS_ELEMENTS },
    { "GatherND",        RULES(2, infer_gather_nd, map_gather_nd) },
    { "Scatter",         RULES(3, infer_like_first, map_scatter), .traits = ONNX_PICKS_ELEMENTS },
    { "ScatterElements", RULES(3, infer_like_first, map_scatter), .traits = ONNX_PICKS_ELEMENTS },
    { "ScatterND",       RULES(3, infer_like_first, map_scatter_nd) },
    { "OneHot",          RULES(3, infer_one_hot, map_one_hot) },
    { "TopK",            RULES(1, infer_top_k, map_top_k) },
    { "Compress",        RULES(2, infer_compress, map_compress) },
    { "NonZero",         RULES(1, infer_nonzero, map_nonzero), .fold = fold_nonzero },
    { "NonMaxSuppression", RULES(2, infer_non_max_suppression, map_non_max_suppression) },

    /* constants and sizes */
    { "Constant",        RULES(0, infer_constant, NULL), .fold = fold_constant, NAMED(CONSTANT) },
    { "ConstantOfShape", RULES(0, infer_constant_of_shape, NULL), .fold = fold_constant_of_shape, NAMED(CONSTANT_OF_SHAPE) },
    { "EyeLike",         RULES(1, infer_eye, NULL), FOLD(0, fold_eye), .traits = ONNX_READS_SIZES },
    { "Range",           RULES(0, infer_range, NULL), FOLD(0, fold_range) },
    { "Shape",           RULES(1, infer_shape, NULL), FOLD(0, fold_shape), .traits = ONNX_READS_SIZES },
    { "Size",            RULES(1, infer_size, NULL), FOLD(0, fold_size), .traits = ONNX_READS_SIZES },

    /* random numbers */
    { "RandomNormal",      RULES(0, infer_random, map_random), DRAWN(NORMAL), .high = 1, .low_name = "mean", .high_name = "scale" },
    { "RandomNormalLike",  RULES(1, infer_random_like, map_random), DRAWN(NORMAL), .high = 1, .low_name = "mean", .high_name = "scale" },
    { "RandomUniform",     RULES(0, infer_random, map_random), DRAWN(UNIFORM), .high = 1, .low_name = "low", .high_name = "high" },
    { "RandomUniformLike", RULES(1, infer_random_like, map_random), DRAWN(UNIFORM), .high = 1, .low_name = "low", .high_name = "high" },
    { "Bernoulli",         RULES(1, infer_random_like, map_bernoulli), .traits = ONNX_DRAWS },
    { "Multinomial",       RULES(1, infer_multinomial, map_multinomial), .traits = ONNX_DRAWS },

    /* control flow and sequences */
    { "If",                 .unfold = unfold_if, .traits = ONNX_HAS_BODY },
    { "Loop",               .unfold = unfold_loop, .traits = ONNX_HAS_BODY },
    { "Scan",               .unfold = unfold_scan, .traits = ONNX_HAS_BODY },
    { "SequenceEmpty",      .unfold = unfold_sequence_construct },
    { "SequenceConstruct",  .unfold = unfold_sequence_construct },
    { "SequenceInsert",     .unfold = unfold_sequence_insert },
    { "SequenceErase",      .unfold = unfold_sequence_erase },
    { "SequenceAt",         .unfold = unfold_sequence_at },
    { "SequenceLength",     .unfold = unfold_sequence_length },
    { "SplitToSequence",    .unfold = unfold_sequence_split },
    { "ConcatFromSequence", .unfold = unfold_sequence_concat },

    /* quantised operators, and what runtimes have fused: --approximate prices them as the float operator without
     * scales and functions */
    { "QuantizeLinear",           RULES(2, infer_quantize, map_quantize) },
    { "DequantizeLinear",         RULES(2, infer_dequantize, map_dequantize), .fold = fold_dequantize, .traits = ONNX_VIEWS },
    { "DynamicQuantizeLinear",    FUSED("Identity", 0) },
    { "DynamicQuantizeLSTM",      FUSED("LSTM", 0, 1, 2, 3) },
    { "ConvInteger",              FUSED("Conv", 0, 1) },
    { "MatMulInteger",            FUSED("MatMul", 0, 1) },
    { "QGemm",                    FUSED("Gemm", 0, 3, 6) },
    { "QLinearAdd",               FUSED("Add", 0, 3) },
    { "QLinearAveragePool",       FUSED("AveragePool", 0) },
    { "QLinearConcat",            .rough_as = "Concat" },         /* every third input from the third on */
    { "QLinearConv",              FUSED("Conv", 0, 3, 8) },
    { "QLinearGlobalAveragePool", FUSED("GlobalAveragePool", 0) },
    { "QLinearLeakyRelu",         FUSED("LeakyRelu", 0) },
    { "QLinearMatMul",            FUSED("MatMul", 0, 3) },
    { "QLinearMul",               FUSED("Mul", 0, 3) },
    { "QLinearSigmoid",           FUSED("Sigmoid", 0) },
    { "QLinearSoftmax",           FUSED("Softmax", 0) },
    { "FastGelu",                 FUSED("Gelu", 0) },
    { "FusedConv",                FUSED("Conv", 0, 1, 2) },
    { "FusedGemm",                FUSED("Gemm", 0, 1, 2) },
    { "QuickGelu",                FUSED("Gelu", 0) },
};
const struct onnx_operators onnx_operators = { rows, sizeof rows / sizeof *rows };
