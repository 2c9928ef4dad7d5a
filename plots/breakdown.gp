# breakdown.gp - where the time of one training step goes, by MLPerf run.
width = 1100; height = 760
load style
set title 'Where a step goes: share of simulated step time by MLPerf run' font ',15'
set xlabel '% of the step'
set xrange [0:100]
set offsets 0, 0, 0.2, 0.2
set ytics scale 0 font ',10'
unset grid
set style fill solid 1.0 noborder
set key at screen 0.55,0.015 center bottom vertical maxrows 3 samplen 1 width 2
set bmargin 8
set lmargin 40
data = 'breakdown.csv'
part(k) = word('#0072b2 #56b4e9 #cc79a7 #e69f00 #f0e442 #999999 #009e73 #d55e00 #000000', k)
plot data using "matmul and convolution":"row":"matmul and convolution":"matmul and convolution end":"low":"high":ytic(strcol("label")) with boxxyerror lc rgb part(1) title 'matmul and convolution', \
     data using "vector work":"row":"vector work":"vector work end":"low":"high" with boxxyerror lc rgb part(2) title 'vector work', \
     data using "rearrange":"row":"rearrange":"rearrange end":"low":"high" with boxxyerror lc rgb part(3) title 'rearrange', \
     data using "exchange":"row":"exchange":"exchange end":"low":"high" with boxxyerror lc rgb part(4) title 'exchange', \
     data using "sync":"row":"sync":"sync end":"low":"high" with boxxyerror lc rgb part(5) title 'sync', \
     data using "copies and bubble":"row":"copies and bubble":"copies and bubble end":"low":"high" with boxxyerror lc rgb part(6) title 'copies and bubble', \
     data using "accumulate and optimizer":"row":"accumulate and optimizer":"accumulate and optimizer end":"low":"high" with boxxyerror lc rgb part(7) title 'accumulate and optimizer', \
     data using "all-reduce":"row":"all-reduce":"all-reduce end":"low":"high" with boxxyerror lc rgb part(8) title 'all-reduce', \
     data using "host and streaming":"row":"host and streaming":"host and streaming end":"low":"high" with boxxyerror lc rgb part(9) title 'host and streaming'
