#!/bin/sh
# Fetches two programs of Debian 13 that tests of render/container read rendered files
# with, without installing anything: Podman's quadlet generator, which Debian 12 does not
# have, and docker's command line. They are taken out of their packages into
# /var/cache/meshc-test (as root) or $XDG_CACHE_HOME/meshc-test, where the tests look for
# them. What is there already is left alone; to fetch anew, remove that folder.
# MESHC_DEBIAN_MIRROR names another mirror than deb.debian.org.
set -eu

if [ "$(id -u)" -eq 0 ]; then
	cache=/var/cache/meshc-test
else
	cache=${XDG_CACHE_HOME:-$HOME/.cache}/meshc-test
fi
mirror=${MESHC_DEBIAN_MIRROR:-http://deb.debian.org/debian}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

say() { echo "quadlet.sh: $*"; }

if [ -x "$cache/quadlet" ] && [ -x "$cache/docker" ]; then
	say "$cache has $("$cache/quadlet" -version) of quadlet and $("$cache/docker" --version)"
	exit 0
fi
for need in apt-get dpkg-deb "$keyring"; do
	if ! command -v "$need" >/dev/null 2>&1 && [ ! -e "$need" ]; then
		echo "quadlet.sh: $need is missing; on a system that is not Debian put Podman's quadlet and docker's client into $cache yourself" >&2
		exit 1
	fi
done

mkdir -p "$cache"
work=$(mktemp -d "$cache/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
mkdir -p "$work/lists/partial" "$work/archives/partial"
echo "deb [signed-by=$keyring] $mirror trixie main" >"$work/sources.list"

# apt of its own: own sources, lists and cache, no package of this system known to it
apt() {
	apt-get -qq -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=- \
		-o Dir::State="$work" -o Dir::State::lists="$work/lists" -o Dir::State::status=/dev/null \
		-o Dir::Cache="$work" -o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none "$@"
}

say "fetching podman and docker-cli of Debian 13 from $mirror"
apt update
(cd "$work" && apt download podman docker-cli)

# take PACKAGE FILE: put a file of a package into the cache, whole or not at all
take() {
	dpkg-deb -x "$work/$1"_*.deb "$work/$1"
	mv "$work/$1/$2" "$cache/${2##*/}"
	say "took $2 of $(basename "$work/$1"_*.deb) into $cache"
}
take podman usr/libexec/podman/quadlet
take docker-cli usr/bin/docker
