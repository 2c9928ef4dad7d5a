# memory.gp - the fullest tile of each model's runs by region, against the tile's memory.
set datafile separator comma
set datafile columnheaders
stats 'memory.csv' using "row" nooutput
rows = STATS_records
narrow = width < 500
height = narrow ? 300 + 38*rows : 220 + 22*rows
stats 'memory.csv' using "limit" name 'limit' nooutput
load style
do for [i=1:2] { limit = i == 1 ? limit_min : limit_max; set arrow i from limit, graph 0 to limit, graph 1 nohead lw 2 lc rgb black }
set xlabel 'kB per tile; the line: all of it' offset 0,0.3
set xrange [0:limit_max*1.02]
set yrange [rows-0.3:-0.7]
set ytics scale 0 noenhanced
set grid noy
set style fill solid 1.0 noborder
if (narrow) { set lmargin at screen 0.03; unset ytics } else { set lmargin at screen 0.6 }
set rmargin at screen 0.96
set xtics 200
set tmargin at screen under_head(narrow ? 8.4 : 5.8)
set key at screen 0.5,under_head(0.1) center top vertical maxrows (narrow ? 7 : 5) samplen 0.4 width -1
data = 'memory.csv'
names = '"weights" "accumulators" "optimizer state" "stash" "io buffers" "activations" "temporaries" "gaps" "vertex code" "vertex state" "vertex fields" "control code" "exchange code" "stack"'
part(k) = word('#0072b2 #56b4e9 #009e73 #e69f00 #f0e442 #d55e00 #cc79a7 #dddddd #333333 #666666 #8c8c8c #a6a6a6 #bbbbbb #000000', k)
from = narrow ? 0 : -0.4
plot for [k=1:14] data using (end(k)):"row":(end(k - 1)):(end(k)):(column("row") + from):(column("row") + 0.4):ytic(strcol("label")) with boxxyerror lc rgb part(k) title word(names,k), \
     data using (0):(column("row") - 0.27):(narrow ? strcol("label") : '') with labels left noenhanced notitle, \
     data using (column("limit")/2):"row":(sprintf("%s\n%.0f of %.0f kB", strcol("label"), end(14), column("limit")).pieces(1, 14, '%.1f kB')) @of_row
