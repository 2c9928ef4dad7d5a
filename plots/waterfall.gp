# waterfall.gp - from the least time the arithmetic can take to the predicted step, in steps that add up exactly.
width = 1100; height = 480
load style
set tmargin at screen 1 - 46.0/height
set xlabel 'ms'
set xrange [0:*]
set yrange [* : *] reverse
set offsets 0, 0, 0.2, 0.2
set ytics scale 0
set grid noy
set style fill solid 1.0 noborder
set lmargin 46
set rmargin 12
unset key
data = 'waterfall.csv'
plot data using "from":"row":"from":"to":"low":"high":ytic(strcol("name")) with boxxyerror lc rgb sky, \
     data using "middle":"row":"text" with labels left offset 0.7,0 font ',11' tc rgb '#333333', \
     data using "middle":"row":(sprintf("%s\n%s", strcol("name"), strcol("text"))) @of_row
