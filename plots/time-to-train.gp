# time-to-train.gp - MLPerf time to train of IPU systems against their size, published and predicted, beside the published scores of GPU systems.
narrow = width < 500
height = narrow ? 640 : 305
load style
says(model, x) = sprintf("%s\n%.3g min %s", strcol("recipe") eq '' ? strcol("label").' '.model : strcol("recipe"), column(x), x eq 'simulated' ? 'predicted' : 'published')
if (narrow) { set multiplot layout 2,1 margins 0.12,0.97,0.16,under_head(1.7) spacing 0,0.14 } else { set multiplot layout 1,2 margins 0.07,0.98,0.24,under_head(1.7) spacing 0.08,0 }
set logscale xy
set xlabel 'IPUs, or GPUs' offset 0,0.5
set xrange [3:320]
set xtics (4, 8, 16, 32, 64, 128, 256)
set yrange [1.5:80]
set ytics (2, 5, 10, 20, 50)
set key at screen 0.5,0.005 center bottom maxrows (narrow ? 2 : 1) samplen 0.5
do for [panel=1:2] {
    data = panel == 1 ? 'time-to-train-resnet.csv' : 'time-to-train-bert.csv'
    model = panel == 1 ? 'resnet50' : 'bert-large'
    set title (panel == 1 ? 'ResNet-50, minutes to train' : 'BERT-Large, minutes to train') offset 0,-0.5
    plot data using "chips":"peer" with points pt 5 ps 0.9 lc rgb '#aaaaaa' title 'NVIDIA, published', \
         '' using "chips":"published" with points pt 7 ps 1.1 lc rgb blue title 'IPU, published', \
         '' using "chips":"simulated" with points pt 6 ps 1.5 lw 2 lc rgb red title 'IPU, predicted', \
         for [s in 'published simulated peer'] '' using "chips":s:(says(model, s)) @of_point
    unset label 99
    unset key
}
unset multiplot
