#!/bin/sh
# What calibration prints of a few rows, word for word.
. tests/tap.sh
. tests/printed.sh
show calibrate
printed calibrate
done_testing
