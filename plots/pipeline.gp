# pipeline.gp - the white papers' pictures of a pipeline: ResNet-50 on four chips, what each chip does when.
width = 1100; height = 620
load style
set multiplot layout 2,1
set style fill solid 1.0 border rgb '#ffffff'
set ytics 1 scale 0
set ylabel 'chip'
set yrange [3.6:-0.6]
set xrange [0:*]
unset grid
set key outside right top samplen 1 width 1
set title 'Inference: from the fourth micro-batch on, all four chips are busy' font ',13'
data = 'pipeline-inference.csv'
plot data using "forward":"chip":"forward":"forward end":"low":"high" with boxxyerror lc rgb sky title 'forward', \
     data using "copy":"chip":"copy":"copy end":"low":"high" with boxxyerror lc rgb "#555555" title 'copy', \
     data using "update":"chip":"update":"update end":"low":"high" with boxxyerror lc rgb grey title 'host', \
     data using "middle":"chip":"micro-batch" with labels font ',9' notitle
set title 'Training, grouped schedule: fill, steady state, drain, weight update' font ',13'
set xlabel 'ms'
data = 'pipeline-training.csv'
plot data using "forward":"chip":"forward":"forward end":"low":"high" with boxxyerror lc rgb sky title 'forward', \
     data using "backward":"chip":"backward":"backward end":"low":"high" with boxxyerror lc rgb orange title 'backward', \
     data using "copy":"chip":"copy":"copy end":"low":"high" with boxxyerror lc rgb "#555555" title 'copy', \
     data using "update":"chip":"update":"update end":"low":"high" with boxxyerror lc rgb grey title 'update', \
     data using "middle":"chip":"micro-batch" with labels font ',9' notitle
unset multiplot
