"""`prony.Loader`: the native loader. Threads in C read, decode and augment;
Python gets finished batches where they were decoded to, without a copy."""

import os
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple

import _prony


def _numpy() -> Callable[[Any], Any]:
    try:
        import numpy
    except ModuleNotFoundError as e:
        raise ImportError("output=\"numpy\" needs numpy: `pip install numpy`, "
                          "or take output=\"array\"") from e
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

    A loop that is begun while another one goes on (nested, in another thread)
    has threads of its own. One iterator belongs to one thread at a time.

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
        self._fresh = True  # the next batch is the first of an epoch
        self._turn = [True]  # the loop that uses it has taken this out
        self._others: "set[_prony.Loader]" = set()
        self._closed = False

    def _open(self) -> "_prony.Loader":
        self._pid = os.getpid()
        return _prony.Loader(seed=self._seed + self._restarts, **self._given)

    def _own(self) -> "_prony.Loader":
        """The threads, at the start of an epoch. A loop that was left early
        left the rest of its epoch behind: reading begins anew. So it does in a
        forked process, where the threads are not."""
        if not self._fresh or self._pid != os.getpid():
            self._native.close()
            self._restarts += not self._fresh
            self._native = self._open()
        self._fresh = False
        return self._native

    def _another(self) -> "_prony.Loader":
        """For a loop that is begun while another one goes on."""
        self._restarts += 1
        native = self._open()
        self._others.add(native)
        return native

    def _take(self) -> bool:
        """Whether a loop may use what was opened first. Of a forked process's
        parent no loop goes on here."""
        if self._closed:
            raise RuntimeError("the loader is closed")
        try:
            return self._turn.pop()
        except IndexError:
            return self._pid != os.getpid()

    def _give_back(self, native: "Optional[_prony.Loader]", first: bool,
                   whole: bool) -> None:
        if first:
            self._fresh = whole
            self._turn.append(True)
        elif native is not None:
            self._others.discard(native)
            native.close()

    def _made(self, data: Any, labels: Any) -> Any:
        if labels is None:
            return self._make(data)
        labels = self._make(labels)
        return self._make(data), labels

    def __iter__(self) -> Iterator[Any]:
        first, whole, native = self._take(), False, None
        pid = os.getpid()
        try:
            native = self._own() if first else self._another()
            while True:
                batch = native.next()
                if batch is None:
                    whole = True
                    return
                made = self._made(*batch)
                del batch
                yield made
                del made
        finally:
            if pid == os.getpid():  # a fork's copy of a loop has no turn
                self._give_back(native, first, whole)

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
        self._closed = True
        for native in [self._native, *self._others]:
            native.close()

    def __enter__(self) -> "Loader":
        return self

    def __exit__(self, *why: Any) -> None:
        self.close()
