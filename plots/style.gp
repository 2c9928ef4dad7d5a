# style.gp - what all figures share: terminal, colours that colour-blind readers tell apart (Okabe and Ito), grid.
# Set before: format (svg or png), finding, width, height in points. What is drawn goes to stdout.
if (format eq 'svg') set terminal svg size width,height font 'Helvetica,13' background rgb 'white'
if (format eq 'png') set terminal pngcairo size width,height font 'Sans,10.5' background rgb 'white'
set datafile separator comma
set datafile missing 'NaN'
set datafile columnheaders
set border 3 lc rgb '#444444'
set tics nomirror out scale 0.6
set grid lc rgb '#dddddd' lt 1 lw 1
black = '#000000'; orange = '#e69f00'; sky = '#56b4e9'; green = '#009e73'; yellow = '#f0e442'
blue = '#0072b2'; red = '#d55e00'; purple = '#cc79a7'; grey = '#999999'
# The finding heads the figure, in the middle of the page, as large as it fits.
finding_size = (format eq 'svg' ? 1.25 : 1.0) * (strlen(finding) > width/8.5 ? 10 : strlen(finding) > 0.85*width/8.5 ? 11.5 : 13.5)
finding_font = sprintf(',%.1f', finding_size)
# What a point or a row says under the mouse in a page (plots/report.js): a text of lines, the first of which names the run.
of_point = 'with labels hypertext point pt 7 ps 0.4 lc rgb "#ff000000" notitle'
of_row = 'with labels hypertext point pt 5 ps 0.4 lc rgb "#ff000000" notitle'
# "name value" for each of the pieces k to n that a stacked bar has; `names` has their columns, NAME and "NAME end".
piece(k) = column(word(names, k).' end') - column(word(names, k))
pieces(k, n, form) = k > n ? '' : (piece(k) > 0 ? sprintf("\n%s ".form, word(names, k), piece(k)) : '').pieces(k + 1, n, form)
set label 99 finding at screen 0.5, screen 1 - 16.0/height center font finding_font
