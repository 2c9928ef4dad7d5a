# memory.gp - the fullest tile of each IPU by region, against the tile's memory. Its name stands above its bar.
set datafile separator comma
set datafile columnheaders
stats 'memory.csv' using "row" nooutput
rows = STATS_records
height = 310 + 34*rows
stats 'memory.csv' using "limit" name 'limit' nooutput
load style
set arrow 1 from limit_min, graph 0 to limit_min, graph 1 nohead lw 2 lc rgb black
set arrow 2 from limit_max, graph 0 to limit_max, graph 1 nohead lw 2 lc rgb black
set label 1 'memory of a tile' at limit_max, graph 0 rotate by 90 left offset 0.9,0.6
set xlabel 'KiB per tile'
set xrange [0:limit_max*1.05]
set yrange [rows-0.3:-0.7]
unset ytics
set grid noy
set style fill solid 1.0 noborder
set lmargin at screen 0.03
set rmargin at screen 0.93
set xtics 200
set tmargin at screen under_head(8.6)
set key at screen 0.5,under_head(0) center top vertical maxrows 7 samplen 1 width 1
data = 'memory.csv'
names = '"weights" "accumulators" "optimizer state" "stash" "io buffers" "activations" "temporaries" "gaps" "vertex code" "vertex state" "control code" "exchange code" "stack"'
part(k) = word('#0072b2 #56b4e9 #009e73 #e69f00 #f0e442 #d55e00 #cc79a7 #dddddd #333333 #666666 #999999 #bbbbbb #000000', k)
plot for [k=1:13] data using (end(k)):"row":(end(k - 1)):(end(k)):"row":(column("row") + 0.42) with boxxyerror lc rgb part(k) title word(names,k), \
     data using (0):(column("row") - 0.25):"label" with labels left noenhanced notitle, \
     data using (column("limit")/2):"row":(sprintf("%s\n%.0f of %.0f KiB", strcol("label"), end(13), column("limit")).pieces(1, 13, '%.1f KiB')) @of_row
