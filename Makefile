# Everything is in bench.mk; here only what does not belong in another project's makefile.
MAKEFLAGS += --no-builtin-rules
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
include bench.mk
