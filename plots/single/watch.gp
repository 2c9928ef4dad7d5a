# watch.gp - one measured series: its points, its levels, and where they changed. Set before: data, name, finding.
width = 900; height = 420
format = 'svg'
load style
set margins 9,4,4,4
set xlabel 'point of the series'
set ylabel name noenhanced
set autoscale xfix
set offsets graph 0, graph 0.02, graph 0.08, graph 0.08
unset key
plot data using 'point':'value' with points pt 7 ps 0.45 lc rgb grey notitle, \
     data using 'point':'accepted' with lines lw 2.4 lc rgb blue notitle, \
     data using 'point':'worse' with lines lw 2.4 lc rgb red notitle, \
     data using 'point':'value':'mark' with labels left offset 0.5,1 noenhanced font ',9' notitle
