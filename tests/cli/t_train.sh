#!/bin/sh
# podbench train: made-up data is learned, the same bytes at any number of threads and after a kill anywhere, and what cannot be trained on is refused.
. tests/tap.sh
PODBENCH=$(realpath "$PODBENCH")
PODBENCH_ROOT=$PWD
export PODBENCH_ROOT
. tests/killed.sh
cd "$work" || exit 1

# PART N CLASSES - images of 8 pixels of noise, in which the rows of the class are bright, and their labels, as IDX; the labels are gzipped.
images() {
    perl -e 'srand(3); my ($part, $n, $classes) = @ARGV; open(X, ">", "data/$part-images-idx3-ubyte"); open(Y, ">", "data/$part-labels-idx1-ubyte");
        print X pack("N4", 0x803, $n, 16, 16); print Y pack("N2", 0x801, $n);
        for my $i (0 .. $n - 1) { my $c = $i % $classes; print Y chr($c);
            print X chr(int(rand(60)) + (int($_ / 16) == $c ? 190 : 0)) for 0 .. 255; }' "$1" "$2" "$3"
    gzip -nf "data/$1-labels-idx1-ubyte"
}
mkdir data && images train 50 4 && images t10k 16 4
cat >tiny.ini <<'END'
[recipe]
id = tiny
workload = resnet8
system = ipu-pod4
source = a test
[data]
path = data
image_size = 16
norm_groups = 4
[parallel]
replicas = 2
ipus_per_replica = 1
micro_batch = 4
gradient_accumulation = 2
[precision]
compute = fp32
[optimizer]
name = sgd
opt_base_learning_rate = 0.1
opt_momentum = 0.9
[training]
target = 0.9
eval_every = 64
eval_samples = 16
samples_to_converge = 1000
END

# ---- learning
run train tiny.ini --jobs 1
gives 0 "target 0.9: reached after " "four kinds of bright rows are learned"
cp out whole
run train tiny.ini --jobs 3
cmp -s out whole
result $? "three threads: the same bytes" "$(diff out whole)"
run train tiny.ini --until 96 --format csv --mllog log
[ "$status" -eq 0 ] && [ "$(grep -c '^1,[1-6],' out)" -eq 6 ] && [ "$(wc -l <out)" -eq 7 ]
result $? "96 samples are six steps, each with a row" "$(cat out err)"
# Step 6: 96 samples, 1.92 epochs of 50, and the minutes of six steps and two evaluations.
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i } NR > 1 { m[$2] = $c["minutes"]; s = $c["samples"]; e = $c["epoch"] }
    END { step = m[2] - m[1]; eval = m[4] - m[3] - step; d = m[6] - m[1] - 5 * step - 2 * eval; exit !(s == 96 && e == 1.92 && step > 0 && eval >= 0 && d * d < 1e-16) }' out
