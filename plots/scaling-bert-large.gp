# scaling-bert-large.gp - throughput of BERT-Large training against chips, and the efficiency of scaling: MLPerf Training closed division.
width = 900; height = 760
load style
data = name.'.csv'
set multiplot layout 2,1 title 'BERT-Large: MLPerf closed division, published and simulated' font ',15'
set logscale x 2
set xtics (16, 32, 64, 128, 256)
set xrange [13:310]
set key outside right top width 0 samplen 2.5 spacing 1.25
set lmargin 12
set rmargin 30
set logscale y
set format y '%.0s%c'
set ylabel 'sequences a second'
plot data using "chips":"v1.1 ideal" with lines dt 3 lw 1.5 lc rgb grey title 'ideal, v1.1 GC200', \
     data using "chips":"v2.0 ideal" with lines dt 2 lw 1.5 lc rgb grey title 'ideal, v2.0 Bow', \
     data using "chips":"v1.0 simulated" with lines lw 2 lc rgb sky title 'simulated, v1.0 GC200', \
     data using "chips":"v1.1 simulated" with lines lw 2 lc rgb blue title 'simulated, v1.1 GC200', \
     data using "chips":"v2.0 simulated" with lines lw 2 lc rgb red title 'simulated, v2.0 Bow', \
     data using "chips":"v1.0 published" with points pt 9 ps 1.3 lc rgb sky title 'published, v1.0 GC200', \
     data using "chips":"v1.1 published" with points pt 7 ps 1.3 lc rgb blue title 'published, v1.1 GC200', \
     data using "chips":"v2.0 published" with points pt 5 ps 1.3 lc rgb red title 'published, v2.0 Bow'
unset logscale y
set format y '%g'
set yrange [0:120]
set ylabel 'efficiency against the smallest system, %'
set xlabel 'IPUs'
plot 100 with lines dt 3 lw 1.5 lc rgb grey title 'ideal', \
     data using "chips":"v1.0 simulated efficiency" with lines lw 2 lc rgb sky title 'simulated, v1.0 GC200', \
     data using "chips":"v1.1 simulated efficiency" with lines lw 2 lc rgb blue title 'simulated, v1.1 GC200', \
     data using "chips":"v2.0 simulated efficiency" with lines lw 2 lc rgb red title 'simulated, v2.0 Bow', \
     data using "chips":"v1.0 published efficiency" with points pt 9 ps 1.3 lc rgb sky title 'published, v1.0 GC200', \
     data using "chips":"v1.1 published efficiency" with points pt 7 ps 1.3 lc rgb blue title 'published, v1.1 GC200', \
     data using "chips":"v2.0 published efficiency" with points pt 5 ps 1.3 lc rgb red title 'published, v2.0 Bow'
unset multiplot
