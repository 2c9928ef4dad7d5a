# style.gp - what all figures share: terminal, colours that colour-blind readers tell apart (Okabe and Ito), grid.
# Set before: format (svg or png), finding, width and height in points. What is drawn goes to stdout. A figure is drawn for a column of a page, and
# again for a phone, which is `narrow`.
if (!exists('width')) width = 460
if (format eq 'svg') set terminal svg size width,height font 'Helvetica,13.5' background rgb 'white'
if (format eq 'png') set terminal pngcairo size width,height font 'Sans,10' background rgb 'white'
set datafile separator comma
set datafile missing 'NaN'
set datafile columnheaders
set border 3 lc rgb '#444444'
set tics nomirror out scale 0.6
set grid lc rgb '#dddddd' lt 1 lw 1
black = '#000000'; orange = '#e69f00'; sky = '#56b4e9'; green = '#009e73'; yellow = '#f0e442'
blue = '#0072b2'; red = '#d55e00'; purple = '#cc79a7'; grey = '#999999'
# The finding heads the figure, in lines of so many letters; plots/report.js takes it out of a page, which has it above the figure.
line_letters = width/8.8; heading = ''; line = ''; head_lines = 1
do for [i=1:words(finding)] {
    if (strlen(line) + strlen(word(finding, i)) >= line_letters) { heading = heading.line."\n"; head_lines = head_lines + 1; line = word(finding, i) } else { line = line.(i > 1 ? ' ' : '').word(finding, i) }
}
head_height = 21.0*head_lines + 6
# What a point or a row says under the mouse in a page (plots/report.js): a text of lines, the first of which names the run.
of_point = 'with labels hypertext point pt 7 ps 0.4 lc rgb "#ff000000" notitle'
of_row = 'with labels hypertext point pt 5 ps 0.4 lc rgb "#ff000000" notitle'
# The pieces of a stacked bar, whose columns `names` has: where piece k ends, and "name value" for each of the pieces k to n.
piece(k) = column(word(names, k))
end(k) = k < 1 ? 0 : end(k - 1) + piece(k)
pieces(k, n, form) = k > n ? '' : (piece(k) > 0 ? sprintf("\n%s ".form, word(names, k), piece(k)) : '').pieces(k + 1, n, form)
set label 99 heading.line at screen 0.5, screen 1 - 14.0/height center font (format eq 'svg' ? ',14' : ',10.5')
under_head(rows) = 1 - (head_height + 17.0*rows)/height       # the top of a graph below so many rows of a key
set tmargin at screen under_head(0.6)
