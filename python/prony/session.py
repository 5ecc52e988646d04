"""One measurement: settings, trials one after another, the result. What
`prony.probe` and `prony.torch` share; a loop of one's own can use it, too.

What was measured is written when a trial ends, so a script that dies leaves
it; what is left to say is said when the interpreter exits."""

import atexit
import json
import os
import sys
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Union

import _prony

from . import channel

Sum = Callable[[List[float], bool], Optional[List[float]]]
Config = Union[None, str, "os.PathLike[str]", Mapping[str, Mapping[str, Any]]]

# Sessions that have not said their summary, and files that are taken.
_open: Dict[int, "Session"] = {}
_outputs: Dict[str, int] = {}


def _print(line: str) -> None:
    print(line, flush=True)


def _settings(config: Config) -> Dict[str, Dict[str, Any]]:
    """benchy's settings: from a file, or those of BENCHY_CONFIG_FILE with some
    changed."""
    if config is None:
        return _prony.read_config()
    if not isinstance(config, Mapping):
        return _prony.read_config(config)
    settings = _prony.read_config()
    for section, values in config.items():
        if section not in settings:
            raise ValueError("no section %r, only %s"
                             % (section, ", ".join(settings)))
        for key, value in values.items():
            if key not in settings[section]:
                raise ValueError("no %r in section %r, only %s"
                                 % (key, section,
                                    ", ".join(settings[section])))
            settings[section][key] = value
    return settings


def _own_file(path: str) -> str:
    """Another name where this process has a session that writes there: a
    loader to validate with must not overwrite what training gave."""
    if not path:
        return path
    key = os.path.abspath(path)
    _outputs[key] = _outputs.get(key, 0) + 1
    if _outputs[key] == 1:
        return path
    stem, end = os.path.splitext(path)
    other = "%s.%d%s" % (stem, _outputs[key], end)
    print("prony: another loader writes %s; this one writes %s"
          % (path, other), file=sys.stderr)
    return other


class Session:
    """Trials of one loader.

    `source()` gives a new iterator; `sync()` waits until the device is done;
    `settle(iterator)` ends what an iterator does in the background;
    `sum(values, whole)` gives the sums over all ranks, or None where they are
    not known; not whole: the trial was cut short here."""

    def __init__(self, batch_size: Optional[int] = None, *,
                 first: Optional[int] = None, rank: int = 0, ranks: int = 1,
                 config: Config = None,
                 sum: Optional[Sum] = None,
                 write: Optional[Callable[[str], Any]] = _print) -> None:
        if batch_size is not None and batch_size < 1:
            raise ValueError("batch_size must be at least 1, not %r"
                             % batch_size)
        self.rank, self.ranks = rank, ranks
        self.config = _settings(config)
        world = self.config["global"]
        if rank == 0:
            world["output"] = _own_file(world["output"])
        self.probe = _prony.Probe(
            self.config, batch_size=batch_size or 0, first=first or 0,
            rank=rank, ranks=ranks, write=write if rank == 0 else None,
            sum=sum if ranks > 1 else None)
        self.batch_size, self.write = batch_size, write
        self.finished = False
        self.pid = os.getpid()
        self._profiled = False
        self._empty = False
        self._told = False
        self.probe.say("config")
        self._profile()
        _open[id(self)] = self

    # ---- trials

    def phase(self) -> Optional[str]:
        """Whose turn it is: 'IO', 'SYNTHETIC', 'FULL', or None when all is
        done."""
        if self._empty or self.finished or self.pid != os.getpid():
            return None
        return self.probe.next_phase()

    def trial(self, phase: str, source: Callable[[], Iterator[Any]],
              **more: Any) -> "_prony.Trial":
        """An iterator that is one trial."""
        return self.probe.trial(phase, source, **more)

    def run_io(self, source: Callable[[], Iterator[Any]],
               sync: Optional[Callable[[], Any]] = None) -> None:
        """All trials of IO. They share one iterator, so what was read ahead
        in one is there in the next."""
        it = None
        while self.phase() == "IO":
            trial = self.trial("IO", source, iterator=it, sync=sync)
            it = _drained(trial)
            if trial.steps == 0:
                self._nothing_there()
        self._tell_how_counted()

    def _nothing_there(self) -> None:
        self._empty = True
        print("prony: the loader has no batches: nothing to measure",
              file=sys.stderr)

    def _tell_how_counted(self) -> None:
        if (self.batch_size is None and not self._told and not self._empty
                and self.rank == 0 and not self.probe.counting()
                and self.probe.numbers()):
            self._told = True
            print("prony: samples in a batch cannot be told: rates are batches"
                  " a second; say batch_size=", file=sys.stderr)

    # ---- profilers

    def _profile(self) -> None:
        mode = self.config["global"]["profiler_mode"]
        self.probe.say("profiler")
        if mode == "all" or (mode == "single" and self.rank == 0):
            self._profiled = _prony.profiler(True)

    # ---- the end

    def finish(self) -> None:
        """Says the summary and writes the result; what there is, if trials
        are left to do. Does nothing the second time, or in a forked child."""
        if self.finished or self.pid != os.getpid():
            return
        self.finished = True
        _open.pop(id(self), None)
        try:
            if not self._empty:
                self.probe.finish()
        finally:
            if self._profiled:
                _prony.profiler(False)
        if self.rank == 0:
            self._pass_on()

    def _pass_on(self) -> None:
        """The verdict for who reads along, the figures for `prony run`."""
        numbers, verdict = self.probe.numbers(), self.probe.verdict()
        if not numbers:
            return
        if self.write is not None:
            print("prony: " + verdict["text"], file=sys.stderr, flush=True)
        channel.say(json.loads(self.probe.metrics()))
        self._record()

    def _record(self) -> None:
        """A run directory, where PRONY_RUN_DIR wants one."""
        folder = _own_file(os.environ.get("PRONY_RUN_DIR", ""))
        if not folder:
            return
        command = [sys.executable or "python3", *sys.argv]
        if any("$" in word for word in command):  # a plan would expand it
            command = command[:1]
        try:
            self.probe.record(folder, json.dumps(command))
        except _prony.Error as e:
            print("prony: %s" % e, file=sys.stderr)

    @property
    def results(self) -> Dict[str, Any]:
        """benchy's result so far."""
        return json.loads(self.probe.json())

    @property
    def numbers(self) -> Dict[str, Dict[str, Any]]:
        """Figures of each phase that was measured: rate and deviation in
        samples a second, times of fetch and step in seconds."""
        return self.probe.numbers()

    @property
    def verdict(self) -> Dict[str, Any]:
        """What holds the loop back."""
        return self.probe.verdict()


def _drained(trial: "_prony.Trial") -> Optional[Iterator[Any]]:
    """Runs a trial with an empty loop; what it iterated over goes on."""
    trial.drain()
    return trial.take_iterator()


@atexit.register
def _finish_all() -> None:
    """Scripts with fewer loops than trials still get what was measured."""
    for session in list(_open.values()):
        try:
            session.finish()
        except Exception as e:  # the others' results are still wanted
            print("prony: %s" % e, file=sys.stderr)
