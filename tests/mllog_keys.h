/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mllog_keys.h - hyperparameters that the rules ask a closed BERT and a closed ResNet-50 log for.
 */
#ifndef MLLOG_KEYS_H
#define MLLOG_KEYS_H
#include "results/submission/submission_logs.h"

static const struct text_pair bert_keys[] = {
    { "opt_base_learning_rate", "0.002" }, { "opt_epsilon", "1e-06" }, { "opt_learning_rate_training_steps", "1141" },
    { "opt_learning_rate_warmup_steps", "0" }, { "num_warmup_steps", "0" }, { "start_warmup_step", "0" }, { "opt_lamb_beta_1", "0.62" },
    { "opt_lamb_beta_2", "0.996" }, { "opt_lamb_weight_decay_rate", "0.01" },
};
static const struct text_pair lars_keys[] = {
    { "lars_opt_base_learning_rate", "10.72" }, { "lars_opt_learning_rate_decay_steps", "38" }, { "lars_opt_momentum", "0.9" },
    { "lars_opt_learning_rate_warmup_epochs", "2" }, { "lars_opt_weight_decay", "5e-05" },
};
#endif
