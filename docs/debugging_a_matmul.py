# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Debugging a matmul, in Python
#
# What [debugging_a_matmul.md](debugging_a_matmul.md) does with the command, step by step. That page says what the
# reports mean; here are the calls that make them. It is a script, `python docs/debugging_a_matmul.py`, and a notebook,
# `debugging_a_matmul.ipynb`, of the same cells.
#
# The kernels lie in the checkout, so that is where it runs.

# %%
import os
import pathlib

import numpy as np

import grout

here = pathlib.Path.cwd()
os.chdir(next(folder for folder in (here, *here.parents) if (folder / "kernels" / "bugs").is_dir()))

# %% [markdown]
# ## A kernel that works unless something is slow
#
# A matmul of bf16, and one as it would be written first: TMA fills the slot that the tensor core may still be reading.
# Arrays of bf16 come from `ml_dtypes`, from torch, or as their bits, as here.

# %%
def get_bits(numbers):
    """Whole numbers as the bits of bf16."""
    return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


draw = np.random.default_rng(1)
a, b = (get_bits(draw.integers(-2, 3, shape)) for shape in ((256, 512), (512, 256)))
right = grout.load("kernels/matmul_hopper.grout")
early = grout.load("kernels/bugs/matmul_hopper_refill_early.grout")


def multiply(kernel, **options):
    out = np.zeros((256, 256), np.uint16)
    kernel.run(a, b, out, **options)
    return out


# %% [markdown]
# With `timing="eager"` each copy and each wgmma is over as soon as it is issued. With `"lazy"`, the default, each takes
# as long as the rules allow. So a comparison finds the bug with luck.

# %%
wanted = multiply(right)
for timing in ("eager", "lazy"):
    print(timing, "elements that differ:", (multiply(early, timing=timing) != wanted).sum())

# %% [markdown]
# ## What the checker says
#
# The checker asks what is ordered. Its report shows itself, and its parts are data.

# %%
report = early.check()
report.show()

# %%
finding = report.findings[0]
print(finding.code, "at line", finding.place.line, "against line", finding.related.line)
print(finding.repair)

# %% [markdown]
# ## The wait that covers it
#
# `fix` judges each change by the checker. It writes no file; `fix.write()` does.

# %%
fix = early.fix()
print(fix.diff)
print(*fix.steps, sep="\n")
print(fix.outcome)

# %% [markdown]
# The repaired text is a kernel again. It is right under every timing, and computes what the right one does.

# %%
mended = grout.load(fix.text)
mended.check().expect_clean()
print((multiply(mended) == wanted).all())

# %% [markdown]
# That wait leaves the tensor core idle between two steps. `kernels/matmul_hopper.grout` adds none, and refills the slot
# of the step before.

# %%
right.check(K=512).show()

# %% [markdown]
# ## More in flight
#
# `wgmma_wait n` leaves n steps in flight, and the slot of step k - n is the newest that may be refilled.

# %%
grout.load("kernels/bugs/matmul_hopper_wrong_stage.grout").check(DISTANCE=5).show()

# %% [markdown]
# ## Reading the accumulator

# %%
grout.load("kernels/bugs/matmul_hopper_read_early.grout").check().show()

# %% [markdown]
# ## An operand that threads write

# %%
grout.load("kernels/bugs/matmul_hopper_no_commit.grout").check().show()

# %% [markdown]
# ## Two threads
#
# The consumer arrives right after its own wgmma, which that arrive does not wait for.

# %%
report = grout.load("kernels/bugs/matmul_hopper_ws_release_early.grout").check()
report.show()

# %% [markdown]
# `report.html()` is the page of `--html`, with the source and a picture of what lies between the two accesses.

# %%
page = report.html()
print("a picture of it:", "<svg" in page)

# %% [markdown]
# A clean verdict says what its launch did not reach. A sweep looks at several sizes in one report.

# %%
ws = grout.load("kernels/matmul_hopper_ws.grout")
ws.check().show()

# %%
ws.check(K=1024, SMS=1).show()

# %%
ws.check(M=200, N=264, K=328).show()

# %%
sweep = ws.sweep({"K": [256, 328], "SMS": [1, 132]})
sweep.show()

# %%
print([(size.binding, size.verdict) for size in sweep.sizes])

# %% [markdown]
# ## To the GPU
#
# `emit` is the CUDA of the kernel, and what a launch of it needs. `kernel.launch(a, b, c)` compiles and launches it on
# the tensors of torch or JAX where there is a GPU ([gpu.md](gpu.md)).

# %%
emitted = ws.emit(M=1000, N=520, K=776)
print(emitted.manifest["grid"], emitted.manifest["block"], emitted.manifest["dynamic_smem_bytes"])
print("wgmma" in emitted.source)
