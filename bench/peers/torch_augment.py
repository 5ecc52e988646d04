"""torch_augment.py PICTURES ROWS COLUMNS: random crop, antialiased bilinear
resizing to 224 x 224, flip and normalisation of decoded pictures by PyTorch's
operations on one thread, as torchvision's transforms call them."""

import math
import random
import sys

import _peer

try:
    import torch
    import torch.nn.functional
except ImportError as e:
    _peer.ask_dlios(e)

PICTURES, ROWS, COLUMNS = map(int, sys.argv[1:])
SIDE = 224

torch.set_num_threads(1)
PICTURE = torch.randint(0, 256, (ROWS, COLUMNS, 3), dtype=torch.uint8)
MEAN = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
DEVIATION = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)


def crop():
    for _ in range(10):
        area = ROWS * COLUMNS * random.uniform(0.08, 1)
        ratio = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        columns = round(math.sqrt(area * ratio))
        rows = round(math.sqrt(area / ratio))
        if 0 < columns <= COLUMNS and 0 < rows <= ROWS:
            return (random.randint(0, ROWS - rows),
                    random.randint(0, COLUMNS - columns), rows, columns)
    return 0, 0, ROWS, COLUMNS


def augment():
    top, left, rows, columns = crop()
    x = PICTURE.permute(2, 0, 1)[None, :, top:top + rows, left:left + columns]
    x = torch.nn.functional.interpolate(x, (SIDE, SIDE), mode="bilinear",
                                        antialias=True)[0]
    if random.random() < 0.5:
        x = x.flip(-1)
    return x.float().div_(255).sub_(MEAN).div_(DEVIATION).contiguous()


def pictures():
    for _ in range(PICTURES):
        augment()


_peer.serve(pictures)
