"""Batches: noise that is made once, tensors of a file, or images of a data
set, decoded by other processes."""

import os
import time

import torch

from ..results import BAD_FILE, BAD_PARAMS, UNAVAILABLE, Refusal

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Fixed:
    """The same batch every time, where it is computed with."""

    is_placed = True
    wait_s = 0.0

    def __init__(self, x, labels):
        self.batch = x, labels

    def next(self):
        return self.batch


def noise(shape, classes, generator):
    x = torch.randn(shape, generator=generator)
    return x, torch.randint(classes, shape[:1], generator=generator)


def from_arrays(arrays, shape, classes):
    """`input` and `labels` of a file."""
    x = torch.from_numpy(arrays["input"].copy()).float()
    labels = (torch.from_numpy(arrays["labels"].astype("int64"))
              if "labels" in arrays else torch.zeros(shape[0]).long())
    if list(x.shape) != list(shape) or list(labels.shape) != list(shape[:1]):
        raise Refusal(BAD_FILE, "input is %s and labels %s, a batch has %s" % (
            list(x.shape), list(labels.shape), list(shape)))
    if labels.numel() and not 0 <= labels.min() <= labels.max() < classes:
        raise Refusal(BAD_FILE, "labels must be below %d" % classes)
    return x, labels


# ------------------------------------------------------------------- images


def _libraries():
    try:
        import numpy
        from PIL import Image
        return numpy, Image
    except ImportError as e:
        raise Refusal(UNAVAILABLE, "images need numpy and Pillow: %s; "
                      "install them for this Python, or leave dataset.* and "
                      "exp.data_dir out" % e) from e


def is_real(params):
    """Whether a data set is to be read, by the rule of the native engine."""
    return bool(params["exp.data_dir"] or params["exp.data"] == "real"
                or params["dataset.data_folder"] != "./data/"
                or params["workflow.generate_data"])


def find_images(params, split, classes):
    """Paths of the images of a split, and their labels."""
    kind = params["dataset.format"]
    top = os.path.join(params["storage.storage_root"], params["exp.data_dir"]
                       or params["dataset.data_folder"])
    if kind not in ("jpeg", "jpg", "png"):
        raise Refusal(UNAVAILABLE, "the PyTorch back-end reads images (jpeg, "
                      "png), not dataset.format=%s" % kind)
    folder = os.path.join(top, split)
    files = sorted(
        os.path.join(where, n) for where, _, names in os.walk(folder)
        for n in names if n.lower().endswith((".jpeg", ".jpg", ".png")))
    if not files:
        raise Refusal(BAD_FILE, "%s: no images in there; `prony generate` "
                      "makes some" % folder)
    return files, _labels(files, folder, os.path.join(top, "labels", split),
                          classes)


def _labels(files, folder, labels, classes):
    """From a file of labels for each, else by folder, else any."""
    names = sorted({os.path.dirname(f) for f in files})
    if os.path.isdir(labels):
        numpy, _ = _libraries()
        found = [int(numpy.load(os.path.join(
            labels, os.path.relpath(f, folder)) + ".npy").flat[0])
            for f in files]
    elif len(names) > 1:
        number = {name: i for i, name in enumerate(names)}
        found = [number[os.path.dirname(f)] for f in files]
    else:
        found = [i % classes for i in range(len(files))]
    for f, label in zip(files, found):
        if not 0 <= label < classes:
            raise Refusal(BAD_PARAMS, "%s: labelled %d, the model knows 0 to "
                          "%d" % (f, label, classes - 1))
    return found


class Images(torch.utils.data.Dataset):
    """Decoded, cropped, flipped and normalised as ImageNet training does."""

    def __init__(self, found, shape, augment):
        self.numpy, self.image = _libraries()
        self.files, self.labels = found
        self.shape, self.augment = shape, augment

    def __len__(self):
        return len(self.files)

    def _crop(self, image):
        """A part of 8 % to 100 % at random, or the middle."""
        width, height = image.size
        rows, columns = self.shape[1:]
        if self.augment:
            draw = torch.rand(5).tolist()
            area = (.08 + .92 * draw[0]) * width * height
            ratio = (3 / 4) ** (1 - 2 * draw[1])
            w = min(width, max(1, round((area * ratio) ** .5)))
            h = min(height, max(1, round((area / ratio) ** .5)))
            left = int(draw[2] * (width - w + 1))
            top = int(draw[3] * (height - h + 1))
            flip = draw[4] < .5
        else:
            fits = image.size == (columns, rows)
            scale = (1 if fits else .875) * min(width / columns, height / rows)
            w, h = columns * scale, rows * scale
            left, top, flip = (width - w) / 2, (height - h) / 2, False
        image = image.resize((columns, rows), self.image.BILINEAR,
                             box=(left, top, left + w, top + h))
        return (image.transpose(self.image.FLIP_LEFT_RIGHT) if flip
                else image)

    def __getitem__(self, i):
        channels = self.shape[0]
        with self.image.open(self.files[i]) as image:
            image = self._crop(image.convert("RGB" if channels == 3 else "L"))
        x = self.numpy.asarray(image, dtype="float32") / 255
        if channels == 3:
            x = (x - self.numpy.float32(MEAN)) / self.numpy.float32(STD)
            x = x.transpose(2, 0, 1)
        else:
            x = ((x - .5) / .5)[None]
        return (torch.from_numpy(self.numpy.ascontiguousarray(x)),
                self.labels[i])


class Loader:
    """Epoch after epoch of a data set; says how long it was waited for."""

    is_placed = False

    def __init__(self, params, spec, batch, split, workers):
        shape = spec["input"]
        if len(shape) != 3 or shape[0] not in (1, 3):
            raise Refusal(BAD_PARAMS, "model '%s' takes no images"
                          % spec["name"])
        training = split == "train" and params["exp.phase"] == "training"
        data = Images(find_images(params, split, spec["classes"]), shape,
                      training and params["nn.augment"])
        if len(data) < batch:
            raise Refusal(BAD_PARAMS, "%d images are less than a batch of %d"
                          % (len(data), batch))
        self.loader = torch.utils.data.DataLoader(
            data, batch, shuffle=training, num_workers=workers,
            drop_last=True, persistent_workers=workers > 0)
        self.rest = iter(())
        self.wait_s = 0.0

    def next(self):
        start = time.perf_counter()
        batch = next(self.rest, None)
        if batch is None:
            self.rest = iter(self.loader)
            batch = next(self.rest)
        self.wait_s += time.perf_counter() - start
        return batch
