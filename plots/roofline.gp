# roofline.gp - operations of a step against their chip's exchange and matrix units.
height = 480
load style
set logscale xy
set xlabel 'flop per byte exchanged between tiles'
set ylabel 'TFLOP/s per chip'
set xrange [1.5:400]
set yrange [2:600]
set rmargin 8
unset key
colour(k) = word(blue.' '.red.' '.green.' '.purple, k)
plot for [k=1:4] 'roofline.csv' using sprintf('intensity %d', k):sprintf('rate %d', k) with points pt 6 ps 0.8 lc rgb colour(k), \
     for [k=1:4] 'roofline-roofs.csv' using sprintf('intensity %d', k):sprintf('limit %d', k) with lines lw 2 lc rgb colour(k), \
     for [k=1:4] 'roofline-roofs.csv' using sprintf('intensity %d', k):sprintf('limit %d', k):"name" with labels left offset 0.4,0 tc rgb colour(k), \
     for [k=1:4] 'roofline.csv' using sprintf('intensity %d', k):sprintf('rate %d', k):(sprintf("%.3g flop a byte exchanged\n%.3g TFLOP/s", column(sprintf('intensity %d', k)), \
         column(sprintf('rate %d', k)))) @of_point
