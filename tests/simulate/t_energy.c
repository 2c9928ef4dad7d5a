/* SPDX-License-Identifier: GPL-3.0-or-later */
/* t_energy.c - energy and money as they are printed, by hand. */
#include "tests/check.h"
#include "results/simulate/energy.h"
#include "results/simulate/result.h"
#include <jansson.h>
#include <stdlib.h>

static const char *dumped(json_t *o, struct arena *a)
{
    char *text = json_dumps(o, JSON_REAL_PRECISION(6));
    const char *kept = arena_strdup(a, text);
    free(text);
    json_decref(o);
    return kept;
}

/* 12.5 J a step of 33 samples and 0.025 s: 0.3788 J a sample, 500 W; 0.5 J, and half of a unit of money, to train: little is not nothing. */
static void energy_and_money_as_text_and_json(void **state)
{
    const struct sheet sheet = { .path = "box.csv" };
    const struct sheet_row row = { .line = 7, .source = "measured" };
    const struct power bound = { .at_work_w = 600, .waiting_w = 600, .of = "boards", .row = &row, .sheet = &sheet },
        known = { .at_work_w = 600, .waiting_w = 0.7, .cap_w = 0.9, .knows_waiting = true, .of = "boards", .row = &row, .sheet = &sheet },
        missing = { .missing = "no sheet says" };
    const struct result r = { .global_batch = 33, .step_time_s = 0.025, .energy_per_step_j = 12.5, .energy_j = 0.5, .cost_per_step = 0.001, .cost_to_train = 0.5 },
        step = { .global_batch = 33, .step_time_s = 0.025, .energy_per_step_j = 12.5, .cost_per_step = 0.001 }, free_of_charge = { .global_batch = 33 };
    struct arena a = {0};
    char *text;
    (void)state;
    PRINTED(text, (energy_print(f, &bound, &step), energy_print(f, &known, &r), energy_print(f, &missing, &free_of_charge)));
    assert_string_equal(text, "energy: 12.5 J per step, 0.3788 J per sample, 500 W of boards (modelled, box.csv:7, an upper bound: no source gives the power of "
        "waiting IPUs); money: 30.3 per million samples\n"
        "energy: 12.5 J per step, 0.3788 J per sample, 500 W of boards (modelled, box.csv:7); money: 30.3 per million samples, 0.5 to train\n"
        "energy: not known: no sheet says\n");
    free(text);
    assert_string_equal(dumped(energy_json(&known, &r), &a), "{\"modelled\": true, \"missing\": null, \"per_step_j\": 12.5, \"per_sample_j\": 0.378788, "
        "\"to_train_j\": 0.5, \"mean_power_w\": 500.0, \"power_at_work_w\": 600.0, \"power_waiting_w\": 0.7, \"power_cap_w\": 0.9, "
        "\"counts\": \"boards\", \"source\": \"measured\", \"file\": \"box.csv\", \"line\": 7, \"note\": \"\"}");
    const char *upper = dumped(energy_json(&bound, &step), &a);
    assert_non_null(strstr(upper, "\"to_train_j\": null, "));
    assert_non_null(strstr(upper, "\"power_waiting_w\": null, \"power_cap_w\": null, "));
    assert_non_null(strstr(upper, "\"note\": \"no source gives the power of waiting IPUs: they count as working, an upper bound\"}"));
    assert_string_equal(dumped(energy_json(&missing, &r), &a), "{\"modelled\": true, \"missing\": \"no sheet says\"}");
    assert_string_equal(dumped(money_json(&r), &a), "{\"missing\": null, \"per_step\": 0.001, \"per_million_samples\": 30.303, \"to_train\": 0.5}");
    assert_string_equal(dumped(money_json(&step), &a), "{\"missing\": null, \"per_step\": 0.001, \"per_million_samples\": 30.303, \"to_train\": null}");
    assert_string_equal(dumped(money_json(&free_of_charge), &a),
                        "{\"missing\": \"the recipe states no price: --set cost.price_per_hour=PRICE\"}");
    arena_free(&a);
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(energy_and_money_as_text_and_json) };
TAP_MAIN(tests)
