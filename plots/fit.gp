# fit.gp - the fullest tile of each IPU by category, for one micro-batch after the other, against the tile's memory.
set datafile separator comma
set datafile columnheaders
narrow = width < 500
height = narrow ? 600 : 470
stats 'fit.csv' using "limit" name 'limit' nooutput
stats 'fit.csv' using "row" name 'row' nooutput
load style
set tmargin at screen under_head(narrow ? 8.4 : 5.8)
set arrow 1 from graph 0, first limit_max to graph 1, first limit_max nohead lw 2 lc rgb black front
set label 1 'memory of a tile' at graph 0, first limit_max left offset 0.5,0.5 front
set ylabel 'kB per tile'
set xlabel "micro-batch, a bar for each IPU of a replica\nno: it does not fit"
set yrange [0:*]
set xrange [-0.8:row_max+0.8]
set xtics scale 0
set grid nox
set style fill solid 1.0 noborder
set key at screen 0.5,under_head(0) center top vertical maxrows (narrow ? 7 : 5) samplen 0.4 width -1
data = 'fit.csv'
names = '"weights" "accumulators" "optimizer state" "stash" "io buffers" "activations" "temporaries" "gaps" "vertex code" "vertex state" "vertex fields" "control code" "exchange code" "stack"'
part(k) = word('#0072b2 #56b4e9 #009e73 #e69f00 #f0e442 #d55e00 #cc79a7 #dddddd #333333 #666666 #8c8c8c #a6a6a6 #bbbbbb #000000', k)
plot for [k=1:14] data using "row":(end(k)):(column("row") - 0.42):(column("row") + 0.42):(end(k - 1)):(end(k)):xtic(strcol("label")) with boxxyerror lc rgb part(k) title word(names,k), \
     data using "row":(end(14)):(sprintf("micro-batch %s, IPU %s\n%.0f of %.0f kB; fits: %s, %.0f %% likely", strcol("micro_batch"), strcol("ipu"), \
         end(14), column("limit"), strcol("fits"), 100*column("fits_probability")).pieces(1, 14, '%.1f kB')) @of_point
