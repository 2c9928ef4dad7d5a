# Everything is in bench.mk; here only what does not belong in another project's makefile.
MAKEFLAGS += --no-builtin-rules
include bench.mk
include tests/tests.mk
