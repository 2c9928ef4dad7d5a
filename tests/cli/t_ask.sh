#!/bin/sh
# podbench ask: one line is answered on one page, and the recipe that it writes gives that answer again.
. tests/tap.sh

here=$PWD
PODBENCH=$(realpath "$PODBENCH")
asked() { # WORD... - asks in the work folder, and keeps the answer
    (cd "$work" && PODBENCH_ROOT=$here "$PODBENCH" ask "$@" >"$work/out" 2>"$work/err")
    status=$?
}
rate() { sed -n 's/^throughput: \([^ ]*\) .*/\1/p' "$1"; }

for question in "bert on pod16" "resnet-50 on 16 gc200" "vit on bow-pod4 infer" "GPT2 on POD16 train" "bert-base on c600 infer"; do
    # shellcheck disable=SC2086
    asked $question --most 20
    recipe=$(sed -n 's/^wrote //p' "$work/out")
    "$PODBENCH" run "$work/$recipe" >"$work/again" 2>/dev/null
    [ "$status" -eq 0 ] && [ -n "$(rate "$work/out")" ] && [ "$(rate "$work/out")" = "$(rate "$work/again")" ] && grep -q "^trust: " "$work/out"
    result $? "run gives the answer again: $question" "$recipe: $(rate "$work/out"), run $(rate "$work/again"); $(cat "$work/err")"
done
# The answer is no slower than where it began, and fits as surely as is asked for.
asked bert on pod16 fits with 90 % --most 60
awk '/^began with/ { for (i = 1; i <= NF; i++) if ($(i + 1) == "samples/s;") own = $i } /^throughput:/ { best = $2 } END { exit !(own > 0 && best >= own * 0.995) }' "$work/out"
result $? "the search does not lose" "$(grep '^began\|^throughput' "$work/out")"
grep -qE "^fits: yes \((9[0-9] % likely|it ran;)" "$work/out"
result $? "a chance that is asked for is kept" "$(grep '^fits' "$work/out")"
asked vit on bow-pod16 fits with 99 % --most 10
[ "$status" -eq 1 ] && grep -q '^nothing that was tried keeps the limits' "$work/out" && grep -q '^fits: .*([6-9][0-8] % likely, as the memory of no program near it is known)' "$work/out"
result $? "99 % of an unfamiliar program is not promised" "$(grep '^fits\|^nothing' "$work/out")"
asked resnet50 on 16 bow at least 5k/s cheapest --most 100
grep -q " on [1-8] IPUs\{0,1\} of bow-pod16" "$work/out" && awk '/^throughput:/ { exit !($2 >= 5000) }' "$work/out"
result $? "the fewest IPUs for a rate" "$(sed -n '/ IPU.* of /p;/^throughput/p' "$work/out")"
asked llama2-13b on ipu-pod64 infer cheapest at least 2 tokens/s for 16 texts --most 400
grep -q " on [1-9][0-9]* IPUs* of ipu-pod64" "$work/out" && awk '/^throughput:/ { for (i = 2; i <= NF; i++) if ($i == "tokens/s") exit !($(i - 1) >= 2) }' "$work/out" \
    && awk '/ms per step of|s per step of/ { for (i = 2; i <= NF; i++) if ($i == "of") exit !($(i + 1) <= 16) }' "$work/out"
result $? "the fewest IPUs for a rate of new tokens" "$status: $(sed -n '/ IPU.* of /p;/^throughput/p' "$work/out")$(cat "$work/err")"
asked resnet50 on 1 bow cheapest fits with 100 % --most 5
grep -q "keeps the limits (at most 1 IPU, fits with 100 %)" "$work/out"
result $? "no rate is named that nobody asked for" "$(grep '^nothing' "$work/out")"
asked resnet50 on pod16 at least 1M/s --most 20
[ "$status" -eq 1 ] && grep -q "nothing that was tried keeps the limits (16 IPUs, at least 1000000 samples/s, fits with 90 %)" "$work/out"
result $? "a rate that nothing reaches is exit 1, and all limits are named" "$status: $(grep '^nothing' "$work/out")"
# A chip is asked for in the smallest system that has a host: without one an answer would leave the host out, and no published run would be like it.
asked resnet50 on 1 bow infer --most 5
grep -q " on 1 IPU of bow-2000, inference" "$work/out" && grep -q "^trust: .*90 % interval" "$work/out"
result $? "one chip is one of a board with a host" "$(grep ' on 1 IPU\|^trust' "$work/out")"
for option in --seconds=-1 --jobs=1000000; do
    asked vit on pod16 $option --out refused.ini
    [ "$status" -eq 2 ] && [ ! -e "$work/refused.ini" ]
    result $? "no recipe is left by $option" "$status: $(cat "$work/err")"
