# roofline.gp - operations of a step against their chip's exchange and matrix units.
height = width < 500 ? 380 : 420
load style
set logscale xy
set xlabel 'flop per byte exchanged between tiles'
set ylabel 'TFLOP/s per chip'
set xrange [1.5:400]
set yrange [2:600]
set rmargin 8
unset key
colour(k) = word(blue.' '.red.' '.green.' '.purple, k)
of_chip(k, x) = column("chip") == k ? column(x) : NaN
plot for [k=1:4] 'roofline.csv' using (of_chip(k, "intensity")):"rate" with points pt 6 ps 0.8 lc rgb colour(k), \
     for [k=1:4] 'roofline-roofs.csv' using (of_chip(k, "intensity")):"limit" with lines lw 2 lc rgb colour(k), \
     for [k=1:4] 'roofline-roofs.csv' using (of_chip(k, "intensity")):"limit":"name" with labels left offset 0.4,0 tc rgb colour(k), \
     'roofline.csv' using "intensity":"rate":(sprintf("%.3g flop a byte exchanged\n%.3g TFLOP/s", column("intensity"), column("rate"))) @of_point
