"""Use a gateway from pages in headless Chromium.

Installs Chromium if it is missing, which takes about 350 MB, builds the tests, and runs those that open pages in it: a page of a listed
origin sends a query, uploads a file, and subscribes with EventSource and WebSocket; a page of another origin cannot.
"""

import os
import subprocess

from rig import PEERS, ROOT, Rig, install, swift_build


def add_options(parser):
    pass


def run(rig: Rig):
    install("chromium")
    for product in "carabiner", "carabinerPackageTests":
        swift_build("--product", product)
    subprocess.run(
        ["swift", "test", "--skip-build", "--filter", "BrowserTests"], cwd=ROOT, check=True,
        env={**os.environ, "CARABINER_TEST_PYTHON": str(PEERS)})