done
# Another model's samples, convergence and source say nothing of this one.
asked resnet34 on bow-pod16 train --most 20
grep -q "^began with: the published recipe [^ ]*resnet50[^ ]*, which has another model" "$work/out" && ! grep -q "^time to train" "$work/out" \
    && ! grep -qE '^\[(training|data)\]|^opt_' "$work/ask-resnet34-bow-pod16-train.ini" && grep -qx "source = asked; no published run has this model" "$work/ask-resnet34-bow-pod16-train.ini"
result $? "a model without a published run takes no figures of another" "$(cat "$work/out" "$work/ask-resnet34-bow-pod16-train.ini")"
# What a published recipe leaves open is settled by what the search chooses, and a machine without streaming memory gets none.
asked gpt2-small on ipu-pod64 --most 20
"$PODBENCH" run "$work/ask-gpt2-small-ipu-pod64.ini" >"$work/again" 2>"$work/err2"
[ "$status" -eq 0 ] && [ "$(rate "$work/out")" = "$(rate "$work/again")" ]
result $? "a recipe with open readings can be read again" "$(cat "$work/err" "$work/err2")"
asked rnnt on c600 --most 40
[ "$status" -le 1 ] && ! grep -q "streaming" "$work/err" && grep -q "^optimizer_state = on-chip" "$work/ask-rnnt-c600.ini"
result $? "a chip alone streams nothing" "$status: $(cat "$work/err")"
# BERT-Large fits 16 GC2 only if its layers are cut over IPUs, and its word table over stages.
asked bert-large on dss8440 train rows of 128 tokens --seconds 600
[ "$status" -eq 0 ] && grep -q "^began with: the published recipe vendor-[^ ]*-bert-large-ph1-.* configurations with rows of 128 tokens simulated" "$work/out" && grep -q "^fits: yes (9[0-9] % likely" "$work/out" \
    && grep -qx "sequence_length = 128" "$work/ask-bert-large-dss8440-train.ini" && grep -qx "embedding_split = 4" "$work/ask-bert-large-dss8440-train.ini"