result $? "samples, epochs and minutes are those of steps and evaluations" "$(cat out)"
[ "$(grep -c '"train_loss"' log/result_0.txt)" -eq 6 ] && [ "$(grep -c '"eval_accuracy"' log/result_0.txt)" -eq 2 ]
result $? "the log has a loss for each step and a quality for each evaluation"
loss=$(sed -n 7p out | cut -d, -f7)
grep -q "\"train_loss\", \"value\": $(echo "$loss" | cut -c1-8)" log/result_0.txt
result $? "and they are those that were computed" "$loss; $(grep train_loss log/result_0.txt | tail -1)"
# A library that cannot be opened: products by loops round otherwise, and learn the same.
mkdir nothing && : >nothing/libdnnl.so.2
cp out with_library
LD_LIBRARY_PATH=$work/nothing${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$PODBENCH" train tiny.ini --until 96 --format csv >out 2>err
paste -d, with_library out | awk -F, 'NR > 1 { d = $7 / $(NF / 2 + 7) - 1; n += d * d < 1e-8 } END { exit n != 6 }'
result $? "without oneDNN the losses are the same" "$(cat out err)"
if command -v gnuplot >/dev/null 2>&1; then
    run train tiny.ini --seeds 2 --until 64 --plot runs.svg
    [ "$status" -eq 0 ] && grep -q "resnet8 on ipu-pod4, 2 runs" runs.svg && [ "$(cut -d, -f1,2 runs.svg.csv | tr '\n' ' ')" = "seed,step 1,1 1,2 1,3 1,4 2,1 2,2 2,3 2,4 " ]
    result $? "a picture, and the steps of both seeds beside it" "$status: $(cat err) $(cat runs.svg.csv)"
else
    result 0 "a picture # SKIP no gnuplot here"
fi
sed /norm_groups/d tiny.ini >norms.ini
run train norms.ini --until 32
gives 0 "accuracy" "batch norms are trained, too"
run train tiny.ini --seeds 2 --until 64
gives 0 "seed" "two seeds are a row each"
run train tiny.ini --until 16 --set training.target=0.999
gives 0 "target 0.999: not reached" "an end in samples is no failure"
run train tiny.ini --set training.target=0.999999 --set optimizer.opt_learning_rate_decay_steps=2
gives 1 "not reached after 32 samples" "without the target the status is 1"

# ---- speech: three words an utterance, of three kinds; every second of eight frames shows one. By 800 samples each utterance's words are found.
mkdir speech
for part in train eval; do
    perl -e 'srand(5); my ($part, $n, $x, $y) = (@ARGV, 16, "", "");
        sub npy { my ($path, $type, $shape, $bytes) = @_; my $h = "{\x27descr\x27: \x27$type\x27, \x27fortran_order\x27: False, \x27shape\x27: ($shape), }";
            $h .= " " x (63 - (10 + length $h) % 64) . "\n"; open(F, ">", "speech/$path"); print F "\x93NUMPY\x01\x00", pack("v", length $h), $h, $bytes; close F }
        for (1 .. $n) { my @l = map { int rand 3 } 1 .. 3; $y .= pack("l<3", @l);
            for my $t (0 .. 7) { my $k = $t % 2 ? $l[$t / 2] : -1; $x .= pack("f<120", map { int($_ / 40) == $k ? 1 : 0 } 0 .. 119) } }
        npy("$part-features.npy", "<f4", "$n, 8, 120", $x); npy("$part-labels.npy", "<i4", "$n, 3", $y)' "$part"
done
sed 's/^id = .*/id = speech/; s|^path = .*|path = speech|; s/^sequence_length = .*/sequence_length = 8/; s/^replicas = .*/replicas = 1/; s/^eval_samples = .*/eval_samples = 16/
    s/^opt_learning_rate_warmup_steps = .*/opt_learning_rate_warmup_steps = 1/; s/^eval_every = .*/eval_every = 400/' "$PODBENCH_ROOT/workloads/recipes/trained/digits.ini" >speech.ini
run train speech.ini --until 800 --format csv
awk -F, '$3 == 400 { first = $8 } $3 == 800 { last = $8 } END { off = first * 48 - int(first * 48 + 0.5); exit !(first > 0 && first < 0.5 && off * off < 1e-12 && last != "" && last == 0) }' out
result $? "a transducer learns to read three words" "$(cat err; grep '[0-9]$' out | cut -d, -f3,7,8)"
sed 's/^eval_every = .*/eval_every = 4/' speech.ini >begun.ini
run train begun.ini --until 4 --format csv
awk -F, 'NR == 2 { exit !($8 > 0.8) }' out
result $? "after a step it finds few of them" "$(cat err out)"

# One class alone is learned in a step or two: then all of the items that are evaluated are right, and none of another class's.
cp -r data four && images train 50 1 && images t10k 16 1
run train tiny.ini --until 64 --format csv
right=$(tail -n 1 out | cut -d, -f8)
perl -e 'open F, ">", "data/t10k-labels-idx1-ubyte" or die; print F pack("N2", 0x801, 16), "\x03" x 16' && gzip -nf data/t10k-labels-idx1-ubyte
run train tiny.ini --until 64 --format csv
wrong=$(tail -n 1 out | cut -d, -f8)
[ "$right" = 1 ] && [ "$wrong" = 0 ]
result $? "accuracy is 1 where every label is found, and 0 where none is" "$right and $wrong: $(head -n 1 out; tail -n 1 out)"
rm -r data && mv four data

# ---- killed anywhere
end="--until 64 --jobs 1 --set training.eval_every=32"
"$PODBENCH" train tiny.ini $end >uncut 2>/dev/null
changing_calls 4 "$PODBENCH" train tiny.ini $end --checkpoint ck >points
n_killed=0 torn=
while read -r call at; do
    rm -f ck*
    killed_at "$call" "$at" "$PODBENCH" train tiny.ini $end --checkpoint ck 2>/dev/null || torn="$torn $call:$at(not killed)"
    n_killed=$((n_killed + 1))
    "$PODBENCH" train tiny.ini $end --checkpoint ck --resume >again 2>err </dev/null && cmp -s again uncut || torn="$torn $call:$at($(head -c 200 err))"
done <points
[ "$n_killed" -ge 3 ] && [ -z "$torn" ]
result $? "killed at $n_killed calls: resumed, it answers as if it had never been" "$torn"
[ "$(ls ck* | grep -v '^ck\.podbench-.*\.new$')" = ck ]
result $? "and nothing is left over but a file that was not finished" "$(ls)"
cp ck whole.ck
refuses "whole.ck: belongs to seed 1; resume with --seed 1" "another seed's checkpoint" train tiny.ini $end --seed 2 --checkpoint whole.ck --resume
refuses "whole.ck: belongs to another recipe, other settings or other data than tiny" "other settings" train tiny.ini $end --set optimizer.opt_momentum=0.8 --checkpoint whole.ck --resume
head -c 20000 whole.ck >torn.ck
refuses "torn.ck: is damaged or incomplete; remove it and train anew" "half a checkpoint" train tiny.ini $end --checkpoint torn.ck --resume
bytes=$(wc -c <whole.ck) read=
for at in 100 $((bytes / 3)) $((bytes / 2)) $((bytes - 100)) $((bytes - 1)); do      # the points, weights and moments, the hash itself
    perl -e 'local $/; open F, "<", "whole.ck" or die; binmode F; $_ = <F>; substr($_, $ARGV[0], 1) ^= "\x01"; binmode STDOUT; print' $at >flipped.ck
    "$PODBENCH" train tiny.ini $end --checkpoint flipped.ck --resume >out 2>err
    [ $? -eq 2 ] && grep -q 'flipped.ck: is damaged or incomplete; remove it and train anew' err || read="$read $at: $(cat err)"
done
[ -z "$read" ]
result $? "a flipped bit anywhere in a checkpoint" "$read"
echo mine >mine
refuses "mine: is there, and does not hold a checkpoint" "somebody's file is not replaced" train tiny.ini --checkpoint mine
refuses "--resume: name the file by --checkpoint" "resuming from nowhere" train tiny.ini --resume

# ---- bad input
few="train tiny.ini --until 16 --mllog no"
refuses "tiny.ini: diverged: the loss of step" "divergence" train tiny.ini --set optimizer.opt_base_learning_rate=1e30 --mllog no --checkpoint no.ck
refuses "[data] has no path, the file or folder to train on" "no data" $few --set data.path=
refuses "nowhere/train-images-idx3-ubyte.gz: is not there; Debian's dataset-fashion-mnist has such files" "missing data" $few --set data.path=nowhere
refuses "an item has 16 x 16 elements, and the input images of resnet8 wants 28 x 28 x 1" "another size" $few --set data.image_size=28
refuses "GB of host memory, and the limit is" "too little memory" $few --set parallel.micro_batch=4096 --set parallel.replicas=256 --set recipe.system=bow-pod256
refuses "has no opt_base_learning_rate" "no learning rate" $few --set optimizer.opt_base_learning_rate=
refuses "--until: 'soon' is neither target nor a number of samples" "no end" train tiny.ini --until soon
refuses "none/no.svg: cannot be written: No such file or directory" "a picture in no folder, before the training" train tiny.ini --until 16 --plot none/no.svg
refuses "mine/log: cannot be made: Not a directory" "logs in no folder, before the training" train tiny.ini --until 16 --mllog mine/log
cp -r data kept && images train 50 12
refuses "data/train-labels-idx1-ubyte.gz: label 10 is 10, and the model has the classes 0 to 9" "labels out of range" $few
rm -r data && cp -r kept data && head -c 9000 kept/train-images-idx3-ubyte >data/train-images-idx3-ubyte
refuses "train-images-idx3-ubyte: is torn: it promises 12800 bytes, and has fewer" "torn images" $few
rm -r data && cp -r kept data && head -c -9 kept/train-labels-idx1-ubyte.gz >data/train-labels-idx1-ubyte.gz
refuses "train-labels-idx1-ubyte.gz: is torn: it promises 50 bytes, and has " "a torn archive" $few
[ ! -e no ] && [ ! -e no.ck ]
result $? "and nothing was written" "$(ls)"
done_testing
