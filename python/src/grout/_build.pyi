# SPDX-License-Identifier: Apache-2.0
"""What setup.py writes: by what the package knows the library again."""
ABI_VERSION: int
TABLES: int
