#!/bin/sh
# Builds a fresh Debian 12 in build/fresh, copies a clean clone of HEAD into it, and runs there what README.md tells a
# newcomer to run, line by line: the lines between its marks 'begin commands' and 'end'.
# usage: check_fresh.sh [NUMBER]     only so many of the lines; all by default
# Needs root, debootstrap and git. The host's apt sources, keys, certificates and proxies are used.
set -eu
cd "$(dirname "$0")/.."

# The commands, one a line, without the comments beside them.
commands=$(git show HEAD:README.md | sed -n '/<!-- begin commands -->/,/<!-- end -->/{s/^    //; t command; d; :command; s/  *#.*//; p}' |
    head -n "${1:-1000}")
if [ -z "$commands" ]; then
    echo "check-fresh: README.md has no lines between 'begin commands' and 'end'" >&2
    exit 2
fi

if [ "$(id -u)" -ne 0 ]; then
    echo "check-fresh: needs root, to make a system and to change into it" >&2
    exit 2
fi
for tool in debootstrap git chroot mount; do
    command -v "$tool" >/dev/null || { echo "check-fresh: needs $tool" >&2; exit 2; }
done
if ! git rev-parse --verify --quiet HEAD >/dev/null; then
    echo "check-fresh: needs a commit, to clone it" >&2
    exit 2
fi
if [ -n "$(git status --porcelain)" ]; then
    echo "check-fresh: note: it tests the last commit; the working tree differs from it" >&2
fi

suite=bookworm
# The mirror this machine uses, where apt names one for Debian itself.
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
    sed -n -e 's/^URIs: *\([^ ]*\).*/\1/p' -e 's/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\).*/\2/p' |
    grep -E '/debian/?$' | head -n 1 || true)
mirror=${mirror:-http://deb.debian.org/debian}

fresh=$PWD/build/fresh
root=$fresh/root

unmount() {
    for point in dev/shm dev/pts dev sys proc; do
        if mountpoint -q "$root/$point"; then
            umount -l "$root/$point"
        fi
    done
}
trap unmount EXIT
unmount
rm -rf --one-file-system "$root"
mkdir -p "$root"

start=$(date +%s)
echo "check-fresh: Debian $suite from $mirror into $root"
debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$mirror" \
    >"$fresh/debootstrap.log" 2>&1 || { tail -n 20 "$fresh/debootstrap.log" >&2; exit 1; }

# Reach the network as this machine does. -L: what links point to may not exist in there.
for path in /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf /etc/apt/apt.conf.d /etc/apt/auth.conf.d \
    /etc/apt/preferences.d /etc/apt/keyrings /etc/apt/trusted.gpg.d /usr/share/keyrings \
    /usr/local/share/ca-certificates /etc/ssl/certs /etc/resolv.conf /etc/hosts; do
    [ -e "$path" ] || continue
    rm -rf "${root:?}$path"
    mkdir -p "$root$(dirname "$path")"
    cp -aL "$path" "$root$path"
done
# debootstrap's own list would name everything twice beside copied .sources files.
[ -e /etc/apt/sources.list ] || rm -f "$root/etc/apt/sources.list"

mount -t proc proc "$root/proc"
mount -t sysfs -o ro sys "$root/sys"
mount --rbind --make-rslave /dev "$root/dev"

git clone --quiet --no-hardlinks "file://$PWD" "$root/root/grout"

# A line ends the check if it fails. None of them reads the list of the others.
echo "$commands" >"$fresh/commands"
while read -r command <&3; do
    echo "check-fresh: $command ($(($(date +%s) - start)) s so far)"
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        ${no_proxy:+no_proxy="$no_proxy"} \
        chroot "$root" sh -c "cd /root/grout && $command"
done 3<"$fresh/commands"
echo "check-fresh: passed in a fresh Debian $suite, $(($(date +%s) - start)) s"
