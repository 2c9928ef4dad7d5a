/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stage_calls.c - what a call of shared code copies.
 *
 * PopART outlines layers of one IPU that are alike: they share one subgraph, and each of them calls it. A call is by value
 * (willow/src/popx/op/callx.cpp:94-190, aliasZeroCopy off): weights and activations are copied into the subgraph's inputs before it runs, and its
 * results into the caller's tensors afterwards. Forward, a layer takes its weights and input and returns its output and what its backward pass reads;
 * recomputation calls the same subgraph again. Backward it takes weights, the gradient and what was kept, and returns the gradients of its
 * input and its weights. All copies before a call are one compute set on the tiles where the tensors lie, and so are all after it.
 * Limits: a layer is called whole, or not at all; copies between unlike layouts, which would be exchanged, and subgraphs within subgraphs
 * are left out.
 */
#include "system-model/plan/plan.h"

static bool is_shared(const struct stage_plan *s, uint32_t layer)
{
    const struct layer_cost *layers = s->compiled->layers;
    for (uint32_t i = s->first_layer; i < stage_end(s); i++)
        if (i != layer && layers[i].code == layers[layer].code)
            return layers[layer].code != 0;
    return false;
}

static void add_copy(struct cycles *to, const struct chip *chip, const struct stage_plan *s, uint64_t n_bytes)
{
    struct op_plan copy;
    copy_plan(&copy, n_bytes, chip, &s->compiled->options);
    cycles_add_plan(to, &copy, PART_REARRANGE, 1);
}

static void add_layer_calls(struct stage_plan *s, const struct chip *chip, uint32_t layer)
{
    bool training = !s->compiled->options.inference;
    const struct layer_cost *l = &s->compiled->layers[layer];
    uint64_t input = layer > 0 ? l[-1].output_bytes : 0, kept = training ? l->kept_bytes : 0;
    struct cycles forward = {0};
    add_copy(&forward, chip, s, l->weight_bytes + input);
    add_copy(&forward, chip, s, l->output_bytes + kept);
    cycles_add(&s->forward, &forward, 1);
    if (layer - s->first_layer < s->n_layers_again) {
        cycles_add(&s->backward, &forward, 1);
        s->recompute_cycles += cycles_total(&forward);
    }
    if (!training)
        return;
    add_copy(&s->backward, chip, s, l->weight_bytes + kept + l->output_bytes);
    add_copy(&s->backward, chip, s, l->weight_bytes + input);
}

void stage_calls(struct stage_plan *s, struct compiler *c)
{
    for (uint32_t i = s->first_layer; i < stage_end(s); i++)
        if (is_shared(s, i))
            add_layer_calls(s, c->chip, i);
}
