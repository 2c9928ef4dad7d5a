/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cycles.c - sums of cycles by part.
 */
#include "system-model/compiler/cycles.h"

#include <math.h>

const char *const part_names[N_PARTS] = {
    [PART_MATMUL] = "matmul", [PART_CONV] = "conv", [PART_NORM] = "norm", [PART_ELEMENTWISE] = "elementwise",
    [PART_SOFTMAX] = "softmax", [PART_EMBEDDING] = "embedding", [PART_POOLING] = "pooling", [PART_LSTM] = "lstm",
    [PART_LOSS] = "loss", [PART_REARRANGE] = "rearrange", [PART_EXCHANGE] = "exchange", [PART_SYNC] = "sync",
    [PART_STAGE_COPY] = "stage_copy", [PART_BUBBLE] = "bubble", [PART_ACCUMULATE] = "accumulate",
    [PART_ALL_REDUCE] = "all_reduce", [PART_OPTIMIZER] = "optimizer", [PART_STREAMING] = "streaming", [PART_HOST] = "host",
};

const char *const part_class_names[N_PART_CLASSES] = {
    [CLASS_COMPUTE] = "compute", [CLASS_EXCHANGE] = "exchange on the chip", [CLASS_SYNC] = "sync of the tiles",
    [CLASS_LINKS] = "links between IPUs", [CLASS_WAITING] = "waiting", [CLASS_MEMORY] = "streaming memory", [CLASS_HOST] = "the host",
};
/* Parts that are not named compute. */
const enum part_class part_classes[N_PARTS] = {
    [PART_EXCHANGE] = CLASS_EXCHANGE, [PART_SYNC] = CLASS_SYNC, [PART_STAGE_COPY] = CLASS_LINKS, [PART_ALL_REDUCE] = CLASS_LINKS,
    [PART_BUBBLE] = CLASS_WAITING, [PART_STREAMING] = CLASS_MEMORY, [PART_HOST] = CLASS_HOST,
};

uint64_t cycles_of_class(const struct cycles *c, enum part_class class)
{
    uint64_t sum = 0;
    for (int i = 0; i < N_PARTS; i++)
        sum += part_classes[i] == class ? c->part[i] : 0;
    return sum;
}

uint64_t cycles_total(const struct cycles *c)
{
    uint64_t total = 0;
    for (int i = 0; i < N_PARTS; i++)
        total += c->part[i];
    return total;
}

void cycles_add(struct cycles *to, const struct cycles *c, uint64_t times)
{
    for (int i = 0; i < N_PARTS; i++)
        to->part[i] += c->part[i] * times;
}

uint64_t cycles_of(const struct topology *t, double time_s)
{
    double cycles = ceil(time_s * t->machine->chip.clock_hz);
    return cycles < (double)MOST_CYCLES ? (uint64_t)cycles : MOST_CYCLES;
}

void cycles_add_plan(struct cycles *to, const struct op_plan *p, enum part part, uint64_t times)
{
    to->part[part] += p->compute_cycles * times;
    to->part[PART_EXCHANGE] += p->exchange_cycles * times;
    to->part[PART_SYNC] += p->sync_cycles * times;
}
