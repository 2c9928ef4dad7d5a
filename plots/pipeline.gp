# pipeline.gp - the white papers' pictures of a pipeline: ResNet-50 on four chips, what each chip does when. White is waiting.
width = 1100; height = 680
load style
from(x) = (column(x) + column(x.' end'))/2
says(x) = sprintf("IPU %s: %s%s\n%.3f ms, from %.3f ms", strcol("chip"), x, strcol("micro-batch") eq '' ? '' : ' of micro-batch '.strcol("micro-batch"), \
    column(x.' end') - column(x), column(x))
set multiplot layout 2,1 margins 0.06,0.88,0.09,0.88 spacing 0,0.16
set style fill solid 1.0 border rgb '#ffffff'
set ytics 1 scale 0
set ylabel 'IPU'
set yrange [3.6:-0.6]
set xrange [0:*]
set xlabel 'ms'
unset grid
set key outside right top samplen 1 width 1
set title 'inference of eight micro-batches (white: waiting)' font ',12'
data = 'pipeline-inference.csv'
plot data using "forward":"chip":"forward":"forward end":"low":"high" with boxxyerror lc rgb sky title 'forward', \
     data using "copy":"chip":"copy":"copy end":"low":"high" with boxxyerror lc rgb "#555555" title 'copy', \
     data using "update":"chip":"update":"update end":"low":"high" with boxxyerror lc rgb grey title 'host', \
     data using "middle":"chip":"micro-batch" with labels font ',9' notitle, \
     for [s in 'forward copy update'] data using (from(s)):"chip":(says(s)) @of_point
unset label 99
set title 'training, grouped schedule: fill, steady state, drain, weight update' font ',12'
data = 'pipeline-training.csv'
plot data using "forward":"chip":"forward":"forward end":"low":"high" with boxxyerror lc rgb sky title 'forward', \
     data using "backward":"chip":"backward":"backward end":"low":"high" with boxxyerror lc rgb orange title 'backward', \
     data using "copy":"chip":"copy":"copy end":"low":"high" with boxxyerror lc rgb "#555555" title 'copy', \
     data using "update":"chip":"update":"update end":"low":"high" with boxxyerror lc rgb grey title 'update', \
     data using "middle":"chip":"micro-batch" with labels font ',7.5' notitle, \
     for [s in 'forward backward copy update'] data using (from(s)):"chip":(says(s)) @of_point
unset multiplot
