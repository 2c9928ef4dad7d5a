# breakdown.gp - where the time of one training step goes, mean over the IPUs, for each MLPerf configuration.
set datafile separator comma
set datafile columnheaders
stats 'breakdown.csv' using "row" nooutput
rows = STATS_records
height = 210 + 22*rows
load style
set xlabel '% of the step; at the right its length'
set xrange [0:100]
set yrange [-0.7:rows-0.3]
set ytics scale 0 font ',11.5'
unset grid
set style fill solid 1.0 noborder
set lmargin at screen 0.5
set rmargin at screen 0.9
set tmargin at screen under_head(5.5)
set key at screen 0.5,under_head(0) center top vertical maxrows 4 samplen 1 width 1
data = 'breakdown.csv'
set label 1 'ms' at graph 1,1 offset 0.8,0.6 font ',11.5' tc rgb '#444444'
names = '"matrix products" "other computing" "exchange on the chip" "sync of the tiles" "links between IPUs" "streaming memory" "the host" "waiting"'
part(k) = word('#0072b2 #56b4e9 #e69f00 #f0e442 #d55e00 #cc79a7 #555555 #dddddd', k)
plot for [k=1:8] data using word(names,k):"row":word(names,k):word(names,k).' end':"low":"high":ytic(strcol("label")) with boxxyerror lc rgb part(k) title word(names,k), \
     data using "waiting end":"row":"step ms" with labels left offset 0.8,0 font ',11.5' tc rgb '#444444' notitle, \
     data using (50):"row":(sprintf("%s\n%s ms a step", strcol("label"), strcol("step ms")).pieces(1, 8, '%.1f %%')) @of_row
