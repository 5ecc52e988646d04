"""benchy's loaders for PyTorch: what holds a training back, its data or its
computing? Change the loader, run the script:

    from prony.torch import BenchmarkDataLoader as DataLoader

    from prony.torch import BenchmarkGenericIteratorWrapper
    loader = BenchmarkGenericIteratorWrapper(dali_iterator, batch_size)

The constructor measures IO: batches are fetched and dropped. Each loop over
the loader is then one trial of SYNTHETIC, with one batch again and again, and,
when these are done, of FULL. The loop after the last trial says the summary,
writes the result and exits (`exit_after_tests`). Settings are benchy's
(BENCHY_CONFIG_FILE); docs/python.md has them all. No GPU is needed."""

import json
import os
import sys
import time
from datetime import timedelta
from typing import Any, Callable, Iterator, List, Optional, Tuple, TypeVar

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader

from .again import goes_on
from .session import Session, refuse_output, settled, tell

__all__ = ["BenchmarkDataLoader", "BenchmarkGenericIteratorWrapper"]

T = TypeVar("T")


# ---- ranks

def ranks() -> Tuple[int, int]:
    """This process's rank and their number; (0, 1) alone."""
    if dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    return 0, 1


class RankSums:
    """What ranks measured, summed by rank 0 when it ends a trial.

    Values go by the store that the process group was made with, not by
    collective calls: these would mix with the script's own, and a rank that
    left its loop early would keep the others waiting."""

    _made = 0

    def __init__(self) -> None:
        RankSums._made += 1
        self.key = "prony/%d" % RankSums._made
        self.trial = 0
        self.store = self._store()

    @staticmethod
    def _store() -> Any:
        try:
            from torch.distributed.distributed_c10d import _get_default_store
            return _get_default_store()
        except Exception:  # a backend without one
            return None

    def __call__(self, values: List[float],
                 whole: bool) -> Optional[List[float]]:
        """The sums on rank 0; None on others, and where some are not to be
        had: then all are taken to be like this one."""
        self.trial += 1
        try:
            if self.store is None:
                raise RuntimeError("its process group has no store")
            if dist.get_rank() > 0:
                self.store.set(self._name(dist.get_rank()),
                               json.dumps(values if whole else None))
                return None
            return self._collect(values) if whole else None
        except Exception as e:
            if self.store is not None or self.trial == 1:
                tell("rates are rank 0's times the number of ranks: %s" % e)
            self.store = None
            return None

    def _name(self, rank: int) -> str:
        return "%s/%d/%d" % (self.key, self.trial, rank)

    def _collect(self, values: List[float]) -> Optional[List[float]]:
        # The last value is the time the trial took here.
        patience = timedelta(seconds=60 + 10 * values[-1])
        sums = values
        for rank in range(1, dist.get_world_size()):
            name = self._name(rank)
            self.store.wait([name], patience)
            others = json.loads(self.store.get(name))
            sums = [a + b for a, b in zip(sums, others or values)]
        return sums


# ---- devices

def device_sync() -> Optional[Callable[[], Any]]:
    """What waits for the device that this process computes on; None: it
    computes on the processor."""
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        return torch.cuda.synchronize
    for name in ("xpu", "mps"):
        module = getattr(torch, name, None)
        if (hasattr(module, "synchronize") and hasattr(module, "is_available")
                and module.is_available()):
            return module.synchronize
    return None


def _barrier() -> None:
    sync = device_sync()
    if sync is not None:
        sync()
    dist.barrier()


def _settle(it: Any) -> None:
    """Workers of a loader with persistent_workers live on and read ahead, into
    the time of a trial that needs no data. Waits until their queue is full;
    other workers end with the iterator."""
    if not getattr(it, "_persistent_workers", False):
        return
    queue = getattr(it, "_data_queue", None)
    until = time.monotonic() + 60
    try:
        while (queue.qsize() < it._tasks_outstanding
               and time.monotonic() < until):
            time.sleep(.002)
    except (AttributeError, NotImplementedError):
        time.sleep(.1)


# ---- what both loaders do

