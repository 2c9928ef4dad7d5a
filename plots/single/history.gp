# history.gp - one metric, point by point, a line a recipe, relative to its first point. Set before: data, series (how many), finding.
width = 900; height = 420
format = 'svg'
load style
set margins 9,26,4,4
set xlabel 'point of the history'
set ylabel 'change since the first point'
set format y '%+g %%'
set xtics 1
set autoscale xfix
unset key
colours = 'black orange sky green blue red purple grey'
plot for [k=1:series] data using 'point':sprintf('series %d', k) with linespoints pt 7 ps 0.7 lw 1.6 \
         lc rgb value(word(colours, (k-1) % 8 + 1)) notitle, \
     for [k=1:series] data using 'point':sprintf('name at %d', k):sprintf('name %d', k) \
         with labels left offset 1,0 noenhanced font ',9' tc rgb value(word(colours, (k-1) % 8 + 1)) notitle
