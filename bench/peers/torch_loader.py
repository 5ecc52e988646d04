"""torch_loader.py WORKERS BATCH FOLDER: JPEG files of FOLDER by torch's
DataLoader with Pillow, as training wants them (prony's PyTorch back-end has
the same): decoded, cropped at random, resized to 224 x 224, flipped,
normalised. Answers with the seconds an image took."""

import os
import sys
import time

import _peer

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "python"))
try:
    import torch.utils.data
    import PIL.Image  # noqa: F401
    from prony.backends.torch_data import Images
except ImportError as e:
    _peer.ask_dlios(e)

WORKERS, BATCH, FOLDER = sys.argv[1:]
EPOCHS = 2

torch.set_num_threads(1)  # as the workers do it
FILES = _peer.files(FOLDER)
LOADER = torch.utils.data.DataLoader(
    Images((FILES, [0] * len(FILES)), [3, 224, 224], True), int(BATCH),
    shuffle=True, num_workers=int(WORKERS), drop_last=True,
    persistent_workers=True)


def epoch():
    return sum(len(labels) for _, labels in LOADER)


def work():
    start = time.perf_counter()
    count = sum(epoch() for _ in range(EPOCHS))
    return ((time.perf_counter() - start) / count,)


epoch()  # starts the workers, warms everything
_peer.serve(work)
