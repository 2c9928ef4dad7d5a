# waterfall.gp - from the least time the arithmetic can take to the predicted step, in steps that add up exactly. Each name stands above its bar.
set datafile separator comma
set datafile columnheaders
stats 'waterfall.csv' using "row" nooutput
height = 120 + 38*STATS_records
load style
set xlabel 'ms' offset 0,0.3
set xrange [0:*]
set yrange [* : *] reverse
set offsets 0, 0, 0.7, 0.5
set border 1
unset ytics
set grid noy
set style fill solid 1.0 noborder
set lmargin at screen 0.03
set rmargin at screen (width < 500 ? 0.8 : 0.88)
unset key
data = 'waterfall.csv'
right(x) = column("from") > column("to") ? column("from") : column("to")
text(x) = sprintf('%.3g ms', column("to") - column("from"))
plot data using "from":"row":"from":"to":(column("row") - 0.08):(column("row") + 0.34) with boxxyerror lc rgb sky, \
     data using (0):(column("row") - 0.34):"name" with labels left, \
     data using (right(0)):(column("row") + 0.13):(text(0)) with labels left offset 0.7,0 tc rgb '#333333', \
     data using (right(0)):"row":(sprintf("%s\n%s", strcol("name"), text(0))) @of_row
