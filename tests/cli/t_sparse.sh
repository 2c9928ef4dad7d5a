#!/bin/sh
# Sparse weights, and tables whose rows lie on several replicas: what a recipe states, what commands answer, what is refused.
. tests/tap.sh

bert="mlperf-v1.1-closed-ipu-pod16-bert-large --set sparsity.density=0.1 --set sparsity.block=16"
run workload bert-large --set sparsity.density=0.1 --set sparsity.block=16 --set sparsity.layers='encoder*/feed-forward'
gives 0 'sparse: 20140032 of 201326592 weights of 48 products' "workload counts the weights that are there"
run run $bert --set sparsity.pattern=dynamic --set "sparsity.layers=encoder*/feed-forward"
gives 0 'mlperf-v1.1-closed-ipu-pod16-bert-large: bert-large on 16 IPUs' "a dense model trains with dynamic patterns"
refuses 'static' "static patterns have no gradients" run $bert --set sparsity.pattern=static
refuses 'sparsity.block: 16 does not divide the weights of layer nsp-head' "blocks divide the weights" \
    run $bert --set sparsity.pattern=dynamic --set sparsity.layers=nsp-head

transe=field-ipu-pod4-transe-wikikg2-bess
run plan $transe --all
gives 0 'all-to-all     forward' "looked-up rows go over the links"
run run $transe --set data.negatives=2
gives 0 'transe on 4 IPUs of ipu-pod4, training' "negatives are a setting"
run fit field-ipu-pod4-transe-100-sgdm-limit
gives 0 'largest table, in rows: 34' "fit says how many rows a table may have"
refuses 'parallel.micro_batch: transe deals its triples out to 4 shards evenly; want a multiple of that, not 3' "triples are dealt out evenly" run $transe --set parallel.micro_batch=3
refuses 'data.embedding_size: a row of rotate has the real parts of complex numbers, then as many imaginary parts; want an even number, not 33' "complex rows" run field-ipu-pod4-rotate-biokg-bess --set data.embedding_size=33
refuses "no table that lookups alone read is in a layer named 'top'" "a layer without a table" \
    run field-ipu-pod4-hashed-dlrm-train --set parallel.shard_tables=top
run execute $transe
gives 2 'cannot be executed; leave out parallel.shard_tables' "execution has whole tables"
run run field-ipu-pod4-hashed-dlrm-train --set parallel.shard_tables=auto
gives 0 'graphs/hashed-dlrm.onnx on 4 IPUs' "tables of a file are spread"
run workload dlrm
gives 0 '12624385 parameters' "dlrm has the parameters that its notebook prints"
done_testing
