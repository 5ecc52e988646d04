"""Prony in Python.

    for batch in prony.wrap(loader, batch_size=64):   # what holds it back?
        step(batch)

    for images, labels in prony.Loader("data/train", batch_size=64, …):
        …                                             # the native loader

`prony.torch` has benchy's loaders, `prony.backends` the programs that do in a
framework what `prony run` asks for. docs/python.md tells more. The parts that
measure need the extension that `pip install .` builds; the rest needs nothing.
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = ["Error", "Loader", "wrap"]

# Where names come from; looked up when first used, so that back-ends, which
# need neither, start without the extension.
_HOME = {
    "Loader": "prony.loader",
    "Wrapped": "prony.probe",
    "wrap": "prony.probe",
    "Error": "_prony",
    "ConfigError": "_prony",
    "FormatError": "_prony",
    "InputOutputError": "_prony",
    "InternalError": "_prony",
    "TimeoutError": "_prony",
    "UnavailableError": "_prony",
    "UsageError": "_prony",
}

if TYPE_CHECKING:
    from _prony import (ConfigError, Error, FormatError, InputOutputError,
                        InternalError, TimeoutError, UnavailableError,
                        UsageError)
    from .loader import Loader
    from .probe import Wrapped, wrap


def __getattr__(name):
    import importlib

    if name not in _HOME:
        raise AttributeError("module 'prony' has no attribute %r" % name)
    try:
        value = getattr(importlib.import_module(_HOME[name]), name)
    except ModuleNotFoundError as e:
        if e.name != "_prony":
            raise
        raise ImportError(
            "prony.%s needs Prony's extension: `pip install .` in its folder, "
            "or `make python`" % name) from e
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(_HOME))
