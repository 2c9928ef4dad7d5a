# breakdown.gp - where the time of one training step goes, mean over the IPUs, for each MLPerf configuration. Its name stands above its bar.
set datafile separator comma
set datafile columnheaders
stats 'breakdown.csv' using "row" nooutput
rows = STATS_records
height = 220 + 34*rows
load style
set xlabel '% of the step; at the right its length in ms'
set xrange [0:100]
set yrange [-0.7:rows-0.3]
unset ytics
unset grid
set style fill solid 1.0 noborder
set lmargin at screen 0.03
set rmargin at screen 0.87
set tmargin at screen under_head(5.5)
set key at screen 0.5,under_head(0) center top vertical maxrows 4 samplen 1 width 1
data = 'breakdown.csv'
names = '"matrix products" "other computing" "exchange on the chip" "sync of the tiles" "links between IPUs" "streaming memory" "the host" "waiting"'
part(k) = word('#0072b2 #56b4e9 #e69f00 #f0e442 #d55e00 #cc79a7 #555555 #dddddd', k)
plot for [k=1:8] data using (end(k)):"row":(end(k - 1)):(end(k)):(column("row") - 0.42):"row" with boxxyerror lc rgb part(k) title word(names,k), \
     data using (0):(column("row") + 0.27):"label" with labels left noenhanced notitle, \
     data using (100):"row":"step ms" with labels left offset 0.8,0 tc rgb '#444444' notitle, \
     data using (50):"row":(sprintf("%s\n%s ms a step", strcol("label"), strcol("step ms")).pieces(1, 8, '%.1f %%')) @of_row
