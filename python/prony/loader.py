"""`prony.Loader`: the native loader. Threads in C read, decode and augment;
Python gets finished batches where they were decoded to, without a copy."""

import os
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple

import _prony


def _numpy() -> Callable[[Any], Any]:
    import numpy
    return numpy.asarray


def _torch() -> Callable[[Any], Any]:
    import torch

    def tensor(array: Any) -> Any:
        try:
            return torch.from_dlpack(array)
        except (RuntimeError, TypeError, BufferError):
            pass
        # A type that DLPack's reader of this PyTorch does not know.
        import numpy
        plain = numpy.asarray(array)
        try:
            return torch.from_numpy(plain)
        except TypeError:
            raise TypeError(
                "PyTorch %s has no type for %s: take output=\"numpy\", or a "
                "newer PyTorch" % (torch.__version__, plain.dtype)) from None

    return tensor


_KINDS: Dict[str, Callable[[], Callable[[Any], Any]]] = {
    "numpy": _numpy,
    "torch": _torch,
    "array": lambda: lambda array: array,
}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


class Loader:
    """Batches from a folder of files; a loop over it is an epoch.

    path        PATH/train/CLASS/FILE, PATH/CLASS/FILE or PATH/FILE; also what
                `prony generate` makes
    batch_size  samples in a batch
    shape       (channels, rows, columns): pictures are resized to it and
                normalised; (numbers,): so many float32 numbers; None: samples
                as they are in the files, all of one shape and type
    split       the folder in PATH, "train" for example; None: train if there
                is one
    format      jpeg, png, npz, npy, hdf5, tfrecord, csv …; None: by the names
                of the files
    augment     random crops and flips; else the middle of a picture
    shuffle     samples in another order each epoch
    seed        of orders and crops: the same seed, the same batches
    threads     that read and decode; 0: as many as there are processors
    drop_last   leave out what does not fill a batch at the end of an epoch;
                else the last batch is smaller
    prefetch    batches made ahead; 0: 2
    output      "numpy", "torch", or "array": an object with
                __array_interface__ and __dlpack__, for any framework
    params      more, as `prony run -P` takes them: {"reader.on_error": "skip"}

    A batch is (data, labels), or data alone where files have no labels. Its
    memory is used again when the last array that looks at it is gone: a loop
    that keeps all its batches takes memory for all of them.

    Threads do not survive a fork: a loop in a forked process starts its own,
    from the first sample."""

    def __init__(self, path: "str | os.PathLike[str]", batch_size: int = 1,
                 shape: Optional[Tuple[int, ...]] = None, *,
                 split: Optional[str] = None, format: Optional[str] = None,
                 augment: bool = False, shuffle: bool = False, seed: int = 1,
                 drop_last: bool = False, threads: int = 0, prefetch: int = 0,
                 output: str = "numpy",
                 params: Optional[Mapping[str, Any]] = None) -> None:
        if output not in _KINDS:
            raise ValueError("output must be one of %s, not %r"
                             % (", ".join(_KINDS), output))
        if batch_size < 1:
            raise ValueError("batch_size must be at least 1, not %r"
                             % batch_size)
        self.batch_size = batch_size
        self._make = _KINDS[output]()
        self._seed, self._restarts = seed, 0
        self._given: Dict[str, Any] = {
            "path": path, "split": split, "format": format,
            "batch_size": batch_size, "shape": tuple(shape or ()),
            "augment": augment, "shuffle": shuffle, "epochs": 0,
            "threads": threads, "prefetch": prefetch, "drop_last": drop_last,
            "params": tuple(os.fsencode("%s=%s" % (k, _text(v)))
                            for k, v in (params or {}).items())}
        self._native = self._open()
        self._facts = self._native.facts()
        self._under_way = False

    def _open(self) -> "_prony.Loader":
        self._pid = os.getpid()
        return _prony.Loader(seed=self._seed + self._restarts, **self._given)

    def _epoch(self) -> "_prony.Loader":
        """The threads, at the start of an epoch. A loop that was left early
        left the rest of its epoch behind: reading begins anew. So it does in a
        forked process, where the threads are not."""
        if self._under_way or self._pid != os.getpid():
            self._native.close()
            self._restarts += self._under_way
            self._native = self._open()
        return self._native

    def __iter__(self) -> Iterator[Any]:
        native = self._epoch()
        while True:
            self._under_way = True
            batch = native.next()
            if batch is None:
                self._under_way = False
                return
            data, labels = batch
            del batch
            if labels is None:
                yield self._make(data)
            else:
                labels = self._make(labels)
                data = self._make(data)
                yield data, labels
            del data, labels

    def __len__(self) -> int:
        """Batches in an epoch."""
        return self._facts["batches"]

    def facts(self) -> Dict[str, Any]:
        """samples, batches, files, classes, threads, format, and what was read
        so far: read_samples, read_bytes, failed, buffer_bytes."""
        return self._native.facts()

    @property
    def classes(self) -> List[str]:
        """Names of the classes: a label is an index into it."""
        return self._native.classes()

    def close(self) -> None:
        """Ends the threads. Batches that were given out stay."""
        self._native.close()

    def __enter__(self) -> "Loader":
        return self

    def __exit__(self, *why: Any) -> None:
        self.close()
