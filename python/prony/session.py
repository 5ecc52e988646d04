"""One measurement: settings, trials one after another, the result. What
`prony.probe` and `prony.torch` share; a loop of one's own can use it, too.

What was measured is written when a trial ends, so a script that dies leaves
it; what is left to say is said when nobody can loop any more, or when the
interpreter exits.

What cannot be done is refused before the loop (`settled`, `refuse_output`).
Once the loop has begun, whatever goes wrong with measuring is told on stderr,
once, and the loop goes on."""

import atexit
import json
import os
import stat
import sys
import tempfile
import weakref
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Union

import _prony

from . import channel

Sum = Callable[[List[float], bool], Optional[List[float]]]
Config = Union[None, str, "os.PathLike[str]", Mapping[str, Mapping[str, Any]]]

# Sessions that have not said their summary, and files that are taken.
_open: "weakref.WeakSet[Session]" = weakref.WeakSet()
_outputs: Dict[str, int] = {}


def _print(line: str) -> None:
    print(line, flush=True)


def tell(text: str) -> None:
    """To who watches. A training does not end because nobody does."""
    try:
        print("prony: " + text, file=sys.stderr, flush=True)
    except Exception:
        pass


# What failed: what becomes of it.
_THEN = {
    "lines": "no more lines are written",
    "result": "the result is not in its file; measuring goes on",
    "trace": "there is no trace",
    "sum": "rates are this rank's times the number of ranks",
    "sync": "sync() failed: nothing more is measured, the loop goes on",
    "begin": "nothing is measured, the loop goes on",
}


def _warn(what: str, why: BaseException) -> None:
    tell("%s: %s; %s" % (type(why).__name__, why, _THEN.get(what, what)))


# ---- settings

MODES = ("single", "all", "none")


class Settings(Dict[str, Dict[str, Any]]):
    """benchy's, whole and checked."""


def settled(config: Config) -> Settings:
    """From a file, or those of BENCHY_CONFIG_FILE with some changed; what
    cannot be done is refused."""
    if isinstance(config, Settings):
        return config
    if config is not None and not isinstance(config, Mapping):
        return Settings(_prony.read_config(config))
    settings = Settings(_prony.read_config())
    for section, values in (config or {}).items():
        if section not in settings:
            raise ValueError("no section %r, only %s"
                             % (section, ", ".join(settings)))
        if not isinstance(values, Mapping):
            raise TypeError("section %r must be a dict, not %r"
                            % (section, values))
        for key, value in values.items():
            if key not in settings[section]:
                raise ValueError("no %r in section %r, only %s"
                                 % (key, section,
                                    ", ".join(settings[section])))
            settings[section][key] = value
    mode = settings["global"]["profiler_mode"]
    if "profiler_mode" in (config or {}).get("global", {}) \
            and mode not in MODES:
        raise ValueError("global.profiler_mode must be one of %s, not %r"
                         % (", ".join(MODES), mode))
    _prony.Probe(settings)  # refuses what the library does not take
    return settings


def _refused(path: str, why: str, hint: str) -> None:
    error = _prony.InputOutputError("%s: %s (%s)" % (path, why, hint))
    error.where, error.hint = path, hint
    raise error


def _is_ours(path: str) -> bool:
    with open(path, "rb") as f:
        return f.read(9) in (b"", b'{"nranks"')


def _is_null(path: str) -> bool:
    """Somebody wants no file; a rename would replace the device."""
    try:
        return os.path.samefile(path, os.devnull)
    except OSError:
        return False


def _refuse_place(path: str, ours: bool, hint: str) -> None:
    folder = os.path.dirname(path) or "."
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as f:
            f.write(bytes(4096))
        if not os.path.lexists(path):
            return
        if not stat.S_ISREG(os.stat(path).st_mode):
            _refused(path, "is not a regular file", hint)
        if ours and not _is_ours(path):
            _refused(path, "is there already, and is not a probe's result",
                     hint)
    except _prony.Error:
        raise
    except OSError as e:
        _refused(path, "cannot be written: %s" % e.strerror, hint)


def refuse_output(config: Settings) -> None:
    """Refuses places where nothing can be written, or where a file is that is
    no result: a whole training later it is too late."""
    if _is_null(config["global"]["output"]):
        config["global"]["output"] = ""
    output, trace = config["global"]["output"], os.environ.get("PRONY_TRACE")
    if output:
        _refuse_place(output, True, "the result goes there: output_dir and "
                      "output_filename, or BENCHY_OUTPUT_FILE, say where")
    if trace:
        _refuse_place(trace, False, "PRONY_TRACE names it")


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
    tell("another loader writes %s; this one writes %s" % (path, other))
    return other


def check_size(batch_size: Optional[int]) -> None:
    if batch_size is not None and not hasattr(batch_size, "__index__"):
        raise TypeError("batch_size must be a whole number, not %r"
                        % (batch_size,))
    if batch_size is not None and batch_size < 1:
        raise ValueError("batch_size must be at least 1, not %r" % batch_size)


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
        self.finished = True  # in __del__, if this is refused
        check_size(batch_size)
        self.rank, self.ranks = rank, ranks
        self.config = settled(config)
        world = self.config["global"]
        if rank == 0:
            world["output"] = _own_file(world["output"])
        self.probe = _prony.Probe(
            self.config, batch_size=batch_size or 0, first=first or 0,
            rank=rank, ranks=ranks, write=write if rank == 0 else None,
            sum=sum if ranks > 1 else None, warn=_warn)
        self.batch_size, self.write = batch_size, write
        self.finished = False
        self.pid = os.getpid()
        self._profiled = False
        self._empty = False
        self.given = self.dropped = 0  # batches; of these, no loop got
        self._told = False
        self.probe.say("config")
        self._profile()
        _open.add(self)

    def __del__(self) -> None:
        """Nobody can loop any more."""
        try:
            self.finish()
        except Exception as e:
            tell(str(e))

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
            self.dropped += trial.given
            self.count(trial)
        self._tell_how_counted()

    def count(self, trial: "_prony.Trial") -> None:
        """A trial is over. One that got no batch is the last: there are no
        more, also from the start."""
        self.given += trial.given
        if trial.given:
            return
        self._empty = True
        if self.given == 0:
            tell("the loader has no batches: nothing to measure")
        elif self.dropped:
            tell("the loader gave %d batches, and none when it was begun "
                 "again: %d went into measuring IO, and the loop does not get "
                 "these. Wrap what gives all batches each time, or a function "
                 "that makes it" % (self.given, self.dropped))
        elif not self.probe.numbers():
            tell("nothing was measured: the %d batches of the loader are not "
                 "more than those to warm up (nwarmup, nbatches)" % self.given)

    def used_up(self) -> bool:
        """Measuring IO took all there was."""
        return self._empty and self.dropped > 0

    def _tell_how_counted(self) -> None:
        if (self.batch_size is None and not self._told and not self._empty
                and self.rank == 0 and not self.probe.counting()
                and self.probe.numbers()):
            self._told = True
            tell("samples in a batch cannot be told: rates are batches a "
                 "second; say batch_size=")

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
        _open.discard(self)
        try:
            if not self._empty or self.probe.numbers():
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
            tell(verdict["text"])
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
        except Exception as e:
            tell(str(e))

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
    for session in list(_open):
        try:
            session.finish()
        except Exception as e:  # the others' results are still wanted
            tell(str(e))
