"""Whether a loader begins anew each time it is asked, or goes on where it was:
a class around a file or a queue hands out new iterators over one position.
Whoever measures IO on that takes batches that nobody gets.

The position is somewhere in what the loader can reach. That is looked at
before and after a batch, and the batch is handed on where something moved or
cannot be looked at. Only a loader that stands still is asked for a second
iterator, which then has to begin with the same batch (or to know its length:
one that shuffles)."""

import collections
import copy
import dis
import hashlib
import pickle
import sys
import types
from typing import Any, Callable, Iterator, List, Optional, Set

MOST = {"state": 4 << 20, "batch": 1 << 30}  # bytes that are looked at
LARGE = 4096  # of arrays, texts and lists it is enough who they are

# Modules whose objects have no position in the data.
_INNOCENT = ("random", "numpy.random", "_thread", "threading", "logging",
             "torch._C", "_abc", "weakref")
_LONG = (str, bytes, bytearray, list, tuple, dict, set, frozenset,
         collections.deque)
_CODE = (types.FunctionType, types.MethodType)
_NAMED = (types.BuiltinFunctionType, types.ModuleType, type, property,
          staticmethod, classmethod, types.GetSetDescriptorType,
          types.MemberDescriptorType, types.WrapperDescriptorType,
          types.MethodDescriptorType, types.ClassMethodDescriptorType)


class _Digest:
    """A file for pickle that keeps the sum of what was written."""

    def __init__(self, most: int) -> None:
        self.sum = hashlib.blake2b()
        self.left = most

    def write(self, data: Any) -> None:
        self.left -= len(data)
        if self.left < 0:
            raise ValueError("too much")
        self.sum.update(data)


def _content(batch: Any) -> Optional[bytes]:
    """The same for the same batch; None: it cannot be told."""
    digest = _Digest(MOST["batch"])
    try:
        pickle.dump(batch, digest, 4)  # type: ignore[arg-type]
    except Exception:
        return None
    return digest.sum.digest()


# ---- what a loader can reach


def _has(x: Any, *names: str) -> bool:
    return all(hasattr(type(x), name) for name in names)


def _moves(x: Any) -> bool:
    """Iterators, files to read, queues, pipes and sockets."""
    if _has(x, "readable", "closed"):
        return not x.closed and x.readable()
    return (_has(x, "__next__") or _has(x, "recv")
            or _has(x, "get", "put", "empty"))


def _innocent(x: Any) -> bool:
    module = type(x).__module__ or ""
    return any(module == m or module.startswith(m + ".") for m in _INNOCENT)


def _globals_of(code: types.CodeType) -> Iterator[str]:
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _globals_of(inner)


class _Reached(pickle.Pickler):
    """Everything reached from a loader by attributes, and from its functions
    by their variables, where they are of the loader's own modules."""

    def __init__(self, loader: Any) -> None:
        self.digest = _Digest(MOST["state"])
        super().__init__(self.digest, 4)  # type: ignore[arg-type]
        self.moves = False
        self.seen: Set[int] = set()
        self.modules = {getattr(loader, "__module__", None), "__main__"}
        self.modules.update(c.__module__ for c in type(loader).__mro__)
        self.modules.discard("builtins")
        self.todo: List[Any] = []

    def persistent_id(self, x: Any) -> Any:
        if isinstance(x, _CODE):
            self.todo.append(x)
            return id(x)
        if isinstance(x, _NAMED):
            if isinstance(x, (type, property, staticmethod, classmethod)):
                self.todo.append(x)
            return id(x)
        if _innocent(x):
            return id(x)
        if _moves(x):
            self.moves = True
            return id(x)
        if isinstance(x, _LONG):
            return (id(x), len(x)) if len(x) > LARGE else None
        nbytes = getattr(x, "nbytes", 0)
        return id(x) if isinstance(nbytes, int) and nbytes > LARGE else None

    def walk(self, loader: Any) -> None:
        """Its attributes themselves: __getstate__ may leave some out."""
        self.dump(getattr(loader, "__dict__", None) or [loader])
        for kind in type(loader).__mro__[:-1]:
            for name in getattr(kind, "__slots__", ()):
                self.dump(getattr(loader, name, None))
            self.of_class(kind)
        self.todo.append(loader)
        while self.todo:
            self.visit(self.todo.pop())

    def visit(self, x: Any) -> None:
        if id(x) in self.seen:
            return
        self.seen.add(id(x))
        if isinstance(x, types.MethodType):
            self.dump(x.__self__)
            x = x.__func__
        if isinstance(x, property):
            self.todo += [f for f in (x.fget,) if f]
        elif isinstance(x, (staticmethod, classmethod)):
            self.todo.append(x.__func__)
        elif isinstance(x, type):
            self.of_class(x)
        elif isinstance(x, types.FunctionType):
            self.of_function(x)

    def of_class(self, kind: type) -> None:
        if kind.__module__ in self.modules:
            for name, value in vars(kind).items():
                if not (name.startswith("__") and name.endswith("__")
                        and not callable(value)):
                    self.dump(value)

    def of_function(self, f: types.FunctionType) -> None:
        if f.__module__ not in self.modules:
            return
        for cell in f.__closure__ or ():
            try:
                self.dump(cell.cell_contents)
            except ValueError:  # empty
                pass
        self.dump([f.__defaults__, f.__kwdefaults__])
        for name in _globals_of(f.__code__):
            if name in f.__globals__:
                self.dump(f.__globals__[name])


