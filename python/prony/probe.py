"""`prony.wrap`: any loop over batches, measured. Needs no framework."""

import itertools
import sys
from typing import (Any, Callable, Dict, Generic, Iterable, Iterator, Optional,
                    TypeVar)

from .session import Config, Session, Sum, _print

T = TypeVar("T")


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


class Wrapped(Generic[T]):
    """What `wrap` gives. The first loop over it gets the batches of all
    trials, one after another; later loops are over the loader as it is. Other
    attributes are the loader's."""

    def __init__(self, loader: Iterable[T], batch_size: Optional[int] = None,
                 **options: Any) -> None:
        self.loader = loader
        self.batch_size = batch_size
        self.session: Optional[Session] = None
        self._options = options
        self._sync = options.pop("sync", None)

    def _begin(self) -> Session:
        options = dict(self._options)
        rank, ranks = _ranks()
        options.setdefault("rank", rank)
        options.setdefault("ranks", ranks)
        options.setdefault("sum", _summing(options["ranks"]))
        if options.pop("quiet", False):
            options["write"] = None
        return Session(self.batch_size, **options)

    def _source(self) -> Iterator[T]:
        return iter(self.loader)

    def _trials(self) -> Iterator[Iterator[T]]:
        session = self.session
        assert session is not None
        session.run_io(self._source, self._sync)
        while True:
            phase = session.phase()
            if phase is None:
                break
            yield session.trial(phase, self._source, sync=self._sync)
        session.finish()

    def __iter__(self) -> Iterator[T]:
        if self.session is None:
            self.session = self._begin()
        if self.session.phase() is None:
            self.session.finish()
            return iter(self.loader)
        return itertools.chain.from_iterable(self._trials())

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


def wrap(loader: Iterable[T], batch_size: Optional[int] = None, *,
         config: Config = None, sync: Optional[Callable[[], Any]] = None,
         quiet: bool = False,
         write: Optional[Callable[[str], Any]] = _print) -> Wrapped[T]:
    """Measures the loop over a loader: alone (IO), with one batch again and
    again (SYNTHETIC), and as it is (FULL).

    loader      anything to iterate over, as often as one likes; one that ends
                is begun again
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
    the loader as it is."""
    options = {"config": config, "sync": sync, "quiet": quiet, "write": write}
    return Wrapped(loader, batch_size, **options)
