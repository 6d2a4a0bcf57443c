#!/bin/sh
# gpu_compare.sh - the same kernels on the GPU and on the CPU, bit for bit; the kernels that must fail;
# the time of add_tma. For a machine with one H100 or H200.
# SPDX-License-Identifier: Apache-2.0
#
# usage: tests/differential/gpu/gpu_compare.sh GROUT [LOG]        from the project's folder
#
# Exit code 0: all as expected; 1: not; 77: no usable GPU. Everything goes to LOG (default
# gpu_compare.log), a line a case to stdout.
grout=${1:?usage: gpu_compare.sh GROUT [LOG]}
log=${2:-gpu_compare.log}
passed=0
failed=0
: >"$log"
lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT
python3 tests/kernel_lists.py "$lists"
python3 tests/families.py bugs "$lists/bugs"

"$grout" doctor >>"$log" 2>&1
if ! grep -q '^gpu 0:' "$log" || grep -q '^no kernel can run on a GPU' "$log"; then
    echo "no usable GPU, see $log"
    exit 77
fi
grep -E '^(gpu|nvrtc)' "$log"

# find_file NAME: the file of kernels in tests/differential, or that of its list.
find_file() {
    if [ -f "$lists/$1.grout" ]; then
        echo "$lists/$1.grout"
    else
        echo "tests/differential/$1.grout"
    fi
}

# expect CODE TEXT GROUT-ARGUMENT...: the exit code, and a text in the output ('' for none).
expect() {
    code=$1
    text=$2
    shift 2
    echo "\$ grout $*" >>"$log"
    output=$(timeout 1500 "$grout" "$@" 2>&1 </dev/null)
    status=$?
    printf '%s\n[exit %s]\n\n' "$output" "$status" >>"$log"
    if [ "$status" -eq "$code" ] && { [ -z "$text" ] || printf '%s' "$output" | grep -qF -e "$text"; }; then
        passed=$((passed + 1))
        echo "ok      $*"
    else
        failed=$((failed + 1))
        echo "FAILED  $* (exit $status, expected $code '$text')"
    fi
}

