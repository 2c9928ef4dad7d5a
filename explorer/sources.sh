#!/bin/sh
# sources.sh DIR - fetches and unpacks Debian's source packages of the libraries that the explorer compiles to WebAssembly.
# The lists of packages are kept in DIR, so that the machine's own are not touched.
set -eu
mkdir -p "$1/lists/partial"
cd "$1"
list=$PWD/sources.list
mirror=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -m 1 '/debian/*$')
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
echo "deb-src $mirror $codename main" >"$list"
apt="apt-get -o Dir::Etc::sourcelist=$list -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists=$PWD/lists
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root"
for package in gsl jansson libcsv protobuf-c xxhash; do
    [ ! -d "$package" ] || continue
    [ -e updated ] || { $apt update >&2 && touch updated; }
    $apt source --download-only "$package" >&2
    dpkg-source --no-check -x "$package"_*.dsc "$package.new" >&2
    mv "$package.new" "$package"
done
