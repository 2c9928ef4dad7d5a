# time-to-train.gp - MLPerf time to train of IPU systems, published and simulated, beside the published scores of GPU systems.
height = 1040
load style
says(model, x) = sprintf("%s %s\n%.3f min %s", strcol("label"), model, column(x), x)
set multiplot layout 2,1 margins 0.57,0.97,0.1,under_head(3) spacing 0,0.13
set logscale x
set xlabel 'minutes'
set xrange [1.5:60]
set xtics (2, 5, 10, 20, 50)
set ytics scale 0
set offsets 0, 0, 0.6, 0.6
set key at screen 0.5,0.01 center bottom maxrows 1 samplen 0.5 width -4
set title 'ResNet-50, closed division unless marked' offset -8
plot 'time-to-train-resnet.csv' using "published":"row":ytic(strcol("label")) with points pt 7 ps 1.4 lc rgb blue title 'IPU, published', \
     '' using "simulated":"row" with points pt 2 ps 1.4 lw 2 lc rgb red title 'IPU, simulated', \
     '' using "peer":"row" with points pt 5 ps 1.1 lc rgb grey title 'NVIDIA, published', \
     for [s in 'published simulated peer'] '' using s:"row":(says('resnet50', s)) @of_point
unset label 99
unset key
set title 'BERT-Large' offset -8
plot 'time-to-train-bert.csv' using "published":"row":ytic(strcol("label")) with points pt 7 ps 1.4 lc rgb blue title 'IPU, published', \
     '' using "simulated":"row" with points pt 2 ps 1.4 lw 2 lc rgb red title 'IPU, simulated', \
     '' using "peer":"row" with points pt 5 ps 1.1 lc rgb grey title 'NVIDIA, published', \
     for [s in 'published simulated peer'] '' using s:"row":(says('bert-large', s)) @of_point
unset multiplot
