# links.gp - the load of a pipeline's copies on every IPU-Link, as a share of the busiest link's time.
set datafile separator comma
set datafile columnheaders
stats 'links-ipus.csv' using "x" nooutput
columns = STATS_max + 1
height = width < 500 ? 230 : 260
load style
unset border
unset tics
unset grid
set xrange [-0.7:columns-0.3]
set yrange [1.8:-0.8]
set cbrange [0:100]
set palette defined (0 '#dddddd', 1 '#56b4e9', 40 '#0072b2', 100 '#d55e00')
set cbtics 25
set cblabel '% of the busiest link'
unset key
plot 'links.csv' using "x":"y":"dx":"dy":"load" with vectors nohead lw 5 lc palette, \
     'links-ipus.csv' using "x":"y" with points pt 7 ps 2.6 lc rgb '#ffffff', \
     'links-ipus.csv' using "x":"y" with points pt 6 ps 2.6 lc rgb '#444444', \
     'links-ipus.csv' using "x":"y":"ipu" with labels, \
     'links.csv' using (column("x")+column("dx")/2):(column("y")+column("dy")/2):(sprintf("IPU-Link of column %.0f\n%.1f %% of the time of the busiest link", column("x"), column("load"))) @of_point
