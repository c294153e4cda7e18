"""Simulate roll-outs to up to 10,000 nodes in virtual time.

The options are those of the program SimulateFleet, which is built first.
"""

import os

from rig import release


def main(arguments):
    program = release("SimulateFleet")
    os.execv(program, [program, *arguments])
