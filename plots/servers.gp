# servers.gp - throughput and efficiency against IPUs on machines of which no run was published: predictions alone.
narrow = width < 500
height = narrow ? 680 : 380
load style
says(x, form) = sprintf("%s, %.0f IPUs\n".form."\n%.0f %% of the step in the all-reduce", strcol("workload"), column("chips"), column(x), column("all-reduce"))
of_series(k, x) = column("series") == k ? column(x) : NaN
if (narrow) { set multiplot layout 2,1 margins 0.17,0.96,0.08,under_head(2.4) spacing 0,0.14 } else { set multiplot layout 1,2 margins 0.09,0.97,0.16,under_head(2.4) spacing 0.1,0 }
set logscale x 2
set xtics (16, 32, 64, 128, 256, 512)
set xrange [13:640]
set xlabel 'IPUs' offset 0,0.5
stats 'servers.csv' using "series" nooutput
n = int(STATS_max)
name = ''
do for [k=1:n] { stats 'servers.csv' using (column("series") == k ? (name = name.(words(name) < k ? strcol("workload").' ' : ''), 1) : NaN) nooutput }
set key top left samplen 2
set logscale y; set format y '%.0s%c'; set title 'samples/s; dotted: as the smallest'
plot for [k=1:n] 'servers.csv' using (of_series(k, "chips")):(of_series(k, "samples")) with linespoints pt 6 ps 1.2 lw 2 lc rgb word(blue.' '.red.' '.green.' '.purple, k) title word(name, k), \
     for [k=1:n] 'servers.csv' using (of_series(k, "chips")):(of_series(k, "samples")/of_series(k, "efficiency")*100) with lines dt 3 lw 1.5 lc rgb grey notitle, \
     'servers.csv' using "chips":"samples":(says("samples", '%.0f samples/s')) @of_point
unset label 99; unset key
unset logscale y; set format y '%g %%'; set yrange [0:105]; set title 'efficiency against the smallest size'
plot 100 with lines dt 3 lw 1.5 lc rgb grey notitle, \
     for [k=1:n] 'servers.csv' using (of_series(k, "chips")):(of_series(k, "efficiency")) with linespoints pt 6 ps 1.2 lw 2 lc rgb word(blue.' '.red.' '.green.' '.purple, k) notitle, \
     'servers.csv' using "chips":"efficiency":(says("efficiency", '%.1f %%')) @of_point
unset multiplot
