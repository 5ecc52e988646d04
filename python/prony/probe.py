"""`prony.wrap`: any loop over batches, measured. Needs no framework."""

import sys
from typing import (Any, Callable, Dict, Generic, Iterable, Iterator, Optional,
                    TypeVar, Union)

import _prony

from .again import Rest, goes_on
from .session import (Config, Session, Settings, Sum, _print, _warn,
                      check_size, refuse_output, settled, tell)

T = TypeVar("T")
Loader = Union[Iterable[T], Callable[[], Iterable[T]]]


def _ranks() -> "tuple[int, int]":
    """Of torch.distributed, if the script has initialised it."""
    torch = sys.modules.get("torch")
    if torch is None:
        return 0, 1
    from .torch import ranks
    return ranks()


def _summing(count: int) -> Optional[Sum]:
    if count < 2:
        return None
    from .torch import RankSums
    return RankSums()


# ---- what can be gone through once only

ONCE = ("%s can be gone through once: FULL alone is measured, each batch "
        "comes once. For IO and SYNTHETIC wrap what it was made from, or a "
        "function that makes it")
GOES_ON = ("%s does not begin anew each time, as far as can be told: FULL "
           "alone is measured, each batch comes once. For IO and SYNTHETIC "
           "wrap a function that makes it and what it reads from")


def _once(loader: Any) -> bool:
    """An iterator. One with `reset` (DALI's) begins anew after its end."""
    return hasattr(loader, "__next__") and not hasattr(loader, "reset")


def _made(loader: Any) -> bool:
    return callable(loader) and not hasattr(loader, "__iter__")


def _iterator(loader: Any) -> Iterator[Any]:
    return iter(loader() if _made(loader) else loader)


def _check(loader: Any, batch_size: Optional[int], **functions: Any) -> None:
    if not (hasattr(loader, "__iter__") or hasattr(loader, "__getitem__")
            or callable(loader)):
        raise TypeError("%r object is not iterable" % type(loader).__name__)
    for name, function in functions.items():
        if function is not None and not callable(function):
            raise TypeError("%s must be a function, not %r" % (name, function))
    check_size(batch_size)


# ---- the loop

class Wrapped(Generic[T]):
    """What `wrap` gives. The first loop over it gets the batches of all
    trials, one after another; later loops, and those within it, are over the
    loader as it is. Other attributes are the loader's."""

    def __init__(self, loader: "Loader[T]", batch_size: Optional[int],
                 settings: Settings, sync: Optional[Callable[[], Any]],
                 write: Optional[Callable[[str], Any]]) -> None:
        self.loader = loader
        if batch_size is not None:  # else the loader's, if it has one
            self.batch_size = batch_size
        self._size = batch_size
        self.session: Optional[Session] = None
        self._settings, self._sync, self._write = settings, sync, write
        self._turn = [True]  # the loop that is measured has taken it out
        self._once = False
        self._rest: Optional[Rest] = None  # of what goes on
        if _once(loader):
            self._only_full(ONCE)

    def _only_full(self, why: str) -> None:
        self._once = True
        self._settings["IO"]["run_benchmark"] = False
        self._settings["synthetic"]["run_benchmark"] = False
        tell(why % type(self.loader).__name__)

    def _begin(self) -> Session:
        if not self._once:
            self._rest = goes_on(self.loader, self._source,
                                 _made(self.loader))
            if self._rest is not None:
                self._only_full(GOES_ON)
        rank, ranks = _ranks()
        return Session(self._size, rank=rank, ranks=ranks,
                       sum=_summing(ranks), config=self._settings,
                       write=self._write)

    def _source(self) -> Iterator[T]:
        return self._rest or _iterator(self.loader)

    def _trials(self, session: Session) -> Iterator[Iterator[T]]:
        session.run_io(self._source, self._sync)
        phase = session.phase()
        while phase is not None:
            trial = session.trial(phase, self._source, sync=self._sync)
            yield trial
            session.count(trial)
            phase = session.phase()
        session.finish()
        if self._once or session.probe.stopped:
            yield self._source()

    def _loop(self) -> Iterator[Iterator[T]]:
        """What a loop goes through: iterators, one after another."""
        try:
            self._turn.pop()
        except IndexError:  # one that is measured goes on
            yield self._source()
            return
        try:
            if self.session is None:
                self.session = self._begin()
        except Exception as e:
            _warn("begin", e)
            yield self._source()
        else:
            yield from self._trials(self.session)
        finally:
            self._turn.append(True)

    def __iter__(self) -> Iterator[T]:
        session = self.session
        if self._rest is not None and self._rest.ended:
            self._rest = None
        if session is not None and session.phase() is None:
            session.finish()
            return self._source()
        return _prony.Loop(self._loop())

    def __len__(self) -> int:
        return len(self.loader)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "loader":
            raise AttributeError(name)
        return getattr(self.loader, name)

    @property
    def results(self) -> Dict[str, Any]:
        """benchy's result so far; {} before the first loop."""
        return self.session.results if self.session else {}

    @property
    def numbers(self) -> Dict[str, Dict[str, Any]]:
        """Figures of each phase; {} before the first loop."""
        return self.session.numbers if self.session else {}

    @property
    def verdict(self) -> Dict[str, Any]:
        """What holds the loop back; {} before the first loop."""
        return self.session.verdict if self.session else {}


def wrap(loader: "Loader[T]", batch_size: Optional[int] = None, *,
         config: Config = None, sync: Optional[Callable[[], Any]] = None,
         quiet: bool = False,
         write: Optional[Callable[[str], Any]] = _print) -> Wrapped[T]:
    """Measures the loop over a loader: alone (IO), with one batch again and
    again (SYNTHETIC), and as it is (FULL).

    loader      anything to iterate over, as often as one likes, or a function
                that makes it; one that ends is begun again. Of an iterator,
                which gives its batches once, FULL alone is measured
    batch_size  samples in a batch; None: told from the batches
    config      a file of benchy's, or {section: {key: value}} over the one
                that BENCHY_CONFIG_FILE names; None: that one, or the defaults
    sync        called before each look at the clock; what computes in the
                background (a GPU, JAX) must be waited for there
    quiet       no lines on stdout
    write       takes these lines

    The first loop over the result gets the batches of all trials, one after
    another: by default 4 x 51 of one batch, then 4 x 50 as they come. A loop
    that is left early counts as far as it came. Then the summary is said, the
    result written (benchy_result.json) and the loop ends; later loops are over
    the loader as it is. Of an iterator the loop gets every batch, once.

    What cannot be done is refused here. A loop that has begun is not disturbed
    by measuring: what goes wrong with that is told on stderr, once."""
    _check(loader, batch_size, sync=sync, write=write)
    settings = settled(config)
    if _ranks()[0] == 0:
        refuse_output(settings)
    return Wrapped(loader, batch_size, settings, sync,
                   None if quiet else write)
