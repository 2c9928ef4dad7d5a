# breakdown.gp - where the time of one training step goes, mean over the IPUs, for each MLPerf configuration.
set datafile separator comma
set datafile columnheaders
stats 'breakdown.csv' using "row" nooutput
rows = STATS_records
narrow = width < 500
height = narrow ? 190 + 33*rows : 180 + 21*rows
load style
set xlabel '% of the step; at the right its length in ms' offset 0,0.3
set xrange [0:100]
set yrange [-0.7:rows-0.3]
unset grid
set ytics scale 0
set style fill solid 1.0 noborder
if (narrow) { set lmargin at screen 0.03; unset ytics } else { set lmargin at screen 0.55 }
set rmargin at screen (narrow ? 0.87 : 0.92)
set tmargin at screen under_head(narrow ? 4.8 : 3.8)
set key at screen 0.5,under_head(0.1) center top vertical maxrows (narrow ? 4 : 3) samplen 0.4 width -3
data = 'breakdown.csv'
names = '"matrix products" "other computing" "exchange on the chip" "sync of the tiles" "links between IPUs" "streaming memory" "the host" "waiting"'
part(k) = word('#0072b2 #56b4e9 #e69f00 #f0e442 #d55e00 #cc79a7 #555555 #dddddd', k)
top = narrow ? 0.02 : 0.4
plot for [k=1:8] data using (end(k)):"row":(end(k - 1)):(end(k)):(column("row") - 0.4):(column("row") + top):ytic(strcol("label")) with boxxyerror lc rgb part(k) title word(names,k), \
     data using (0):(column("row") + 0.3):(narrow ? strcol("label") : '') with labels left noenhanced notitle, \
     data using (100):(column("row") + (narrow ? -0.19 : 0)):"step ms" with labels left offset 0.5,0 tc rgb '#444444' notitle, \
     data using (50):"row":(sprintf("%s\n%s ms a step", strcol("label"), strcol("step ms")).pieces(1, 8, '%.1f %%')) @of_row
