# train.gp - loss and quality against samples, one line a run. Loss is the mean of the last steps.
width = 1000; height = 420
format = 'svg'
load style
set multiplot layout 1,2 margins 0.07,0.97,0.15,0.86 spacing 0.09,0
unset key
set xlabel 'samples'; set format x '%.0s%c'
set title 'loss'
plot for [k=first:first+runs-1] data using (column("seed")==k ? column("samples") : NaN):"loss" with lines lw 1 lc rgb blue smooth bezier notitle
set title quality
set yrange [0:1]
plot target with lines dt 3 lw 1.5 lc rgb grey notitle, \
     for [k=first:first+runs-1] data using (column("seed")==k ? column("samples") : NaN):"quality" with linespoints pt 7 ps 0.6 lw 1.5 lc rgb red notitle
unset multiplot