def _refuse_going_on(loader: Any, source: Callable[[], Iterator[Any]]) -> None:
    """What hands out new iterators over one file or queue. Iterators of
    classes (DALI's) begin anew after their end."""
    if not hasattr(loader, "__next__") and goes_on(loader, source, True):
        raise ValueError(
            "%s does not begin anew each time, and measuring IO would use its "
            "batches up: give what does, prony.wrap(it), which measures FULL "
            "alone, or switch IO off (run_benchmark)" % type(loader).__name__)


class _Bench:
    """A session, driven as benchy drives it: IO at once, then a trial a
    loop."""

    def __init__(self, loader: Any, source: Callable[[], Iterator[Any]],
                 batch_size: Optional[int], first: Optional[int]) -> None:
        rank, count = ranks()
        self.source = source
        settings = settled(None)
        if rank == 0:
            refuse_output(settings)
        if settings["IO"]["run_benchmark"]:
            _refuse_going_on(loader, source)
        self.session = Session(batch_size, first=first, rank=rank, ranks=count,
                               sum=RankSums() if count > 1 else None,
                               config=settings)
        self.session.run_io(source, self.sync())
        if self.session.used_up():
            raise ValueError(
                "what was given ends for good after %d batches, which "
                "measuring IO used up: give what can be begun again, or "
                "switch IO off (run_benchmark)" % self.session.given)

    def sync(self) -> Optional[Callable[[], Any]]:
        world = self.session.config["global"]
        if world["use_distributed_barrier"] and self.session.ranks > 1:
            return _barrier
        return device_sync()

    def loop(self) -> Iterator[Any]:
        """The iterator for the script's next loop."""
        session = self.session
        phase = session.phase()
        if phase is not None:
            return session.trial(phase, self.source, sync=self.sync(),
                                 settle=_settle)
        if not session.finished and session.pid == os.getpid():
            self.end()
        return self.source()

    def end(self) -> None:
        session = self.session
        session.finish()
        if session.config["global"]["exit_after_tests"]:
            session.probe.say("exit")
            sys.exit()


class _Measured:
    """What a loader that measures has besides: `results`, benchy's JSON of
    what was measured so far, and `verdict`, what holds the loop back."""

    _bench: _Bench

    def __iter__(self) -> Iterator[Any]:
        return self._bench.loop()

    @property
    def results(self) -> dict:
        return self._bench.session.results

    @property
    def verdict(self) -> dict:
        return self._bench.session.verdict


def _first(loader: DataLoader) -> Optional[int]:
    """Samples in the first batch: less than batch_size where the data set
    has less."""
    if loader.batch_size is None:
        return None
    try:
        return min(loader.batch_size, len(loader.sampler)) or None
    except (TypeError, NotImplementedError):
        return loader.batch_size


class BenchmarkDataLoader(_Measured, DataLoader):
    """A `torch.utils.data.DataLoader`, with its arguments, that measures."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._bench = _Bench(self, super(_Measured, self).__iter__,
                             self.batch_size, _first(self))


def _refuse_once(iterator: Any) -> None:
    """Generators and iterators that Python has built in. Those of classes may
    begin anew, and whether they do shows."""
    if hasattr(iterator, "__next__") and not (
            type(iterator).__flags__ & _HEAP_TYPE):
        raise TypeError(
            "a %s can be gone through once, and measuring IO would use it up: "
            "give what it was made from, or prony.wrap(it), which measures "
            "FULL alone" % type(iterator).__name__)


_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by a class statement


class BenchmarkGenericIteratorWrapper(_Measured):
    """Any iterable of batches, measured; DALI's iterators for example. What
    else the iterable has can be reached through it."""

    def __init__(self, iterator: Any, batch_size: Optional[int]) -> None:
        _refuse_once(iterator)
        self.iterator = iterator
        self.batch_size = batch_size
        self._bench = _Bench(iterator, lambda: iter(iterator), batch_size, None)

    def __len__(self) -> int:
        return len(self.iterator)

    def __getattr__(self, name: str) -> Any:
        if name in ("iterator", "_bench") or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.iterator, name)