# same FILE ARGUMENT...: every kernel of the file, compared bit for bit, or as the options of its
# comment '// same: OPTION...' say.
same() {
    file=$1
    shift
    while read -r kernel own; do
        # shellcheck disable=SC2086 # options, to be split
        expect 0 '' run "$file" --kernel "$kernel" --device cuda --compare cpu $own "$@"
    done <<EOF
$(awk '/^\/\/ same: / { sub("^// same: ", ""); own = own " " $0 }
    /^kernel @/ { name = $2; sub("[^@A-Za-z0-9_].*", "", name); print name own; own = "" }' "$file")
EOF
}

# same_runs FILE: the same with the options of each '// run: OPTION...' of the file.
same_runs() {
    runs=$(sed -n 's|^// run: ||p' "$1")
    while read -r run; do
        # shellcheck disable=SC2086 # options, to be split
        same "$1" $run
    done <<EOF
$runs
EOF
}

# products TYPES FILE ARGUMENT...: the kernels of a and b whose names begin as TYPES, a pattern, says,
# by the bits of the tensor core. Inputs are the arguments', not those of comments.
products() {
    types=$1
    file=$2
    shift 2
    while read -r kernel; do
        expect 0 '' run "$file" --kernel "$kernel" --device cuda --compare cpu --numerics exact "$@"
    done <<EOF
$(awk -v "types=^@$types" '/^kernel @.*%a: .*%b: in/ { name = $2; sub("[^@A-Za-z0-9_].*", "", name)
    if (name ~ types) print name }' "$file")
EOF
}

# Shipped kernels, at their own sizes and at others.
for file in kernels/*.grout; do
    same "$file"
done
for shape in '4000 120' '1 4' '31 60' '33 68' '256 4' '7 1000' '129 260' '1024 1024'; do
    # shellcheck disable=SC2086 # to be split
    set -- $shape
    same kernels/add_tma.grout -D X="$1" -D Y="$2" --input a=randn:1 --input b=randn:2
done
for tile in '32 64 3' '8 32 4' '64 128 2' '16 256 2' '1 64 5' '32 60 2'; do
    # shellcheck disable=SC2086 # to be split
    set -- $tile
    same kernels/add_tma.grout -D X=500 -D Y=404 -D XB="$1" -D YB="$2" -D BUF="$3" \
        --input a=uniform:3:-1000:1000
done
for n in 128 1280 65536; do
    same kernels/add_one.grout -D N="$n" --input x=randn:4
done
same kernels/add_one.grout -D N=1024 -D B=256
same kernels/add_one.grout -D N=960 -D B=96
for slots in 1 2 5 8; do
    same kernels/producer_consumer.grout -D STEPS=40 -D SLOTS="$slots" -D N=256 --input x=randn:5
done

# The tensor core, with tiles that hang over the edges. wgmma_sweep.py has every form of it.
for shape in '128 128 64' '64 8 256' '200 264 320' '1000 520 72' '2048 2048 512'; do
    # shellcheck disable=SC2086 # to be split
    set -- $shape
    same kernels/matmul_hopper.grout -D M="$1" -D N="$2" -D K="$3"
done
for shape in '128 256 256' '200 264 320' '1000 520 328' '4096 4096 256' '3000 2056 512'; do
    # shellcheck disable=SC2086 # to be split
    set -- $shape
    same kernels/matmul_hopper_ws.grout -D M="$1" -D N="$2" -D K="$3"
    same kernels/matmul_hopper_ws.grout -D M="$1" -D N="$2" -D K="$3" --input a=randn:1 --input b=randn:2
done

# The bits of the tensor core: random numbers, wide and narrow, and sums that are long.
for file in kernels/matmul_hopper*.grout kernels/split_k.grout tests/differential/wgmma.grout; do
    same "$file" --numerics exact
done
same kernels/matmul_hopper_async.grout -D K=8192 --input a=randn:1 --input b=randn:2 --numerics exact
for name in matmul_hopper matmul_hopper_cluster matmul_hopper_ws; do
    for shape in '128 256 256' '512 512 1024' '256 256 8192'; do
        # shellcheck disable=SC2086 # to be split
        set -- $shape
        for inputs in 'randn:1 randn:2' 'uniform:3:-1e4:1e4 uniform:4:-1e-4:1e-4' 'ints ones'; do
            # shellcheck disable=SC2086 # to be split
            set -- "$1" "$2" "$3" $inputs
            same "kernels/$name.grout" -D M="$1" -D N="$2" -D K="$3" --input a="$4" --input b="$5" --numerics exact
        done
    done
done

# Every pair of element types of wgmma and mma, every type of sums, short and long K.
for name in products sparse mma; do
    file=$(find_file "$name")
    same "$file"
    for depth in 128 512 8192; do
        for inputs in 'randn:1 randn:2' 'uniform:3:-400:400 uniform:4:-400:400' 'uniform:5:-1e-3:1e-3 randn:6'; do
            # shellcheck disable=SC2086 # to be split
            set -- $inputs
            products '[bfet]' "$file" -D K="$depth" --input a="$1" --input b="$2"
        done
        products '[iu]8' "$file" -D K="$depth" --input a=ints --input b=127
        products '[iu]8' "$file" -D K="$depth" --input a=126 --input b=ints
    done
done

# What the shipped kernels do not use: every operation, cast, layout and reduction.
for name in arithmetic half math registers rows; do
    same "$(find_file "$name")"
done
same_runs "$(find_file matrices)"
same_runs "$(find_file reductions)"
same tests/tilings/inferred.grout
for seed in 1 2; do
    expect 0 '' run "$(find_file arithmetic)" --kernel @f32 --device cuda --compare cpu \
        --input x=randn:$seed --input y=uniform:$seed:-3:3 --input z=randn:9
    expect 0 '' run "$(find_file casts)" --kernel @from_f32 --device cuda --compare cpu \
        --input x=uniform:$seed:-100000:100000
    expect 0 '' run "$(find_file casts)" --kernel @from_f64 --device cuda --compare cpu \
        --input x=randn:$seed
done
expect 0 '' run tests/differential/launches.grout --device cuda --compare cpu
expect 0 '' run tests/differential/launches.grout --device cuda --compare cpu -D N=65536
same "$(find_file casts)"
same "$(find_file layouts)"
same tests/differential/smem_layouts.grout
same tests/differential/control.grout
same tests/differential/arrivals.grout
same tests/differential/wgmma.grout
for name in sync atomics async_copy async_picks bulk_copies explicit warps meetings; do
    same "$(find_file "$name")"
done

# Clusters of 2 to 16 CTAs, several at a time.
for shape in '2 1' '1 2' '2 2' '4 1' '4 2' '8 1' '4 4' '16 1' '1 16'; do
    # shellcheck disable=SC2086 # to be split
    set -- $shape
    same tests/differential/clusters.grout -D X="$1" -D Y="$2" -D G=7
done
for size in 2 4 8 16; do
    same tests/differential/cluster_copies.grout -D C="$size"
done
expect 0 '' run "$(find_file layouts)" --kernel @f32 --device cuda --compare cpu --input x=randn:7

# The kernels with a bug that the hardware shows.
expect 1 compare-mismatch run kernels/bugs/add_tma_no_commit.grout --device cuda --compare cpu \
    --timing eager -D X=4096 -D Y=4096 -D XB=8 -D YB=256 -D BUF=4 --input a=randn:1 --input b=randn:2
for file in "$lists"/bugs/*.grout; do
    if grep -q 'expect-error: deadlock' "$file"; then
        expect 1 gpu-hang run "$file" --device cuda
    fi
done

# Memory bound: three arrays of 4 GiB. 3.9 TB/s are 3.30 ms.
for tile in '32 64 2' '32 64 3' '8 256 6' '8 256 8'; do
    # shellcheck disable=SC2086 # to be split
    set -- $tile
    expect 0 '' run kernels/add_tma.grout --device cuda --no-watchdog -D X=32768 -D Y=32768 \
        -D XB="$1" -D YB="$2" -D BUF="$3" --input a=zeros --input b=zeros --repeats 20 --warmup 3 --stats \
        --timeout 110
    grep -iE 'median|seconds| ms' "$log" | tail -n 3
done

echo "$passed as expected, $failed not; all output is in $log"
[ "$failed" -eq 0 ]
