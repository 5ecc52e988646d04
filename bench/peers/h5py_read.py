"""h5py_read.py each|once FOLDER: every sample of every HDF5 file of a folder,
the file opened once, then one sample after another. The data set is looked up
for each sample, as DLIO does, or once a file."""

import sys

import _peer

try:
    import h5py
except ImportError as e:
    _peer.cannot(e)

MODE, FOLDER = sys.argv[1:]
FILES = _peer.files(FOLDER)
NAME = "records_0"


def each(f):
    for i in range(len(f[NAME])):
        yield f[NAME][i]


def once(f):
    records = f[NAME]
    for i in range(len(records)):
        yield records[i]


def work():
    for name in FILES:
        with h5py.File(name, "r") as f:
            for sample in (each if MODE == "each" else once)(f):
                if not sample.size:
                    sys.exit("%s has an empty sample" % name)


_peer.serve(work)
