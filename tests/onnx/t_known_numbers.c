/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_known_numbers.c - numbers that operators make of known numbers, by hand, in tables (onnx/docs/Operators.md). */
#include "tests/onnx/shape_rows.h"

#define TWELVE "=3x4:1,2,3,4,5,6,7,8,9,10,11,12"

/* Contents that exporters compute to find sizes. */
static void contents(void **state)
{
    static const struct row rows[] = {
        { "Shape", "2,3,4", "", "3 whole = 2 3 4" },        { "Shape", "2,3,4,5", "start=1 end=-1", "2 whole = 3 4" },
        { "Shape", "2,3,4", "start=-2", "2 whole = 3 4" },  { "Shape", "2,3,4", "end=7", "3 whole = 2 3 4" },
        { "Shape", "2,3,4", "start=-7 end=1", "1 whole = 2" }, { "Shape", "2,3,4", "start=2 end=1", "0 whole" },
        { "Size", "2,3,4", "", "one whole = 24" },
        { "EyeLike", "2,3", "", "2x3 = 1 0 0 0 1 0" }, { "EyeLike", "2,3", "k=1 dtype=7", "2x3 whole = 0 1 0 0 0 1" },
        { "EyeLike", "2,3", "k=-1", "2x3 = 0 0 0 1 0 0" }, { "EyeLike", "2,3,4", "", "its input has 3 dimensions, want 2" },
        { "Split 2", "=5,7,9 =1,2", "", "1 whole = 5; 2 whole = 7 9" },
        { "Split 3", "=2x3:5,7,9,2,4,6", "axis=-1", "2x1 whole = 5 2; 2x1 whole = 7 4; 2x1 whole = 9 6" },
        { "Add", "=5,7 =3,-4", "", "2 whole = 8 3" },       { "Sub", "=5,7 ='3", "", "2 whole = 2 4" },
        { "Mul", "=2x1:5,7 =2,3,4", "", "2x3 whole = 10 15 20 14 21 28" },
        { "Mul", "=2,3,4 =2x1:5,7", "", "2x3 whole = 10 15 20 14 21 28" },
        { "Div", "=7,-7,5 =2,2,3", "", "3 whole = 3 -3 1" }, { "Div", "=7,-7,5 =2,0,3", "", "divides whole numbers by 0" }, { "Div", "~7,-7 ~2,4", "", "2 = 3.5 -1.75" },
        { "Div", "~7,-7,3,1.5 ~0,0,2,-0", "", "4 = inf -inf 1.5 -inf" },
        { "Mod", "=7,-7 =0,3", "", "divides whole numbers by 0" },    { "Mod", "=7,-7 =0,3", "fmod=1", "divides whole numbers by 0" },
        { "Pow", "=3,2 =2,5", "", "2 whole = 9 32" },       { "Max", "=3,2 =2,5", "", "2 whole = 3 5" },
        { "Min", "=3,2 =2,5", "", "2 whole = 2 2" },        { "Mod", "=7,-7 =3,3", "", "2 whole = 1 2" },
        { "Mod", "=7,-7 =3,3", "fmod=1", "2 whole = 1 -1" },
        { "Equal", "=3,2 =3,5", "", "2 truth = 1 0" },      { "Greater", "=3,2,4 =2,5,4", "", "3 truth = 1 0 0" },
        { "GreaterOrEqual", "=3,2,4 =2,5,4", "", "3 truth = 1 0 1" }, { "Less", "=3,2,4 =2,5,4", "", "3 truth = 0 1 0" },
        { "LessOrEqual", "=3,2,4 =2,5,4", "", "3 truth = 0 1 1" },
        { "And", "=1,1,0,0 =1,0,1,0", "", "4 truth = 1 0 0 0" }, { "Or", "=1,1,0,0 =1,0,1,0", "", "4 truth = 1 1 1 0" }, { "Xor", "=1,1,0,0 =1,0,1,0", "", "4 truth" },
        { "Floor", "~2.5,-2.5", "", "2 = 2 -3" },           { "Ceil", "~2.5,-2.5", "", "2 = 3 -2" },
        { "Round", "~2.5,3.5,-0.75", "", "3 = 2 4 -1" },    { "Sign", "~0.5,0,-3", "", "3 = 1 0 -1" },
        { "Neg", "=5,-3", "", "2 whole = -5 3" },           { "Sqrt", "~6.25", "", "1 = 2.5" },
        { "Not", "=1,0", "", "2 whole = 0 1" },             { "Abs", "=5,-3", "", "2 whole = 5 3" },
        { "Reciprocal", "~4,0.5", "", "2 = 0.25 2" },       { "Identity", "=5,-3", "", "2 whole = 5 -3" },
        { "Reshape", "=5,-3,2,1 =2,2", "", "2x2 whole = 5 -3 2 1" }, { "Cast", "~2.5,-2.5", "to=7", "2 whole = 2 -2" },
        { "Cast", "~2.5,0", "to=9", "2 truth = 1 0" },      { "Cast", "=5,3", "to=1", "2 = 5 3" },
        { "Where", "=1,0 =5,6 =7,8", "", "2 whole = 5 8" }, { "Where", "=2x1:1,0 =5,6 ='7", "", "2x2 whole = 5 6 7 7" },
        { "Expand", "=2x1:5,7 =2,3", "", "2x3 whole = 5 5 5 7 7 7" },
        { "ConstantOfShape", "=3", "", "3" },               { "ConstantOfShape", "=1", "", "1 = 0" },
        { "ConstantOfShape", "=2", "value=7", "2 whole = 7 7" }, { "ConstantOfShape", "=2", "value=7,8", "2 whole" },
        { "ConstantOfShape", "=3,0,2", "", "3x0x2" },       { "ConstantOfShape", "=3,-2", "", "a size of -2" },
        { "Range", "='2 ='9 ='3", "", "3 whole = 2 5 8" },  { "Range", "='9 ='2 ='-2", "", "4 whole = 9 7 5 3" },
        { "Range", "='2 ='8 ='3", "", "2 whole = 2 5" },    { "Range", "='2 ='1 ='1", "", "0 whole" },
        { "Range", "='0 ='1000000000 ='1", "", "it has a thousand million elements or more" }, { "Range", "='1 ='1000000000 ='1", "", "999999999 whole" },
        { "Range", "='2 ='1 ='0", "", "its steps are of 0" },
    };
    (void)state;
    CHECK(rows);
}

