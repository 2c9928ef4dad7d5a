# pipeline.gp - the white papers' pictures of a pipeline: ResNet-50 on four chips, what each chip does when. Gaps are waiting.
height = width < 500 ? 620 : 540
set datafile separator comma
set datafile columnheaders
stats 'pipeline-inference.csv' using "update end" name 'inference' nooutput
stats 'pipeline-training.csv' using "update end" name 'training' nooutput
load style
from(x) = (column(x) + column(x.' end'))/2
says(x) = sprintf("IPU %s: %s%s\n%.3f ms, from %.3f ms", strcol("chip"), x, strcol("micro-batch") eq '' ? '' : ' of micro-batch '.strcol("micro-batch"), \
    column(x.' end') - column(x), column(x))
numbered(x) = strcol("micro-batch") eq '' || name eq 'training' ? NaN : column("forward") == column("forward") ? from("forward") : from("backward")       # there is no room for numbers in training
set multiplot layout 2,1 margins 0.08,0.97,0.12,under_head(4.4) spacing 0,0.28
set style fill solid 1.0 noborder
set ytics 1 scale 0
set ylabel 'IPU' offset 1.5,0
set yrange [3.6:-0.6]
set xrange [0:*]
set xlabel 'ms'
unset grid
set title 'inference of eight micro-batches (gaps: waiting)'
do for [name in 'inference training'] {
    data = 'pipeline-'.name.'.csv'
    gap = (name eq 'training' ? training_max : inference_max)/600       # white between neighbours
    set key at graph 0.5,1.02 center bottom horizontal maxrows 1 samplen 1
    if (name eq 'training') { set title 'training, grouped schedule: fill, steady, drain' }
    set title offset 0,1.3
    plot data using "forward":"chip":"forward":(column("forward end") - gap):(column("chip") - 0.4):(column("chip") + 0.4) with boxxyerror lc rgb sky title 'forward', \
         data using "backward":"chip":"backward":(column("backward end") - gap):(column("chip") - 0.4):(column("chip") + 0.4) with boxxyerror lc rgb orange title (name eq 'training' ? 'backward' : ''), \
         data using "copy":"chip":"copy":"copy end":(column("chip") - 0.4):(column("chip") + 0.4) with boxxyerror lc rgb "#555555" title 'copy', \
         data using "update":"chip":"update":"update end":(column("chip") - 0.4):(column("chip") + 0.4) with boxxyerror lc rgb grey title (name eq 'training' ? 'update' : 'host'), \
         data using (numbered(0)):"chip":"micro-batch" with labels notitle, \
         for [s in 'forward backward update'] data using (from(s)):"chip":(says(s)) @of_point
    unset label 99
}
unset multiplot
