# scaling.gp - throughput against chips, and the efficiency of scaling: MLPerf Training closed division, by round.
# Filled points are published, lines predicted; an open point is a prediction that nothing published stands beside.
narrow = width < 500
height = narrow ? 900 : 490
load style
if (narrow) { set multiplot layout 4,1 margins 0.17,0.96,0.06,under_head(2.2) spacing 0,0.095 } else { set multiplot layout 2,2 margins 0.1,0.975,0.13,under_head(1.6) spacing 0.12,0.16 }
set logscale x 2
set xtics (16, 32, 64, 128, 256)
set xrange [13:320]
unset key
round(k) = word('v1.0 v1.1 v2.0', k)
colour(k) = word(sky.' '.blue.' '.red, k)
says(k, x, form) = sprintf("%s closed pod%d %s\n".form.", ".word(x, 1), round(k), column("chips"), panel % 2 ? 'resnet50' : 'bert-large', column(round(k).' '.x))
do for [panel=1:4] {
    data = panel % 2 ? 'scaling-resnet50.csv' : 'scaling-bert-large.csv'
    if (panel == 2) { unset label }
    if (panel == 1) {
        set label 1 'v2.0 Bow' at graph 0.03,0.92 tc rgb red
        set label 2 'v1.1 GC200' at graph 0.03,0.82 tc rgb blue
        set label 3 'v1.0 GC200' at graph 0.03,0.72 tc rgb sky
        set label 4 "filled: published\nopen, line: predicted\ndotted: ideal" at graph 0.98,0.36 right tc rgb '#444444'
    }
    if (panel == 3 || narrow) { set xlabel 'IPUs' offset 0,0.6 }
    if (panel <= 2) {
        set logscale y; set autoscale y; set format y '%.0s%c'; set title (panel % 2 ? 'ResNet-50, images/s' : 'BERT-Large, sequences/s') offset 0,-0.5
        plot for [k=1:3] data using "chips":round(k).' ideal' with lines dt 3 lw 1.5 lc rgb grey notitle, \
             for [k=1:3] data using "chips":round(k).' simulated' with linespoints pt 6 ps 1.1 lw 2 lc rgb colour(k) notitle, \
             for [k=1:3] data using "chips":round(k).' published' with points pt 7 ps 1.1 lc rgb colour(k) notitle, \
             for [k=1:3] data using "chips":round(k).' simulated':(says(k, 'simulated', '%.4g samples/s')) @of_point, \
             for [k=1:3] data using "chips":round(k).' published':(says(k, 'published', '%.0f samples/s')) @of_point
    } else {
        unset logscale y; set yrange [50:108]; set format y '%g %%'; set title 'efficiency, '.(panel % 2 ? 'ResNet-50' : 'BERT-Large')
        plot 100 with lines dt 3 lw 1.5 lc rgb grey notitle, \
             for [k=1:3] data using "chips":round(k).' simulated efficiency' with linespoints pt 6 ps 1.1 lw 2 lc rgb colour(k) notitle, \
             for [k=1:3] data using "chips":round(k).' published efficiency' with points pt 7 ps 1.1 lc rgb colour(k) notitle, \
             for [k=1:3] data using "chips":round(k).' simulated efficiency':(says(k, 'simulated efficiency', '%.1f %%')) @of_point, \
             for [k=1:3] data using "chips":round(k).' published efficiency':(says(k, 'published efficiency', '%.1f %%')) @of_point
    }
}
unset multiplot
