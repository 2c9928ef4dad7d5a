# SPDX-License-Identifier: GPL-3.0-or-later
"""What the package raises."""


class PodbenchError(Exception):
    """The program refuses: a recipe that is not there, a value that is not possible, a file that cannot be read."""


PodbenchError.__module__ = "podbench"