class _State:
    """Of a loader, now. `sum` is None where it cannot be told."""

    def __init__(self, loader: Any) -> None:
        reached = _Reached(loader)
        self.sum: Optional[bytes] = None
        try:
            if loader is not None:
                reached.walk(loader)
                self.sum = reached.digest.sum.digest()
        except Exception:
            pass
        self.moves = reached.moves


# ---- the question

def _some(it: Iterator[Any]) -> List[Any]:
    """One batch, or none."""
    try:
        return [next(it)]
    except StopIteration:
        return []


def _sized(loader: Any) -> bool:
    try:
        return len(loader) >= 0
    except Exception:
        return False


class Rest(Iterator[Any]):
    """All batches of a loader that was asked for some already."""

    def __init__(self, it: Iterator[Any]) -> None:
        self.first, self.it = collections.deque(_some(it)), it
        self.error: Optional[Exception] = None
        self.last: "collections.deque[Any]" = collections.deque()
        self.ended = False

    def __next__(self) -> Any:
        if self.first:
            return self.first.popleft()
        error, self.error = self.error, None
        if error is not None:
            raise error
        try:
            return next(self.it)
        except StopIteration:
            if self.last:
                return self.last.popleft()
            self.ended = True
            raise


def _plain(loader: Any) -> bool:
    """What has its batches by number, and tf.data, begin anew."""
    data = sys.modules.get("torch.utils.data")
    if data is not None and isinstance(loader, data.DataLoader):
        return (not isinstance(loader.dataset, data.IterableDataset)
                and not _moves(loader.sampler)
                and not _moves(loader.batch_sampler))
    kind = type(loader)
    return (kind.__module__ or "").split(".")[0] in ("tensorflow", "_prony") \
        or kind.__module__ == "prony.loader" \
        or (hasattr(kind, "__len__") and hasattr(kind, "__getitem__"))


def _holder(loader: Any) -> Any:
    """Who has the position, if anybody. Of a DataLoader that is its data set;
    None: workers that live on, which cannot be looked at, and lose what they
    read ahead when they are asked again."""
    data = sys.modules.get("torch.utils.data")
    if data is None or not isinstance(loader, data.DataLoader):
        return loader
    return None if loader.persistent_workers else loader.dataset


def _stood_still(holder: Any, before: _State, rest: Rest) -> bool:
    """A loader may count how often it is started, which is not a position in
    the data: so one more batch must leave everything as it was."""
    after = _State(holder)
    if after.sum == before.sum:
        return True
    try:
        spare = copy.deepcopy(rest.first[0])
    except Exception:
        return False
    content = _content(spare)
    try:
        rest.first.extend(_some(rest.it))
    except Exception as e:
        rest.error = e
    if content is None or _content(rest.first[0]) != content:
        rest.first[0] = spare  # the loader writes where the first one was
    return len(rest.first) > 1 and _State(holder).sum == after.sum


def goes_on(loader: Any, begin: Callable[[], Iterator[Any]],
            trusted: bool) -> Optional[Rest]:
    """None: it begins anew. Else it does not, or nobody can tell, and here are
    all its batches. `begin()` gives an iterator. One that is trusted (a
    function that makes it) begins anew unless it is seen not to."""
    if _plain(loader):
        return None
    holder = _holder(loader)
    before = _State(holder)
    try:
        rest = Rest(begin())
    except Exception:  # the loop will see
        return None
    if not rest.first:
        return None
    if before.moves or (before.sum is None and not trusted):
        return rest
    if before.sum is not None and not _stood_still(holder, before, rest):
        return rest
    content = _content(rest.first[0])
    second = begin()
    if second is rest.it:
        return rest
    if trusted:
        return None
    try:
        rest.last.extend(_some(second))
    except Exception:  # the loop gets it, if it is there without us as well
        return rest
    same = content is not None and [content] == [
        _content(batch) for batch in rest.last]
    return None if same or (rest.last and _sized(loader)) else rest
