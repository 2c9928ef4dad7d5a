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

# No path and no reason reaches the shell as a part of a command: paths are quoted, and the reason is an environment
# variable, taken as it was given and not expanded by make.
quoted = '$(subst ','\'',$(1))'
export PODBENCH_REASON := $(value REASON)
unexport REASON
podbench := $(call quoted,$(PODBENCH))
run      := $(call quoted,$(RUN))
simulate := mkdir -p $(run) && $(podbench) bench --recipes $(call quoted,$(RECIPES)) --published $(call quoted,$(PUBLISHED)) --out $(run)
simulate_quietly := $(simulate) >$(call quoted,$(RUN).txt)
baseline := --baseline $(call quoted,$(BASELINE))
format   := --format $(call quoted,$(FORMAT))

.PHONY: bench check gate baseline plots report help
bench: $(filter %/podbench,$(PODBENCH)) ## simulate every recipe and print the comparison with your measurements
	$(simulate)

check: $(filter %/podbench,$(PODBENCH)) ## compare predictions with your measurements: fails where a row is out of tolerance
	@$(simulate_quietly)
	@$(podbench) check $(run) --published $(call quoted,$(PUBLISHED)) $(if $(EXPECT),--expect $(call quoted,$(EXPECT))) $(format)

gate: $(filter %/podbench,$(PODBENCH))  ## compare predictions with the recorded ones: fails when one moved
	@$(simulate_quietly)
	@$(podbench) compare $(run) $(baseline) $(format)

baseline: $(filter %/podbench,$(PODBENCH)) ## record the predictions that gate compares with; needs REASON="why they moved"
	@[ -n "$$PODBENCH_REASON" ] || { echo 'podbench: make baseline REASON="why the predictions moved"' >&2; exit 2; }
	@$(simulate_quietly)
	@$(podbench) baseline $(run) $(baseline) --reason "$$PODBENCH_REASON"

plots: $(filter %/podbench,$(PODBENCH)) ## simulate, and draw the figures of the run
	@$(simulate_quietly)
	@$(podbench) plot $(run)

report: plots                           ## the same, and one page of everything: report.html in the run's folder
	@$(podbench) report $(run)

help:                                   ## print this list
	@sed -n 's/^\([a-z-]*\):.*##/\1 -/p' $(call quoted,$(home)/harness/project.mk)

# The program, where its source is at hand.
$(home)/build/podbench:
	$(MAKE) -C $(call quoted,$(home)) build/podbench
