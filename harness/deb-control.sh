#!/bin/sh
# deb-control.sh PROGRAM VERSION - the control file of the Debian package: it depends on the packages whose libraries the program loads,
# if any.
set -eu
depends=
for library in $(ldd "$1" 2>/dev/null | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p'); do
    file=$(readlink -f "$library")      # packages list files in /lib that stand in /usr/lib today
    package=$(dpkg-query -S "$file" "${file#/usr}" 2>/dev/null | head -1 | cut -d: -f1)
    case " $depends " in *" $package "*) ;; *) depends="$depends $package" ;; esac
done
cat <<END
Package: podbench
Version: $2
Architecture: $(dpkg --print-architecture)
Maintainer: the podbench authors <podbench@localhost>
Section: science
Priority: optional
${depends:+Depends: $(echo $depends | sed 's/ /, /g')
}Recommends: gnuplot-nox, libdnnl2, make
Description: benchmarks and simulates machine-learning runs on IPU systems
 Published training and inference runs on IPU systems, simulated from spec
 sheets with sources and set beside what was measured: throughput, time to
 train, memory, energy. MLPerf results are scored and checked by their rules.
END
