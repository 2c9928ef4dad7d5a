# kinds.gp - errors of throughput by how much was known of a run when it was first predicted. A dot is a configuration, at first sight and by today's
# program; a band holds nine in ten of a kind's dots. A kind's name stands above its dots.
set datafile separator comma
set datafile columnheaders
stats 'kinds-bands.csv' using "row" nooutput
rows = STATS_records
stats 'kinds.csv' using "then" name 'then' nooutput
stats 'kinds.csv' using "now" name 'now' nooutput
least = 0.85*(then_min < now_min ? then_min : now_min)
narrow = width < 500
height = 128 + 50*rows
load style
set logscale x
set xtics ('1/10' 0.1, '1/5' 0.2, '1/2' 0.5, '1' 1, '2' 2, '5' 5, '10' 10, '20' 20, '100' 100)
if (!narrow) { set xtics add ('1/100' 0.01, '1/20' 0.05) }
set xlabel 'predicted / published throughput' offset 0,0.7
set xrange [least:*]
set yrange [rows-0.4:-0.75]
unset ytics
set border 1
set grid noy
set lmargin at screen 0.03
set rmargin at screen 0.97
set bmargin at screen 56.0/height
set tmargin at screen under_head(1.5)
set key at screen 0.5,under_head(0.1) center top vertical maxrows 1 samplen 0.5 width (narrow ? -4 : 0)
set style fill solid 1.0 noborder
named(x) = sprintf(narrow ? "%s (%.0f): +-%.2g, now +-%.2g %%" : "%s (%.0f): half within %.2g %% at first sight, now within %.2g %%", strcol("kind"), column("configurations"), column("then median"), column("now median"))
percent(x) = 100*(x - 1)
says(x) = sprintf("%s\n%+.1f %% at first sight, %+.1f %% now\n%s", strcol("recipe"), percent(column("then")), percent(column("now")), strcol("kind"))
b = 'kinds-bands.csv'
d = 'kinds.csv'
plot b using "then low":"row":"then low":"then high":(column("row") - 0.2):(column("row") + 0.08) with boxxyerror lc rgb '#fbe3d2' notitle, \
     b using "now low":"row":"now low":"now high":(column("row") + 0.12):(column("row") + 0.4) with boxxyerror lc rgb '#d4e6f2' notitle, \
     d using "then":(column("row") - 0.06) with points pt 6 ps 0.8 lw 1.2 lc rgb red title 'at first sight', \
     d using "now":(column("row") + 0.26) with points pt 7 ps 0.7 lc rgb '#600072b2' title 'now', \
     NaN with boxes lc rgb '#dddddd' title 'nine in ten', \
     b using (1.01*least):(column("row") - 0.45):(named(0)) with labels left noenhanced notitle, \
     for [w in 'then now'] d using w:(column("row") + (w eq 'now' ? 0.26 : -0.06)):(says(0)) @of_point
