"""torch_read.py WORKERS FORMAT FOLDER: the files of FOLDER/train by a bare
torch DataLoader that keeps its workers; samples are dropped in the worker.
Answers with the seconds a sample took. Where this Python has no torch, the
one beside DLIO's program is asked."""

import os
import sys
import time

import _peer


try:
    import h5py
    import numpy
    import torch.utils.data
except ImportError as e:
    _peer.ask_dlios(e)

WORKERS, FORMAT, FOLDER = sys.argv[1:]


def read_npz(name):
    with numpy.load(name) as npz:
        return npz["x"].size


def read_hdf5(name):
    with h5py.File(name, "r") as f:
        return f["records_0"][0].size if "records_0" in f \
            else f["records"][0].size


class Files(torch.utils.data.Dataset):
    def __init__(self):
        self.names = _peer.files(os.path.join(FOLDER, "train"))
        self.read = {"npz": read_npz, "hdf5": read_hdf5}[FORMAT]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        if not self.read(self.names[i]):
            sys.exit("%s is empty" % self.names[i])
        return 0


def make():
    workers = int(WORKERS)
    return torch.utils.data.DataLoader(
        Files(), batch_size=64, num_workers=workers, shuffle=True,
        persistent_workers=workers > 0)


LOADER = make()


def epoch():
    count = 0
    for batch in LOADER:
        count += len(batch)
    if count != len(LOADER.dataset):
        sys.exit("torch gave %d samples" % count)
    return count


def work():
    start = time.perf_counter()
    count = epoch() + epoch()
    return ((time.perf_counter() - start) / count,)


epoch()  # starts the workers, warms everything
_peer.serve(work)
