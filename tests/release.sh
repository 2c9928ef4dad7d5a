#!/bin/sh
# release.sh DIR VERSION - installs the source archive, the package and the wheel of a release, each on a system that has nothing of podbench's, and
# asks one question. As root with debootstrap the system is a fresh Debian; elsewhere the parts are unpacked into empty folders, and it says so.
set -eu
release=$(cd "$1" && pwd) version=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 failed=0
question="run mlperf-v2.0-closed-bow-pod16-bert-large"
answered() { # WHAT FILE - the answer has a throughput
    n=$((n + 1))
    if grep -q '^throughput: [1-9][0-9]* samples/s' "$2"; then echo "ok $n - $1: $(sed -n 's/^throughput: \([^,]*\),.*/\1/p' "$2")"; else
        failed=1
        echo "not ok $n - $1"
        tail -5 "$2" | sed 's/^/# /'
    fi
}
(cd "$release" && sha256sum --quiet -c SHA256SUMS)
n=$((n + 1))
echo "ok $n - checksums"

if [ "$(id -u)" -eq 0 ] && command -v debootstrap >/dev/null 2>&1; then
    debootstrap --variant=minbase --include=ca-certificates bookworm "$work/bare" >"$work/debootstrap" 2>&1
    for file in /etc/apt/apt.conf.d/* /etc/apt/sources.list /etc/apt/sources.list.d/*; do [ ! -f "$file" ] || cp "$file" "$work/bare$file"; done
    cp /etc/ssl/certs/ca-certificates.crt "$work/bare/etc/ssl/certs/"
    cp /etc/resolv.conf /etc/hosts "$work/bare/etc/"
    on_bare() { # FOLDER COMMAND - in a copy of the bare system with the release in it
        cp -a "$work/bare" "$work/$1" && mkdir "$work/$1/release" && cp "$release"/podbench* "$work/$1/release/"
        chroot "$work/$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive sh -c "$2" >"$work/$1.txt" 2>&1 || :
        answered "$3" "$work/$1.txt"
        rm -rf "${work:?}/$1"
    }
    on_bare deb "apt-get -q update && apt-get -qy install --no-install-recommends /release/podbench_$version.deb && cd / && podbench $question" "the package on a fresh Debian"
    on_bare wheel "apt-get -q update && apt-get -qy install --no-install-recommends python3-pip && pip install --break-system-packages --no-index /release/*.whl &&
        python3 -c 'import podbench; print(podbench.run(\"${question#run }\").text)'" "the wheel on a fresh Debian, without a compiler"
    on_bare source "apt-get -q update && apt-get -qy install --no-install-recommends make gcc libc6-dev && tar -xzf /release/podbench-$version.tar.gz &&
        cd podbench-$version && make && build/podbench $question" "the source on a fresh Debian"
else
    echo "# not root, or no debootstrap: the parts are unpacked into empty folders of this system"
    dpkg-deb -x "$release/podbench_$version.deb" "$work/deb" && (cd / && env -i PATH=/usr/bin:/bin "$work/deb/usr/bin/podbench" $question) >"$work/deb.txt" 2>&1 || :
    answered "the package, unpacked" "$work/deb.txt"
    python3 -m pip install --quiet --no-index --target "$work/wheel" "$release"/*.whl &&
        (cd / && PYTHONPATH="$work/wheel" python3 -c "import podbench; print(podbench.run('${question#run }').text)") >"$work/wheel.txt" 2>&1 || :
    answered "the wheel, in a folder of its own" "$work/wheel.txt"
    tar -C "$work" -xzf "$release/podbench-$version.tar.gz" && (cd "$work/podbench-$version" && make && build/podbench $question) >"$work/source.txt" 2>&1 || :
    answered "the source, unpacked" "$work/source.txt"
fi
echo "1..$n"
exit "$failed"
