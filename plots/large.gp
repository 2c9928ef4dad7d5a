# large.gp - models against IPUs: training that fits on the chips, in phases through streaming memory alone, or not, and the rate of the fastest way; predictions
# alone.
narrow = width < 500
height = narrow ? 480 : 440
load style
set xlabel "IPUs (GC200);".(narrow ? "\n" : " ")."in each cell rows of 1024 tokens/s at best\ndark: fits on the chips; light: in phases alone;".(narrow ? "\n" : " ")."grey: does not fit"
set xtics ('4' 0, '16' 1, '64' 2, '256' 3)
set ytics ('gpt2-small' 0, 'gpt2-medium' 1, 'gpt2-large' 2, 'gpt2-xl' 3, 'gpt3-2.7b' 4, 'gpt-j' 5, 'llama2-13b' 6, 'llama2-70b' 7, 'bloom' 8)
set xrange [-0.5:3.5]
set yrange [-0.5:8.5]
unset grid
unset key
set palette defined (0 '#bbbbbb', 1 '#c6e2f5', 2 '#56b4e9')
set cbrange [0:2]
unset colorbox
plot 'large.csv' using "x":"y":"place" with image pixels, \
     'large.csv' using "x":"y":"text" with labels tc rgb '#222222', \
     'large.csv' using "x":"y":(sprintf("%s on %d IPUs\nfits: %s\nfastest: %s, layers cut over %s\n%.3g rows/s", strcol("model"), column("ipus"), strcol("fits"), strcol("fastest"), \
         strcol("cut_over"), column("rows_per_s"))) @of_point
