# SPDX-License-Identifier: Apache-2.0
"""A loop of PTX without an end, run from Python: Ctrl-C ends it."""
import grout.ptx

ENDLESS = ".version 8.0\n.target sm_90a\n.address_size 64\n.entry k() { again: bra again; }"

grout.ptx.load(ENDLESS).run()
print("finished")
