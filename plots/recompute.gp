# recompute.gp - what recomputation saves and costs, by number of checkpoints: the white papers' memory against extra work.
height = 380
load style
set xlabel 'recomputed work, % of forward and backward'
set ylabel 'activation memory, % of keeping all'
set xrange [-2:36]
set yrange [0:105]
set key right top samplen 2
set label 'one fifth' at -1.5,21.5 tc rgb '#666666'
plot 20 with lines dt 3 lw 1.5 lc rgb grey notitle, \
     'recompute-resnet50.csv' using "extra work":"memory" with linespoints pt 7 ps 0.9 lw 1.5 lc rgb blue title 'ResNet-50', \
     'recompute-resnet152.csv' using "extra work":"memory" with linespoints pt 5 ps 0.9 lw 1.5 lc rgb red title 'ResNet-152', \
     'recompute-densenet121.csv' using "extra work":"memory" with linespoints pt 9 ps 1.1 lw 1.5 lc rgb green title 'DenseNet-121', \
     for [m in 'resnet50 resnet152 densenet121'] sprintf('recompute-%s.csv', m) using "extra work":"memory":(sprintf("%s, %s checkpoints\n%.1f %% of the memory, %.1f %% more work", m, \
         strcol("checkpoints"), column("memory"), column("extra work"))) @of_point
