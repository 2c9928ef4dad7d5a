# accuracy.gp - every published configuration: throughput of one IPU, published and simulated; and the error, with the 90 % interval that
# the errors of the other groups give.
set datafile separator comma
set datafile columnheaders
stats 'accuracy.csv' using "row" nooutput
rows = STATS_records
width = 1150; height = 150 + 17*rows
load style
data = 'accuracy.csv'
error(x) = column("calibrates") == column("calibrates") ? column("calibrates") : column("validates") == column("validates") ? column("validates") : column("context")
role(x) = column("calibrates") == column("calibrates") ? 'calibrates' : column("validates") == column("validates") ? 'validates' : 'context'
says(x) = sprintf("%s\n%.5g samples/s an IPU published, %.5g predicted\n%+.1f %%, %s; 90 %% interval %+.1f to %+.1f %%", strcol("label"), column("published"), \
    column("simulated"), error(0), role(0), column("low"), column("high"))
set multiplot layout 1,2
set yrange [-rows+0.3:0.7]
set tmargin at screen 1 - 92.0/height
set bmargin at screen 62.0/height
set lmargin at screen 0.36
set rmargin at screen 0.64
set ytics scale 0 font ',10'
set grid noy
set logscale x
set format x '%.0s%c'
set xlabel 'samples/s per IPU'
set xtics add ('' 100000)           # its number would run into the other panel's first
set key at screen 0.64,1-52.0/height right top horizontal maxrows 1 samplen 0.5 width -1 font ',10'
plot data using "published":"row":ytic(strcol("label")) with points pt 6 ps 1.1 lw 1.5 lc rgb black title 'published', \
     data using "simulated":"row" with points pt 7 ps 0.7 lc rgb blue title 'simulated', \
     data using (sqrt(column("published")*column("simulated"))):"row":(says(0)) @of_row
unset label 99
unset logscale x
set xtics autofreq
set format x '%g'
set format y ''
set lmargin at screen 0.67
set rmargin at screen 0.98
set xrange [-40:90]
set xlabel 'simulated minus published, %'
set key at screen 0.98,1-52.0/height right top horizontal maxrows 1 samplen 0.5 width -2 font ',10'
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb black lw 1
plot data using "calibrates":"row":"low":"high" with xerrorbars pt 0 lw 1 lc rgb '#cccccc' title '90 % interval', \
     data using "validates":"row":"low":"high" with xerrorbars pt 0 lw 1 lc rgb '#cccccc' notitle, \
     data using "context":"row":"low":"high" with xerrorbars pt 0 lw 1 lc rgb '#cccccc' notitle, \
     data using "calibrates":"row" with points pt 7 ps 0.9 lc rgb sky title 'calibrate', \
     data using "validates":"row" with points pt 9 ps 1.1 lc rgb red title 'validate', \
     data using "context":"row" with points pt 5 ps 0.8 lc rgb '#888888' title 'context', \
     data using (error(0)):"row":(says(0)) @of_row
unset multiplot
