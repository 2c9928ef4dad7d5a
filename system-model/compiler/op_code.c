/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * op_code.c - bytes of the code and the vertex state of operations, from what their plans count; program_code.c says what is in them.
 */
#include "system-model/base/assumed.h"
#include "system-model/compiler/op_plan.h"

void op_code_add(struct op_code *to, const struct op_code *code)
{
    to->supersteps += code->supersteps;
    to->exchanges += code->exchanges;
    to->pieces += code->pieces;
    to->field_pieces += code->field_pieces;
    to->state_bytes += code->state_bytes;
    to->field_bytes += code->field_bytes;
}

uint64_t exchange_code_bytes(uint64_t n_exchanges, uint64_t n_pieces)
{
    return EXCHANGE_BYTES * n_exchanges + n_pieces / PIECES_PER_BYTE;
}

void program_bytes_add(struct program_bytes *to, const struct op_code *code, uint64_t n_calls)
{
    to->vertex_state += code->state_bytes;
    to->vertex_fields += code->field_bytes;
    to->control_code += (uint64_t)SUPERSTEP_CONTROL_BYTES * code->supersteps + CALL_BYTES * (n_calls - 1);
    to->exchange_code += exchange_code_bytes(code->exchanges, code->pieces) + INSTRUCTION_BYTES * code->field_pieces;
}

uint64_t op_code_bytes(const struct op_code *code)
{
    struct program_bytes b = {0};
    program_bytes_add(&b, code, 1);
    return b.vertex_state + b.vertex_fields + b.control_code + b.exchange_code;
}
