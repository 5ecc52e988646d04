"""numpy_read.py FOLDER: every npz file of a folder, by numpy.load."""

import sys

import _peer

try:
    import numpy
except ImportError as e:
    _peer.cannot(e)

FILES = _peer.files(sys.argv[1])


def work():
    for name in FILES:
        with numpy.load(name) as npz:
            if not npz["x"].size:
                sys.exit("%s is empty" % name)


_peer.serve(work)
