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
echo "<svg>$name</svg>"
EOF
chmod +x "$work/bin/gnuplot"
show_plot() { PATH="$work/bin:$PATH" show plot "$work/one"; }
show_plot
for file in "$work"/one/figures/*; do
    echo "${file##*/}" && cat "$file"
done | plain >>"$work/shown"
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
printed report

show init "$work/mine"
show_file "$work"/mine/* 2>/dev/null
show_file "$work"/mine/recipes/* "$work"/mine/published/*
show init "$work/mine"
printed init
done_testing
