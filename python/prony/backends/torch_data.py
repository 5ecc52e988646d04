"""Batches, maps of the names of inputs to tensors: noise that is made once,
tensors of a file, or images of a data set, decoded by other processes."""

import os
import time

import torch

from ..results import BAD_FILE, BAD_PARAMS, UNAVAILABLE, Refusal

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Cycle:
    """The same batches again and again, where they are computed with."""

    is_placed = True
    wait_s = 0.0

    def __init__(self, batches):
        self.batches, self.at = batches, 0

    def next(self):
        batch = self.batches[self.at]
        self.at = (self.at + 1) % len(self.batches)
        return batch


# -------------------------------------------------------------------- noise


def _begin_at_1(spec):
    """Inputs of ids that are never 0: lengths, and what ctc spells."""
    found = {l["inputs"][-1] for l in spec["layers"] if l.get("lengths")}
    for loss in spec["losses"]:
        if loss["kind"] == "ctc":
            found.update([loss["lengths"], *loss["target"]])
    return found


def noise(spec, batch, generator):
    """Normal floats, ids all alike."""
    first, found = _begin_at_1(spec), {}
    for feed in spec["inputs"]:
        shape = [batch] + feed["shape"]
        if feed.get("ids"):
            found[feed["name"]] = torch.randint(
                int(feed["name"] in first), feed["ids"], shape,
                generator=generator)
        else:
            found[feed["name"]] = torch.randn(shape, generator=generator)
    return found


# -------------------------------------------------------------------- files


def _from_array(feed, array, batch):
    shape = [batch] + feed["shape"]
    if list(array.shape) != shape and (
            list(array.shape) != shape[:1] or shape[1:] != [1]):
        raise Refusal(BAD_FILE, "%s is %s, a batch has %s" % (
            feed["name"], list(array.shape), shape))
    if not feed.get("ids"):
        return torch.from_numpy(array.astype("float32")).view(shape)
    ids = torch.from_numpy(array.astype("int64")).view(shape)
    if ids.numel() and not 0 <= ids.min() <= ids.max() < feed["ids"]:
        raise Refusal(BAD_FILE, "%s must be below %d" % (feed["name"],
                                                         feed["ids"]))
    return ids


def from_arrays(feeds, arrays, batch, name="%s"):
    """The batch of arrays that are called as the inputs."""
    return {f["name"]: _from_array(f, arrays[name % f["name"]], batch)
            for f in feeds}


def from_batches(feeds, arrays, batch, path):
    """All batches of a file: tensors INPUT.NUMBER."""
    found = []
    while all("%s.%d" % (f["name"], len(found)) in arrays for f in feeds):
        found.append(from_arrays(feeds, arrays, batch,
                                 "%%s.%d" % len(found)))
    if not found:
        raise Refusal(BAD_FILE, "%s: no batches of %s in there" % (
            path, ", ".join(f["name"] for f in feeds)))
    return found


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
        try:
            with self.image.open(self.files[i]) as image:
                image = self._crop(
                    image.convert("RGB" if channels == 3 else "L"))
        except (OSError, SyntaxError, ValueError) as error:
            return "%s: this image cannot be read: %s" % (self.files[i], error)
        x = self.numpy.asarray(image, dtype="float32") / 255
        if channels == 3:
            x = (x - self.numpy.float32(MEAN)) / self.numpy.float32(STD)
            x = x.transpose(2, 0, 1)
        else:
            x = ((x - .5) / .5)[None]
        return (torch.from_numpy(self.numpy.ascontiguousarray(x)),
                self.labels[i])


def gather(samples):
    """A batch; or words about the first that could not be read: an exception
    would come out of a worker as its traceback."""
    bad = [sample for sample in samples if isinstance(sample, str)]
    return bad[0] if bad else torch.utils.data.default_collate(samples)


class Loader:
    """Epoch after epoch of a data set; says how long it was waited for."""

    is_placed = False

    def __init__(self, params, spec, batch, split, workers):
        shape = spec["inputs"][0]["shape"]
        names = [feed["name"] for feed in spec["inputs"]]
        if (names != ["input", "labels"] or len(shape) != 3
                or shape[0] not in (1, 3)):
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
            drop_last=True, persistent_workers=workers > 0,
            collate_fn=gather)
        self.rest = iter(())
        self.wait_s = 0.0

    def next(self):
        start = time.perf_counter()
        batch = next(self.rest, None)
        if batch is None:
            self.rest = iter(self.loader)
            batch = next(self.rest)
        self.wait_s += time.perf_counter() - start
        if isinstance(batch, str):
            raise Refusal(BAD_FILE, batch)
        return {"input": batch[0], "labels": batch[1].unsqueeze(1)}
