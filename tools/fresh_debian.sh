# A fresh Debian for the scripts that try what a newcomer does. To be sourced in the root of the repository:
# make_fresh NAME [SUITE] makes it in build/fresh, Debian 12 (bookworm) if SUITE does not say otherwise, and 'in_fresh COMMAND' runs a command in it; NAME begins the lines that it says.
# Needs root and debootstrap. The host's apt sources, keys, certificates and proxies are used, and its pip's settings.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh

fresh=$PWD/build/fresh
root=$fresh/root

unmount_fresh() {
    for point in dev/shm dev/pts dev sys proc; do
        if mountpoint -q "$root/$point"; then
            umount -l "$root/$point"
        fi
    done
}

# shellcheck source=tools/debian_mirror.sh
. tools/debian_mirror.sh

make_fresh() {
    if [ "$(id -u)" -ne 0 ]; then
        echo "$1: needs root, to make a system and to change into it" >&2
        exit 2
    fi
    for tool in debootstrap chroot mount; do
        command -v "$tool" >/dev/null || { echo "$1: needs $tool" >&2; exit 2; }
    done
    trap unmount_fresh EXIT
    unmount_fresh
    rm -rf --one-file-system "$root"
    mkdir -p "$root"
    suite=${2:-bookworm}
    mirror=$(find_mirror)
    mirror=${mirror:-http://deb.debian.org/debian}
    echo "$1: Debian $suite from $mirror into $root"
    debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "$mirror" \
        >"$fresh/debootstrap.log" 2>&1 || { tail -n 20 "$fresh/debootstrap.log" >&2; exit 1; }

    # Reach the network as this machine does. -L: what links point to may not exist in there.
    # The host's sources are of its own suite.
    sources="/etc/apt/sources.list /etc/apt/sources.list.d"
    [ "$suite" = bookworm ] || sources=
    for path in $sources /etc/apt/apt.conf /etc/apt/apt.conf.d \
        /etc/apt/auth.conf.d /etc/apt/preferences.d /etc/apt/keyrings /etc/apt/trusted.gpg.d /usr/share/keyrings \
        /usr/local/share/ca-certificates /etc/ssl/certs /etc/resolv.conf /etc/hosts /etc/pip.conf; do
        [ -e "$path" ] || continue
        rm -rf "${root:?}$path"
        mkdir -p "$root$(dirname "$path")"
        cp -aL "$path" "$root$path"
    done
    # debootstrap's own list would name everything twice beside copied .sources files.
    [ -z "$sources" ] || [ -e /etc/apt/sources.list ] || rm -f "$root/etc/apt/sources.list"

    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sys "$root/sys"
    mount --rbind --make-rslave /dev "$root/dev"
}

in_fresh() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        ${no_proxy:+no_proxy="$no_proxy"} ${PIP_INDEX_URL:+PIP_INDEX_URL="$PIP_INDEX_URL"} \
        chroot "$root" sh -c "$1"
}
