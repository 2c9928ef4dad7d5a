# Everything is in bench.mk; here only what does not belong in another project's makefile.
MAKEFLAGS += --no-builtin-rules
# One goal is made on all cores, unless -j says otherwise; several are made one after the other, as they are named.
ifeq ($(MAKELEVEL)$(word 2,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
include bench.mk
include tests/tests.mk
include explorer/explorer.mk
include harness/release.mk
