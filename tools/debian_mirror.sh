# The mirror of Debian that this machine's apt uses. To be sourced: find_mirror prints its URL, or nothing.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh

# By the lists that apt has fetched; without lists, by the usual end of the URL.
find_mirror() {
    # The words in single quotes are apt's.
    # shellcheck disable=SC2016
    targets=$(apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' 2>/dev/null || true)
    mirror=$(echo "$targets" | sed -n 's/^Debian|Debian|//p' | head -n 1)
    if [ -z "$mirror" ]; then
        mirror=$(echo "$targets" | sed 's/.*|//' | grep -E '/debian/?$' | head -n 1 || true)
    fi
    echo "$mirror"
}
