"""pandas_read.py ENGINE FILE: a csv file of uint8, by pandas.read_csv."""

import sys

import _peer

try:
    import numpy
    import pandas
    if sys.argv[1] == "pyarrow":
        import pyarrow  # noqa: F401
except ImportError as e:
    _peer.cannot(e)

ENGINE, FILE = sys.argv[1:]


def work():
    # to_numpy: a sample is a row, and pandas keeps columns.
    frame = pandas.read_csv(FILE, engine=ENGINE, dtype=numpy.uint8,
                            header=None)
    if not frame.to_numpy().size:
        sys.exit("%s is empty" % FILE)


_peer.serve(work)
