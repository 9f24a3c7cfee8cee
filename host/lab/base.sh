#!/bin/sh
# The base of the lab's machines: a Debian 13 with systemd, nftables, WireGuard in user
# space and Podman, and an apt repository of its own with what mesh-host is to install,
# since the lab's machines reach no network.
#
#   base.sh able     whether this machine can have a lab; if not, why not, and exit 1
#   base.sh          makes the base where there is none, and prints its path
#
# It lies in /var/cache/meshc-test/lab, or in MESHC_LAB_CACHE, under a name made from this
# file: when this file changes, another one is made. MESHC_DEBIAN_MIRROR names another mirror.
set -eu
export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

suite=trixie
mirror=${MESHC_DEBIAN_MIRROR:-http://deb.debian.org/debian}
cache=${MESHC_LAB_CACHE:-/var/cache/meshc-test/lab}
include=systemd,systemd-sysv,dbus,iproute2,iputils-ping,procps,nftables,podman,wireguard-go,wireguard-tools,busybox-static
packages="postgresql-17 prometheus-node-exporter curl netavark ca-certificates"
space=2000 # MB, of the base and what three machines write

say() { echo "lab: $*" >&2; }

# able says what a lab needs of the machine that it runs on, each by doing it once.
able() {
	if [ "$(id -u)" -ne 0 ]; then
		say "it has to run as root: it makes namespaces, mounts and network interfaces"
		return 1
	fi
	if [ ! -c /dev/net/tun ]; then
		say "there is no /dev/net/tun, which wireguard-go needs"
		return 1
	fi
	# The words are of unshare and mount themselves; what they have no right to is not tried twice.
	if ! why=$(unshare --mount --net --pid --fork --mount-proc sh -c '
		mount -t tmpfs tmpfs /run && mkdir /run/cgroup && mount -t cgroup2 cgroup2 /run/cgroup &&
		mkdir /run/cgroup/meshc-lab-able && rmdir /run/cgroup/meshc-lab-able' 2>&1); then
		say "namespaces with a cgroup2 cannot be made here: $why"
		return 1
	fi
	mkdir -p "$cache"
	for at in "$cache" /var/tmp; do
		free=$(($(stat -f -c '%a * %S' "$at") / 1048576))
		if [ "$free" -lt "$space" ]; then
			say "$at has $free MB left, and a lab takes $space"
			return 1
		fi
	done
}

# tools installs the programs that the lab itself runs.
tools() {
	missing=
	for need in debootstrap:debootstrap systemd-nspawn:systemd-container ip:iproute2 nft:nftables nsenter:util-linux rsync:rsync; do
		command -v "${need%%:*}" >/dev/null || missing="$missing ${need##*:}"
	done
	[ -n "$missing" ] || return 0
	say "installing$missing"
	export DEBIAN_FRONTEND=noninteractive
	apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 update -qq >&2
	# shellcheck disable=SC2086 # a list of packages
	apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 install -qq -y --no-install-recommends $missing >/dev/null
}

# repository downloads the packages with all that they depend on into the base, and
# writes the index that apt reads (repository formats: sources.list(5), deb822(5)).
repository() {
	chroot "$1" apt-get -o Acquire::Retries=3 update -qq
	mkdir -p "$1/srv/packages/partial"
	# shellcheck disable=SC2086 # a list of packages
	chroot "$1" apt-get install -qq -y --download-only --no-install-recommends -o Acquire::Retries=3 -o Dir::Cache::archives=/srv/packages $packages
	rm -rf "$1/srv/packages/partial" "$1/srv/packages/lock"
	# shellcheck disable=SC2016 # the shell inside expands it
	chroot "$1" sh -euc 'cd /srv/packages
		for deb in *.deb; do
			dpkg-deb --field "$deb"
			echo "Filename: ./$deb"
			echo "Size: $(stat -c %s "$deb")"
			echo "SHA256: $(sha256sum "$deb" | cut -d" " -f1)"
			echo
		done >Packages'
	echo "deb [trusted=yes] file:/srv/packages ./" >"$1/etc/apt/sources.list"
	rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*.bin
	chroot "$1" apt-get update -qq
}

# settle takes away what differs between machines, or would act on its own.
settle() {
	rm -f "$1/etc/resolv.conf" "$1"/var/cache/apt/archives/*.deb
	: >"$1/etc/machine-id"
	for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer podman-auto-update.timer systemd-networkd.service; do
		ln -sf /dev/null "$1/etc/systemd/system/$unit"
	done
	# Not every machine that has a lab has the controller of process numbers, or a keyring.
	mkdir -p "$1/etc/containers"
	printf '[containers]\npids_limit=0\nkeyring=false\n' >"$1/etc/containers/containers.conf"
}

# fill makes a base in a folder. It is a process of its own, which ends at the first
# command that fails; a function whose caller asks how it went does not.
fill() {
	rm -rf "$1"
	debootstrap --variant=minbase --include="$include" "$suite" "$1" "$mirror"
	repository "$1"
	settle "$1"
}

base() {
	name=$suite-$(sha256sum "$0" | cut -c1-12)
	mkdir -p "$cache"
	exec 9>"$cache/lock"
	if ! flock -n 9; then
		say "another run is making the base, waiting"
		flock 9
	fi
	if [ ! -d "$cache/$name" ]; then
		say "making the base by debootstrap, which takes some minutes: $cache/$name"
		rm -rf "$cache"/making.* "$cache/$suite"-*
		making=$cache/making.$$
		trap 'rm -rf "$making"' EXIT
		trap 'exit 1' INT TERM HUP
		# A mirror that once did not answer is no fault of anybody's.
		if ! "$0" fill "$making" >"$cache/log" 2>&1 && ! "$0" fill "$making" >"$cache/log" 2>&1; then
			tail -n 20 "$cache/log" >&2
			say "debootstrap failed twice; all that it said is in $cache/log"
			return 1
		fi
		mv "$making" "$cache/$name"
	fi
	echo "$cache/$name"
}

case "${1-}" in
able) able ;;
fill) fill "$2" ;;
"")
	able
	tools
	base
	;;
*)
	echo "usage: base.sh [able]" >&2
	exit 2
	;;
esac
