#!/bin/sh
# What figures, reports and new projects are written with, word for word.
. tests/tap.sh
. tests/printed.sh
export SOURCE_DATE_EPOCH=172861
"$PODBENCH" bench --out "$work/one" >/dev/null 2>&1
mkdir "$work/bin"

# A gnuplot that draws nothing but what it is told.
cat >"$work/bin/gnuplot" <<'EOF'
#!/bin/sh
echo "$@" >>drawn.txt
name=$(basename "$4" .gp).$(echo "$3" | sed "s/.*; format=.\\([a-z]*\\).\$/\\1/")
cat <<END
<?xml version="1.0"?>
<svg id="top"><path id='a' fill="url(#b)"/><use xlink:href='#a'/><use href="#top"/><b class="id">$name</b></svg>
END
EOF
chmod +x "$work/bin/gnuplot"
show_plot() { PATH="$work/bin:$PATH" show plot "$work/one"; }
show_plot
sort -o "$work/one/figures/drawn.txt" "$work/one/figures/drawn.txt"     # several are drawn at once
for file in "$work"/one/figures/*; do
    echo "${file##*/}" && cat "$file"
done | plain >>"$work/shown"
# On a terminal: how many figures are drawn, of those that are there, and how long the rest takes; told from the third second on.
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    mkdir "$work/slow" && cp -r "$work/one" "$work/shown-run"
    printf '#!/bin/sh\nsleep 0.6\necho "<svg/>"\n' >"$work/slow/gnuplot"
    chmod +x "$work/slow/gnuplot"
    TERM=xterm PATH="$work/slow:$PATH" script -qec "'$PODBENCH' plot '$work/shown-run'" /dev/null </dev/null | tr '\r' '\n' >"$work/terminal"
    set -- "$work"/shown-run/figures/*.png
    sed -n 's/^podbench: drawing: \([0-9]*\) of \([0-9]*\), \([0-9]*\) s left .*/\1 \2 \3/p' "$work/terminal" |
        awk -v figures=$# -v none="$(grep -c 'no figure' "$work/terminal")" '
            BEGIN { all = figures + none }
            NR == 1 { good = $1 > 1 && $3 > 0 } NR > 1 && ($1 <= before || $1 > before + 3 + none) || $2 != all || $3 > 60 { good = 0 } { before = $1; left = $3 }
            END { exit !(good && before == all && left == 0) }'
    result $? "figures are counted on a terminal" "$(cat "$work/terminal")"
else
    result 0 "figures are counted on a terminal # SKIP no script(1) here"
fi
printf '#!/bin/sh\nprintf "\\nwarning: empty\\nline 3: no such thing\\n" >&2\nexit 1\n' >"$work/bin/gnuplot"
drawn_by "$work/bin:$PATH" plot "$work/one"
printed plot
show report "$work/one"
sed -n '/<body/,$p' "$work/one/report.html" | plain >>"$work/shown"
"$PODBENCH" bench --out "$work/vendor" >/dev/null 2>&1
show report "$work/vendor" --published tests/root/results/published/vendor.csv
sed -n "/<table/,/<.table>/p" "$work/vendor/report.html" | plain >>"$work/shown"
run_of_others "$work/three"
"$PODBENCH" report "$work/three" >/dev/null 2>&1
grep '<div><b>' "$work/three/report.html" >>"$work/shown"           # errors so large that their digits show
# Beside a baseline: what moved of the figures that both have. Then one row is new, and one the baseline's alone.
cp -rL tests/root "$work/root" && chmod -R u+w "$work/root"
"$PODBENCH" baseline "$work/one" --baseline "$work/root/results/baselines" --reason first >/dev/null 2>&1
for run in one three; do
    "$PODBENCH" report "$work/$run" --root "$work/root" >/dev/null 2>&1
    sed -n 's/.*<div><b>\(.*\)<.b>.*predictions of published figures moved.*/moved: \1/p' "$work/$run/report.html" >>"$work/shown"
done
sed -i '/^mlperf-v1.0-closed-ipu-pod16-bert-large.step,/d; s/^mlperf-v1.0-closed-ipu-pod16-resnet50.step,/another,/' "$work/root/results/baselines/check.csv"
"$PODBENCH" report "$work/three" --root "$work/root" >/dev/null 2>&1
sed -n 's/.*<div><b>\(.*\)<.b>.*predictions of published figures moved.*/moved: \1/p' "$work/three/report.html" >>"$work/shown"
printed report

show init "$work/mine"
show_file "$work"/mine/* 2>/dev/null
show_file "$work"/mine/recipes/* "$work"/mine/published/*
show init "$work/mine"
sed -i '/make cannot include files from/d' "$work/shown"       # printed when the tests are in a folder with a blank in its name
printed init

# In the folder of the project: a measurement, in each format, and how it was kept.
here=$PWD
for format in text csv json; do
    rm -f "$work/mine/podbench-measured.csv"
    (cd "$work/mine" && case $PODBENCH in /*) ;; *) PODBENCH=$here/$PODBENCH ;; esac && echo "\$ podbench measured --format $format" &&
        PODBENCH_ROOT=$here/tests/root "$PODBENCH" measured recipes/my-run.ini --step 90ms --format $format && echo) 2>&1 | plain >>"$work/shown"
done
cut -d, -f1-3,5- "$work/mine/podbench-measured.csv" >>"$work/shown"       # without the version
printed measured
done_testing