/* Contents of operators that move or reduce elements. */
static void contents_in_other_places(void **state)
{
    static const struct row rows[] = {
        { "Concat", "=5,7 =3 ~2.5", "axis=0", "4 whole = 5 7 3 2.5" },
        { "Gather", "=5,7,9 =2,-3,1", "", "3 whole = 9 5 7" }, { "Gather", "=5,7,9 =3", "", "1 whole" }, { "Gather", "=5,7,9 =-4", "", "1 whole" },
        { "Gather", "=5,7,9 ='1", "", "one whole = 7" },    { "Gather", "=5,7,9 =2,0", "axis=-1", "2 whole = 9 5" },
        { "Gather", "=2x3:1,2,3,4,5,6 =1", "", "1x3 whole" },
        { "Slice", "=5,7,9,11 =1 =3", "", "2 whole = 7 9" }, { "Slice", "=5,7,9,11 =-2 =9", "", "2 whole = 9 11" },
        { "Slice", "=5,7,9,11 =0 =4 =0 =3", "", "2 whole = 5 11" }, { "Slice", "=5,7,9,11 =9 =-9 =0 =-1", "", "4 whole = 11 9 7 5" },
        { "Slice", "=5,7,9,11 =4 =0 =0 =-2", "", "2 whole = 11 7" }, { "Slice", "=5,7,9,11 =3 =1 =0 =-1", "", "2 whole = 11 9" },
        { "Slice", TWELVE " =1,1 =3,4 =0,1 =1,2", "", "2x2 whole = 6 8 10 12" },                    /* rows 1 and 2, columns 1 and 3 */
        { "Slice", TWELVE " =3,2 =0,-9 =1,0 =-2,-1", "", "3x2 whole = 12 10 8 6 4 2" },             /* columns 3 and 1 of rows 2, 1, 0 */
        { "Slice", "=2x3x2:1,2,3,4,5,6,7,8,9,10,11,12 =1,0,1 =2,3,2 =0,1,2 =1,2,1", "", "1x2x1 whole = 8 12" },
        { "Slice", TWELVE " =0,1 =2,3", "", "2x2 whole = 2 3 6 7" },
        { "Concat", "=2x1:1,2 =2x3:3,4,5,6,7,8 =2x2:9,10,11,12", "axis=1", "2x6 whole = 1 3 4 5 9 10 2 6 7 8 11 12" },
        { "Transpose", "=2x3x2:1,2,3,4,5,6,7,8,9,10,11,12", "perm=1,2,0", "3x2x2 whole = 1 7 2 8 3 9 4 10 5 11 6 12" },
        { "Transpose", "=2x3x2:1,2,3,4,5,6,7,8,9,10,11,12", "", "2x3x2 whole = 1 7 3 9 5 11 2 8 4 10 6 12" },
        { "Split 3", TWELVE " =1,2,1", "axis=1", "3x1 whole = 1 5 9; 3x2 whole = 2 3 6 7 10 11; 3x1 whole = 4 8 12" },
        { "Split 2", TWELVE " =1,2", "axis=0", "1x4 whole = 1 2 3 4; 2x4 whole = 5 6 7 8 9 10 11 12" },
        { "Split 2", "=2x3x2:1,2,3,4,5,6,7,8,9,10,11,12 =2,1", "axis=1", "2x2x2 whole = 1 2 3 4 7 8 9 10; 2x1x2 whole = 5 6 11 12" },
        { "ReduceSum", "=2x3:1,2,3,4,5,6 =1", "keepdims=0", "2 whole" }, { "ReduceMax", "=2x3:1,2,3,4,5,6", "axes=0 keepdims=0", "3 whole" },    /* only over all elements */
        { "Concat", "=5,7 ~2.5,3", "axis=0", "4 whole" },   { "Concat", "~2.5,3 =5,7", "axis=0", "4" },         /* parameters stay operations, in any position */
        { "Concat", "=5,7 ~4 =1 ~2.5,3", "axis=0", "6 whole" }, { "Concat", "=5,7 ~4 =1 ~2.5", "axis=0", "5 whole = 5 7 4 1 2.5" },
        { "DequantizeLinear", "=2x3:1,2,3,4,5,6 ~0.5,2 =1,3", "axis=0", "2x3 = 0 0.5 1 2 4 6" },            /* (1 - 1) / 2, .. 2 (4 - 3), .. */
        { "DequantizeLinear", "=2x3:1,2,3,4,5,6 ~0.5,2,4 =1,0,2", "axis=1", "2x3 = 0 4 4 1.5 10 16" },
        { "DequantizeLinear", "=2x3:1,2,3,4,5,6 ~0.5,2 =1,3", "axis=1", "2x3" }, { "DequantizeLinear", "=2x3:1,2,3,4,5,6 ~0.5,2 =1,3,4", "axis=0", "2x3" },
        { "DequantizeLinear", "=2x3:1,2,3,4,5,6 ~0.5,2,4 =1,3", "axis=0", "2x3" },
        { "NonZero", "=2x3:0,4,5,6,0,7", "", "2x4 whole = 0 0 1 1 1 2 0 2" },
        { "EyeLike", "=3x4:0,0,0,0,0,0,0,0,0,0,0,0", "k=-1", "3x4 whole = 0 0 0 0 1 0 0 0 0 1 0 0" },
        { "Expand", "=2x1x3:1,2,3,4,5,6 =2,1", "", "2x2x3 whole = 1 2 3 1 2 3 4 5 6 4 5 6" },
        { "Add", "=2x1:10,20 =3:1,2,3", "", "2x3 whole = 11 12 13 21 22 23" },
        { "ReduceMax", "=5,9,7", "keepdims=0", "one whole = 9" }, { "ReduceMax", "=-5,-9,-2", "keepdims=0", "one whole = -2" },
        { "ReduceMin", "=5,9,2", "keepdims=0", "one whole = 2" }, { "ReduceMin", "=-5,-9,-2", "", "1 whole = -9" }, { "ReduceSum", "=5,9,-2", "", "1 whole = 12" },
        { "ReduceProd", "=5,7,2", "", "1 whole = 70" },     { "ReduceProd", "=5,7,2", "keepdims=0", "one whole = 70" },
        { "Trilu", "=2x3:1,2,3,4,5,6", "", "2x3 whole = 1 2 3 0 5 6" }, { "Trilu", "=2x3:1,2,3,4,5,6 ='1", "", "2x3 whole = 0 2 3 0 0 6" },
        { "Trilu", "=2x3:1,2,3,4,5,6", "upper=0", "2x3 whole = 1 0 0 4 5 0" },
        { "Trilu", "=2x2x2:1,2,3,4,5,6,7,8 ='-1", "upper=0", "2x2x2 whole = 0 0 3 0 0 0 7 0" },
        { "Trilu", "=2x3:1,2,3,4,5,6 1", "", "2x3 whole" }, { "Trilu", "2,3 ='1", "", "2x3" }, { "Trilu", "=5,6", "", "2 whole" },
        { "Constant", "", "value_int=5", "one whole = 5" }, { "Constant", "", "value_float=2.5", "one = 2.5" },
        { "Constant", "", "value_ints=5,7", "2 whole = 5 7" },
    };
    (void)state;
    CHECK(rows);
}

