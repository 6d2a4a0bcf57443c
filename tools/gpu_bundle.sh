#!/bin/sh
# Makes build/gpu-bundle: the release command, the libraries it needs other than libc's, the kernels.
# The folder runs where nothing is installed; the command finds its libraries beside itself.
set -eu
cd "$(dirname "$0")/.."
grout=build/release/bin/grout
bundle=build/gpu-bundle

rm -rf "$bundle"
mkdir -p "$bundle"
cp "$grout" "$bundle/"
ldd "$grout" | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | while read -r name path; do
    case $name in
        # glibc, which every machine has its own of, and which must match the loader.
        libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | ld-linux*) ;;
        *) cp -L "$path" "$bundle/$name" ;;
    esac
done
cp -R kernels "$bundle/kernels"
[ ! -d bench ] || cp -R bench "$bundle/bench"
find build/release/bin -name 'bench_*' -exec cp {} "$bundle/" \;

# Bound here means bound there: each library must come from the bundle.
if ldd "$bundle/grout" | grep -q 'not found'; then
    ldd "$bundle/grout" >&2
    exit 1
fi
"$bundle/grout" --version
du -sh "$bundle"
