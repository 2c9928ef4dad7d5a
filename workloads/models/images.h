/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * images.h - what the networks for images share: convolutions with norms, pooling, their input and their head.
 */
#ifndef IMAGES_H
#define IMAGES_H
#include "workloads/models/builders.h"

enum { N_IMAGE_CLASSES = 1000 };        /* ImageNet */

/* width 0: as high; pad: half the kernel, unless unpadded. */
struct conv_spec { uint32_t kernel, width, stride, groups; uint64_t channels; bool unpadded; };
uint32_t build_conv(struct builder *b, uint32_t x, struct conv_spec c);
/* Batch norm, or group norm where the options ask for one; in inference a batch norm is folded and leaves a bias. */
uint32_t build_norm(struct builder *b, uint32_t x);
uint32_t build_own_norm(struct builder *b, uint32_t x);     /* one that no convolution before it can take in */
uint32_t build_conv_norm(struct builder *b, uint32_t x, struct conv_spec c);
uint32_t build_pool(struct builder *b, enum op_kind kind, uint32_t x, uint32_t kernel, uint32_t stride, uint32_t pad);
uint64_t build_side(const struct builder *b, uint32_t x);   /* of square images [batch, side, side, channels], in pixels */
/* Height and width to one: the mean. */
uint32_t build_global_pool(struct builder *b, uint32_t x);
/* Square images of three channels; bytes are cast and normalised on the chip. */
uint32_t build_images(struct builder *b, uint64_t size, uint64_t channels);
/* Mean, a product, the loss, and the backward pass. */
void build_image_head(struct builder *b, uint32_t x, double dropout);

#endif
