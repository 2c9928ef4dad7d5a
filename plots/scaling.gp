# scaling.gp - throughput against chips, and the efficiency of scaling: MLPerf Training closed division, by round.
# Filled points are published, lines predicted; an open point is a prediction that nothing published stands beside.
height = 1350
load style
set multiplot layout 4,1 margins 0.15,0.96,0.04,under_head(3) spacing 0,0.085
set logscale x 2
set xtics (16, 32, 64, 128, 256)
set xlabel 'IPUs'
set xrange [13:320]
unset key
says(k, x, form) = sprintf("%s closed pod%d %s\n".form.", ".word(x, 1), word('v1.0 v1.1 v2.0', k), column("chips"), panel % 2 ? 'resnet50' : 'bert-large', \
    column(word('v1.0 v1.1 v2.0', k).' '.x))
do for [panel=1:4] {
    data = panel % 2 ? 'scaling-resnet50.csv' : 'scaling-bert-large.csv'
    if (panel == 2) { unset label }
    if (panel == 1) {
        set label 1 'v2.0 Bow' at graph 0.04,0.92 tc rgb red
        set label 2 'v1.1 GC200' at graph 0.04,0.85 tc rgb blue
        set label 3 'v1.0 GC200' at graph 0.04,0.78 tc rgb sky
        set label 4 "filled: published\nopen and line: predicted\ndotted: ideal" at graph 0.97,0.28 right tc rgb '#444444'
    }
    model = panel % 2 ? 'ResNet-50, images/s' : 'BERT-Large, sequences/s'
    if (panel <= 2) {
        set logscale y; set autoscale y; set format y '%.0s%c'; set title model
        plot for [k=1:3] data using "chips":word('v1.0 v1.1 v2.0', k).' ideal' with lines dt 3 lw 1.5 lc rgb grey notitle, \
             for [k=1:3] data using "chips":word('v1.0 v1.1 v2.0', k).' simulated' with linespoints pt 6 ps 1.2 lw 2 lc rgb word(sky.' '.blue.' '.red, k) notitle, \
             for [k=1:3] data using "chips":word('v1.0 v1.1 v2.0', k).' published' with points pt 7 ps 1.3 lc rgb word(sky.' '.blue.' '.red, k) notitle, \
             for [k=1:3] data using "chips":word('v1.0 v1.1 v2.0', k).' simulated':(says(k, 'simulated', '%.0f samples/s')) @of_point, \
             for [k=1:3] data using "chips":word('v1.0 v1.1 v2.0', k).' published':(says(k, 'published', '%.0f samples/s')) @of_point
    } else {
        unset logscale y; set yrange [40:108]; set format y '%g %%'; set title 'efficiency relative to the smallest system, '.(panel % 2 ? 'ResNet-50' : 'BERT-Large')
        plot 100 with lines dt 3 lw 1.5 lc rgb grey notitle, \
             for [k=1:3] data using "chips":word('v1.0 v1.1 v2.0', k).' simulated efficiency' with linespoints pt 6 ps 1.2 lw 2 lc rgb word(sky.' '.blue.' '.red, k) notitle, \
             for [k=1:3] data using "chips":word('v1.0 v1.1 v2.0', k).' published efficiency' with points pt 7 ps 1.3 lc rgb word(sky.' '.blue.' '.red, k) notitle, \
             for [k=1:3] data using "chips":word('v1.0 v1.1 v2.0', k).' simulated efficiency':(says(k, 'simulated efficiency', '%.1f %%')) @of_point, \
             for [k=1:3] data using "chips":word('v1.0 v1.1 v2.0', k).' published efficiency':(says(k, 'published efficiency', '%.1f %%')) @of_point
    }
}
unset multiplot
