#!/bin/sh
# Installs the Debian packages whose programs the tests check rendered files with,
# those that are missing and no others, and says which. Nothing is started: the
# tests bring up what they need themselves.
set -eu
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

# program or path, and the package that has it
tools='
nft nftables
wg wireguard-tools
wireguard-go wireguard-go
ip iproute2
iptables iptables
sysctl procps
openssl openssl
redis-server redis-server
/usr/lib/postgresql/*/bin/postgres postgresql
dnsmasq dnsmasq-base
nginx nginx-light
zsh zsh
fish fish
i3 i3-wm
sway sway
jq jq
curl curl
systemd-analyze systemd
ssh-keygen openssh-client
age age
php php-cli
/usr/lib/python3/dist-packages/yaml python3-yaml
git git
chromium chromium
'

present() {
	case $1 in
	/*) ls $1 >/dev/null 2>&1 ;; # unquoted: a pattern
	*) command -v "$1" >/dev/null 2>&1 ;;
	esac
}

missing=
while read -r program package; do
	if [ -n "$program" ] && ! present "$program"; then
		missing="$missing $package"
	fi
done <<LIST
$tools
LIST

if [ -n "$missing" ]; then
	if ! command -v apt-get >/dev/null 2>&1; then
		echo "the tests need programs of these Debian packages; install them as your system does:$missing" >&2
		exit 1
	fi
	as_root=
	if [ "$(id -u)" -ne 0 ]; then
		if ! sudo -n true 2>/dev/null; then
			echo "the tests need Debian packages; install them as root: apt-get install --no-install-recommends$missing" >&2
			exit 1
		fi
		as_root='sudo env'
	fi
	echo "installing$missing"
	# Debian's own way to say that packages shall not start their services
	policy=/usr/sbin/policy-rc.d
	if [ ! -e $policy ]; then
		$as_root sh -c "printf '#!/bin/sh\nexit 101\n' > $policy && chmod 755 $policy"
		trap '$as_root rm -f $policy' EXIT INT TERM
	fi
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 update -qq
	# shellcheck disable=SC2086 # a list of packages
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -qq -y --no-install-recommends $missing >/dev/null
fi

# Podman's quadlet generator comes from Debian 13, also on an older system
quadlet=$(dirname "$0")/quadlet.sh
if [ -x "$quadlet" ]; then
	"$quadlet" >/dev/null
fi
