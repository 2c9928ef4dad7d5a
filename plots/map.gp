# map.gp - throughput over micro-batch and gradient accumulation; grey cells do not fit or are refused.
narrow = width < 500
height = 440
set datafile separator comma
set datafile columnheaders
set datafile missing 'NaN'
stats 'map.csv' using "throughput" name 'rate' nooutput
load style
set xlabel (narrow ? "micro-batch; in each cell thousands of samples/s" : "micro-batch; in each cell samples/s")."\ngrey: it does not fit or is refused"
set ylabel 'gradient accumulation' offset 1,0
set xtics ('1' 0, '2' 1, '4' 2, '8' 3, '12' 4, '16' 5, '20' 6, '24' 7, '32' 8)
set ytics ('1' 0, '2' 1, '4' 2, '8' 3, '16' 4, '32' 5, '64' 6, '128' 7)
set xrange [-0.5:8.5]
set yrange [-0.5:7.5]
unset grid
unset key
set palette defined (0 '#f7fbff', 0.5 '#56b4e9', 1 '#0072b2')
unset colorbox
set object 1 rectangle from graph 0,0 to graph 1,1 fc rgb '#bbbbbb' fs solid behind
is_dark(x) = column("throughput") > rate_min + 0.65*(rate_max - rate_min)
shown(x) = narrow && column("throughput") == column("throughput") ? sprintf('%.2g', column("throughput")/1000) : narrow ? '' : strcol("text")
set style fill solid 1.0 noborder
plot 'map.csv' using "x":"y":(column("x") - 0.49):(column("x") + 0.49):(column("y") - 0.49):(column("y") + 0.49):"throughput" with boxxyerror fc palette, \
     'map.csv' using "x":"y":(is_dark(0) ? '' : shown(0)) with labels tc rgb '#222222', \
     'map.csv' using "x":"y":(is_dark(0) ? shown(0) : '') with labels tc rgb 'white', \
     'map.csv' using "x":"y":(sprintf("micro-batch %s, accumulation %s\n%.4g samples/s", word('1 2 4 8 12 16 20 24 32', int(column("x") + 1)), \
         word('1 2 4 8 16 32 64 128', int(column("y") + 1)), column("throughput"))) @of_point
