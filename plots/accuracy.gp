# accuracy.gp - the error of every published configuration, with the 90 % interval that the errors of the other groups give. Its name stands
# above its point.
set datafile separator comma
set datafile columnheaders
stats 'accuracy.csv' using "row" nooutput
rows = STATS_records
height = 180 + 27*rows
load style
data = 'accuracy.csv'
error(x) = column("calibrates") == column("calibrates") ? column("calibrates") : column("validates") == column("validates") ? column("validates") : column("context")
role(x) = column("calibrates") == column("calibrates") ? 'calibrates' : column("validates") == column("validates") ? 'validates' : 'context'
says(x) = sprintf("%s\n%.5g samples/s an IPU published, %.5g predicted\n%+.1f %%, %s; 90 %% interval %+.1f to %+.1f %%", strcol("label"), column("published"), \
    column("simulated"), error(0), role(0), column("low"), column("high"))
set yrange [-rows+0.4:1]
set tmargin at screen under_head(2.8)
set lmargin at screen 0.03
set rmargin at screen 0.97
unset ytics
set grid noy
set style textbox opaque noborder margins 0,0 fillcolor rgb 'white'
set xrange [-40:90]
set xlabel 'simulated minus published, %'
set key at screen 0.5,under_head(0) center top vertical maxrows 2 samplen 1 width 0
set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb black lw 1
plot data using "calibrates":"row":"low":"high" with xerrorbars pt 0 lw 2 lc rgb '#cccccc' title '90 % interval', \
     data using "validates":"row":"low":"high" with xerrorbars pt 0 lw 2 lc rgb '#cccccc' notitle, \
     data using "context":"row":"low":"high" with xerrorbars pt 0 lw 2 lc rgb '#cccccc' notitle, \
     data using "calibrates":"row" with points pt 7 ps 0.9 lc rgb sky title 'calibrate', \
     data using "validates":"row" with points pt 9 ps 1.1 lc rgb red title 'validate', \
     data using "context":"row" with points pt 5 ps 0.8 lc rgb '#888888' title 'context', \
     data using (-39):(column("row") + 0.45):"label" with labels left noenhanced boxed notitle, \
     data using (error(0)):"row":(says(0)) @of_row
