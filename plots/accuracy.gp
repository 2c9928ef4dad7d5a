# accuracy.gp - every published figure against its simulation, on log axes; the dotted lines are 10 % apart from equal.
width = 1200; height = 520
load style
data = 'accuracy.csv'
set multiplot layout 1,3 title 'Simulated against published, all rows' font ',15' margins 0.06,0.99,0.24,0.87 spacing 0.06,0
set logscale xy
set format xy '10^{%L}'
set key at screen 0.5,0.02 center bottom maxrows 1 samplen 2
set xlabel 'published'
set ylabel 'simulated' offset 1,0
equal = 'equal'; within = '10 % off'
set title 'throughput, samples a second'
set xrange [1e2:1e6]
set yrange [1e2:1e6]
plot x with lines lw 1 lc rgb black title equal, 1.1*x with lines dt 3 lc rgb grey title within, 0.9*x with lines dt 3 lc rgb grey notitle, \
     data using "published":"throughput context" with points pt 6 ps 1.1 lc rgb grey title 'context', \
     data using "published":"throughput calibrate" with points pt 7 ps 1.1 lc rgb sky title 'may calibrate', \
     data using "published":"throughput validate" with points pt 9 ps 1.3 lc rgb red title 'only validates'
unset key
set title 'time to train, minutes'
set format xy '%g'
set xrange [1:200]
set yrange [1:200]
plot x with lines lw 1 lc rgb black, 1.1*x with lines dt 3 lc rgb grey, 0.9*x with lines dt 3 lc rgb grey, \
     data using "published":"time context" with points pt 6 ps 1.1 lc rgb grey, \
     data using "published":"time calibrate" with points pt 7 ps 1.1 lc rgb sky, \
     data using "published":"time validate" with points pt 9 ps 1.3 lc rgb red
set title 'kernels, links, latencies, ratios (own units)'
set format xy '10^{%L}'
set xrange [1e-3:1e6]
set yrange [1e-3:1e6]
plot x with lines lw 1 lc rgb black, 1.1*x with lines dt 3 lc rgb grey, 0.9*x with lines dt 3 lc rgb grey, \
     data using "published":"other context" with points pt 6 ps 1.1 lc rgb grey, \
     data using "published":"other calibrate" with points pt 7 ps 1.1 lc rgb sky, \
     data using "published":"other validate" with points pt 9 ps 1.3 lc rgb red
unset multiplot
