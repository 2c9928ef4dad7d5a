# more-chips.gp - where more chips stop paying: expected time to train, samples to converge and chip hours against chips.
narrow = width < 500
height = narrow ? 880 : 480
load style
says(model, x, unit) = sprintf("%s, %.0f IPUs\n%s %s\nglobal batch %.0f", model, column("chips"), gprintf("%.2s%c", column(x)), unit, column("global batch"))
if (narrow) { set multiplot layout 3,1 margins 0.14,0.96,0.1,under_head(2.2) spacing 0,0.11 } else { set multiplot layout 2,2 margins 0.09,0.97,0.16,under_head(2.2) spacing 0.1,0.2 }
set logscale xy
set xtics (16, 64, 256, '1,024' 1024)
set xrange [12:1400]
set xlabel 'IPUs' offset 0,0.5
set key at screen 0.5,0.01 center bottom maxrows 1 samplen 2
r = 'more-chips-resnet50.csv'; b = 'more-chips-bert-large.csv'
set title 'minutes to train, 90 % interval'
plot r using "chips":"low":"high" with filledcurves fs solid 0.15 noborder lc rgb blue notitle, \
     b using "chips":"low":"high" with filledcurves fs solid 0.15 noborder lc rgb red notitle, \
     r using "chips":"minutes" with linespoints pt 7 ps 1.2 lw 2 lc rgb blue title 'ResNet-50', \
     b using "chips":"minutes" with linespoints pt 5 ps 1.2 lw 2 lc rgb red title 'BERT-Large', \
     r using "chips":"minutes":(says('ResNet-50', 'minutes', 'min')) @of_point, \
     b using "chips":"minutes":(says('BERT-Large', 'minutes', 'min')) @of_point
unset label 99
unset key
set title 'samples to converge'
set format y '%.0s%c'
plot r using "chips":"samples" with linespoints pt 7 ps 1.2 lw 2 lc rgb blue, \
     b using "chips":"samples" with linespoints pt 5 ps 1.2 lw 2 lc rgb red, \
     r using "chips":"samples":(says('ResNet-50', 'samples', 'samples')) @of_point, \
     b using "chips":"samples":(says('BERT-Large', 'samples', 'samples')) @of_point
set title 'chip hours'
set format y '%g'
plot r using "chips":"chip hours" with linespoints pt 7 ps 1.2 lw 2 lc rgb blue, \
     b using "chips":"chip hours" with linespoints pt 5 ps 1.2 lw 2 lc rgb red, \
     r using "chips":"chip hours":(says('ResNet-50', 'chip hours', 'chip hours')) @of_point, \
     b using "chips":"chip hours":(says('BERT-Large', 'chip hours', 'chip hours')) @of_point
unset multiplot
