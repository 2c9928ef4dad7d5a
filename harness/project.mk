# project.mk - the benchmark targets of a project of one's own, over its own folders; bench.mk includes it there.
#
#     include PATH/TO/bench.mk
#
# Everything below may be set before the include, or on the command line.
PODBENCH  ?= $(if $(wildcard $(home)/harness/main.c),$(home)/build/podbench,podbench)
RECIPES   ?= recipes
PUBLISHED ?= published
BASELINE  ?= baseline
EXPECT    ?= $(wildcard expected.csv)
RUN       ?= build/run
FORMAT    ?= text

podbench_run := $(PODBENCH) bench --recipes $(RECIPES) --published $(PUBLISHED) --out $(RUN)

.PHONY: bench check gate baseline report
bench: $(filter %/podbench,$(PODBENCH))
	@mkdir -p $(RUN)
	$(podbench_run)

check: $(filter %/podbench,$(PODBENCH))
	@mkdir -p $(RUN)
	@$(podbench_run) > $(RUN).txt
	@$(PODBENCH) check $(RUN) --published $(PUBLISHED) $(if $(EXPECT),--expect $(EXPECT)) --format $(FORMAT)

gate: $(filter %/podbench,$(PODBENCH))
	@mkdir -p $(RUN)
	@$(podbench_run) > $(RUN).txt
	@$(PODBENCH) compare $(RUN) --baseline $(BASELINE) --format $(FORMAT)

baseline: $(filter %/podbench,$(PODBENCH))
	@[ -n "$(REASON)" ] || { echo 'podbench: make baseline REASON="why the predictions moved"' >&2; exit 2; }
	@mkdir -p $(RUN)
	@$(podbench_run) > $(RUN).txt
	@$(PODBENCH) baseline $(RUN) --baseline $(BASELINE) --reason "$(REASON)"

# The program, where its source is at hand.
$(home)/build/podbench:
	$(MAKE) -C $(home) build/podbench
