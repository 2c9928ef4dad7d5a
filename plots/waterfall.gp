# waterfall.gp - from the least time the arithmetic can take to the predicted step, in steps that add up exactly. Each name stands above its bar.
height = 560
load style
set xlabel 'ms'
set xrange [0:*]
set yrange [* : *] reverse
set offsets 0, 0, 0.5, 0.1
unset ytics
set border 1
set grid noy
set style fill solid 1.0 noborder
set lmargin at screen 0.03
set rmargin at screen 0.86
unset key
data = 'waterfall.csv'
right(x) = column("from") > column("to") ? column("from") : column("to")
text(x) = sprintf('%.3g ms', column("to") - column("from"))
plot data using "from":"row":"from":"to":(column("row") - 0.1):(column("row") + 0.38) with boxxyerror lc rgb sky, \
     data using (0):(column("row") - 0.32):"name" with labels left, \
     data using (right(0)):(column("row") + 0.14):(text(0)) with labels left offset 0.7,0 tc rgb '#333333', \
     data using (right(0)):"row":(sprintf("%s\n%s", strcol("name"), text(0))) @of_row
