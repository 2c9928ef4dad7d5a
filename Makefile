include bench.mk
