#!/bin/sh
# Builds a fresh Debian in build/fresh with Debian's Python, and does there what a user of the wheel does: a virtual
# environment, the 'pip install' of docs/python.md and docs/pallas.md beside a wheel of the older name, and the first
# report, of a .grout text and of a Pallas kernel. Says how long each took, and which JAX it was.
# usage: check_fresh_wheel.sh WHEEL [SUITE]     bookworm (Debian 12, Python 3.11) by default; trixie has Python 3.13
# Needs root, debootstrap and PyPI; see fresh_debian.sh.
set -eu
wheel=$(realpath "${1:?usage: check_fresh_wheel.sh WHEEL [SUITE]}")
cd "$(dirname "$0")/.."
. tools/fresh_debian.sh

make_fresh check-fresh-wheel "${2:-bookworm}"
in_fresh "apt-get -qq update && apt-get -qq install -y --no-install-recommends python3 python3-venv" \
    >"$fresh/python.log" 2>&1 || { tail -n 20 "$fresh/python.log" >&2; exit 1; }
mkdir "$root/root/dist"
cp "$wheel" "$root/root/dist/"
: >"$root/root/dist/grout-0.1.0-py3-none-any.whl"
cat >"$root/root/first.py" <<'END'
import grout
kernel = grout.load("""
kernel @add_one(%x: in gmem f32[128], %y: out gmem f32[128])
{
  scratch %xs : smem f32[128]
  scratch %full : barrier[1]
  copy_gmem_to_smem %x, %xs, %full[0]
  barrier_wait %full[0]
  store %xs, (add (load %xs), 1.0)
  copy_smem_to_gmem %xs, %y
  wait_smem_to_gmem 0
}
""")
report = kernel.check()
print(report)
assert [finding.code for finding in report.findings] == ["missing-commit-smem"]
END
cat >"$root/root/pallas.py" <<'END'
import jax.numpy as jnp
import jax.experimental.pallas.mosaic_gpu as plgpu
import grout.pallas

def body(x, y, smem, barrier):
    plgpu.copy_gmem_to_smem(x, smem, barrier)
    plgpu.barrier_wait(barrier)
    smem[...] = smem[...] + 1
    plgpu.copy_smem_to_gmem(smem, y)
    plgpu.wait_smem_to_gmem(0)

x = jnp.zeros(128, jnp.float32)
scratch = [plgpu.SMEM(x.shape, x.dtype), plgpu.Barrier()]
report = grout.pallas.check(plgpu.kernel(body, out_type=x, scratch_types=scratch))(x)
print(report)
assert [finding.code for finding in report.findings] == ["missing-commit-smem"]
END

# try_it PAGE FILE: from nothing to the report that FILE prints, by the line of docs/PAGE that installs.
try_it() {
    install=$(sed -n 's/^    pip \(install [^#]*[^# ]\)\( *#.*\)\{0,1\}$/\1/p' "docs/$1" | head -n 1)
    echo "check-fresh-wheel: pip $install"
    start=$(date +%s)
    in_fresh "cd /root && rm -rf venv && python3 -m venv venv && venv/bin/pip -q $install &&
        venv/bin/python $2 && venv/bin/pip list 2>/dev/null | grep -iE '^(grout|jax)'"
    echo "check-fresh-wheel: $2: $(($(date +%s) - start)) s from the virtual environment to the report"
}
try_it python.md first.py
try_it pallas.md pallas.py