result $? "BERT-Large on a DSS 8440" "$status: $(cat "$work/out" "$work/err")"
asked llama2-7b on 1 gc200 infer rows of 777 tokens --most 20
grep -q "^began with: .*, with rows of 777 tokens" "$work/out" && grep -qx "sequence_length = 777" "$work/ask-llama2-7b-"*.ini
result $? "rows of a length that no recipe has" "$status: $(cat "$work/out" "$work/err")"
asked llama2-7b on 1 gc200 infer --seconds 600
[ "$status" -eq 0 ] && grep -q "^began with: .* with rows of 1024 tokens, as those of 2048 fit in no way that was tried" "$work/out" && grep -qx "tensor_parallel = 1" "$work/ask-llama2-7b-"*.ini
result $? "shorter rows where long ones do not fit" "$status: $(cat "$work/out" "$work/err")"
# A recipe that only infers has no optimizer; the model of the nearest size that trains has one.
asked llama2-7b on ipu-pod16 train --most 20
[ "$status" -le 1 ] && grep -q "^began with: the published recipe vendor-ipu-pod16-gpt-j-popxl, which has another model" "$work/out" && grep -q "^name = adamw$" "$work/ask-llama2-7b-ipu-pod16-train.ini"
result $? "a model that was only run in inference is trained" "$status: $(cat "$work/out" "$work/err")"
asked flan-t5-base on 1 gc200 train --most 200
[ "$status" -eq 0 ] && grep -q "^throughput" "$work/out"
result $? "fewer IPUs than the recipe cuts layers over" "$status: $(cat "$work/out" "$work/err")"
# A model of one's own.
cp tests/root/two-layers.onnx "$work/mine.onnx"
asked mine.onnx on 4 bow infer --most 20
[ "$status" -eq 0 ] && [ -e "$work/ask-mine-bow-2000-infer.ini" ]
result $? "an ONNX file is asked in one line" "$status: $(cat "$work/err")"
echo "# mine" >"$work/ask-vgg16-c600-infer.ini"
refused() { # MESSAGE WHAT WORD...
    message=$1 what=$2
    shift 2
    asked "$@"
    [ "$status" -eq 2 ] && grep -qF -e "$message" "$work/err"
    result $? "$what" "$status: $(cat "$work/err")"
}
refused "ask: 'llama7' is neither a built-in model nor the path of an ONNX file; did you mean 'llama2-7b'? podbench list workloads has all" "a model that is not there" llama7 on pod16
refused "ask: 'h100' is neither a machine (podbench list machines) nor a number and a chip, as in '16 bow'; only IPUs are modelled" "another vendor's machine" bert on h100
refused "ask: no system has 4000000 'bow' chips" "too many chips" bert on 4000000 bow
refused "ask: 'quickly' has no meaning here; want ask MODEL on MACHINE" "a word without a meaning" bert on pod16 quickly
refused "generates no tokens, so no token rate can be asked for" "tokens of a model without texts" resnet50 on pod16 infer at least 10 tokens/s
[ ! -e "$work/ask-resnet50-bow-pod16-infer.ini" ]
result $? "a refusal leaves no recipe" "$(ls "$work")"
asked resnet50 on pod16 infer --most 5
cp "$work/ask-resnet50-bow-pod16-infer.ini" "$work/earlier"
asked resnet50 on pod16 infer at least 10 tokens/s
cmp "$work/earlier" "$work/ask-resnet50-bow-pod16-infer.ini"
result $? "a refusal leaves the earlier answer" "$(cat "$work/ask-resnet50-bow-pod16-infer.ini")"
asked bert on pod16 train for 1 text --most 5
grep -qF "keeps the limits (16 IPUs, a global batch of at most 1 text, fits with 90 %)" "$work/out"
result $? "texts in training are those of a global batch" "$status: $(grep '^nothing' "$work/out")"
refused "resnet50 has no rows of tokens; leave out the number of tokens" "rows of a model without tokens" resnet50 on pod16 rows of 128 tokens
refused "resnet50 has no texts; leave out their number" "texts of a model without texts" resnet50 on pod16 for 16 texts
refused "resnet50 has no rows of tokens" "a number of tokens after a machine is none of chips" resnet50 on pod16 128 tokens
refused "generates no tokens" "one text" bert-base on pod16 infer 1 text at least 5 tokens/s
refused "ask: '1.5 texts': want a number above 0, without a fraction" "half a text" llama2-7b on pod16 for 1.5 texts
for words in "train infer" "at least 5 tokens/s 6 tokens/s" "for 4 texts for 5 texts" "fastest cheapest" "at least 5/s at least 7/s" "fits with 90 % fits with 95 %"; do
    # shellcheck disable=SC2086
    refused "says again what an earlier word has said; keep one of the two" "two of a kind: $words" bert on pod16 $words
done
refused "ask: '0.9' has no meaning here" "a chance that is no per cent" bert on pod16 fits with 0.9
refused "usage: podbench ask [OPTION...] MODEL on MACHINE [WORD...]" "a model alone" bert
refused "ask-vgg16-c600-infer.ini" "a file that is somebody's own is not replaced" vgg16 on c600 infer
refused "--seconds: 'soon' is not a number above 0" "a time that is none" bert on pod16 --seconds soon
asked bert on pod16 --most 10 --format json
jq=$(grep -c '"validity": {\|"result": {\|"recipe": "ask-bert-large-bow-pod16.ini"' "$work/out")
[ "$jq" -eq 3 ]
result $? "json has the result, the trust and the recipe" "$jq"
done_testing