/* If the numbers of any operand are missing, only the shape is known. */
static void contents_elsewhere(void **state)
{
    static const struct row rows[] = {
        { "Add", "?2 =3,-4", "", "2" },                     { "Add", "=3,-4 ?2", "", "2 whole" },
        { "Neg", "?2", "", "2" },                           { "Cast", "?2", "to=7", "2 whole" },
        { "DequantizeLinear", "?2 ~0.5", "", "2" },         { "DequantizeLinear", "=5,6 ?1", "axis=0", "2" },
        { "DequantizeLinear", "=5,6 ~0.5 ?1", "axis=0", "2" }, { "DequantizeLinear", "=5,6 ~0.5 =1", "axis=0", "2 = 2 2.5" },
        { "Where", "?2 =5,6 =7,8", "", "2 whole" },         { "Where", "=1,0 ?2 =7,8", "", "2" },
        { "Where", "=1,0 =5,6 ?2", "", "2 whole" },         { "Expand", "?2,1 =2,3", "", "2x3" },
        { "Concat", "=5,7 ?1", "axis=0", "3 whole" },       { "Gather", "?3 =2", "", "1" },
        { "Gather", "=5,7,9 ?1", "", "1 whole" },           { "Slice", "?4 =1 =3", "", "2" },
        { "ReduceProd", "?3", "", "1" },                    { "Transpose", "?2,3", "", "3x2" },
        { "Trilu", "?2,3", "", "2x3" },                     { "Trilu", "=2x3:1,2,3,4,5,6 ?1", "", "2x3 whole" },
        { "Split 2", "?3 =1,2", "", "1; 2" },               { "ConstantOfShape", "?1", "", "its shape is computed while the model runs" },
        { "Range", "?1 ='9 ='3", "", "its limits are computed while the model runs" }, { "Range", "='2 ?1 ='3", "", "its limits are computed while the model runs" },
        { "Range", "='2 ='9 ?1", "", "its limits are computed while the model runs" }, { "NonZero", "?2", "", UNKNOWN },
        { "Compress", "=5,7,9 ?3", "", UNKNOWN },           { "TopK 2", "=5,7,9 ?1", "", UNKNOWN },
    };
    (void)state;
    CHECK(rows);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(contents), cmocka_unit_test(contents_in_other_places), cmocka_unit_test(contents_elsewhere),
};
TAP_MAIN(tests)
