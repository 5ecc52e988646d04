"""For programs that prony runs: says figures, rates and progress while they
come. Nothing happens when nobody listens. Needs nothing, so this file may be
copied.

    from prony import channel

    for step in range(steps):
        ...
        channel.rate(batch / seconds, "images/s", "train")
        channel.progress(step + 1, steps)
    channel.say(time=1e3 * seconds, loss=loss)

docs/channel.md says what the lines mean."""

import json
import os
from json.encoder import encode_basestring_ascii as _quoted
from os import write as _write
from time import time as _time

__all__ = ["Channel", "progress", "rate", "say", "warn"]


def _descriptor():
    """The one that was inherited, if it is still that file and not another
    one of the same number (a subprocess starts without it); else the file by
    its path; None: nobody listens."""
    path = os.environ.get("PRONY_CHANNEL")
    if not path:
        return None
    try:
        fd = int(os.environ.get("PRONY_FD", ""))
        if fd > 2 and os.path.samestat(os.fstat(fd), os.stat(path)):
            return fd
    except (ValueError, OSError):
        pass
    try:
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    except OSError:
        return None


def _plain(value):
    """Numbers of numpy and of frameworks."""
    for method in ("tolist", "item"):
        if hasattr(value, method):
            return getattr(value, method)()
    return str(value)


_encode = json.JSONEncoder(default=_plain).encode


class _Heads(dict):
    """All of a rate's line but the numbers, by units and task."""

    def __missing__(self, key):
        named = {"task": key[1], "units": key[0]}
        given = {k: str(v) for k, v in named.items() if v is not None}
        self[key] = head = _encode({**given, "time": 0})[:-2]
        return head


class Channel:
    """Where lines go. A line is one write, so threads and processes do not
    cut into each other's. What cannot be written is lost: a full disk must
    not end a training."""

    def __init__(self, fd=None):
        self.fd = _descriptor() if fd is None else fd
        self.heads = _Heads()

    def say(self, values=None, **more):
        """Sets parameters: a dictionary, or names; a plain name is one of
        results."""
        if self.fd is None:
            return
        if values:
            more = {**values, **more}
        line, comma = "{", ""
        for name, value in more.items():
            plain = type(value) is float and value - value == 0
            text = repr(value) if plain else _encode(value)
            line += f"{comma}{_quoted(str(name))}: {text}"
            comma = ", "
        try:
            _write(self.fd, (line + "}\n").encode())
        except OSError:
            pass

    def rate(self, value, units=None, task=None):
        """One measurement of how fast it went since the one before; the line
        says that it is of now."""
        if self.fd is None:
            return
        value = float(value)
        text = repr(value) if value - value == 0 else _encode(value)
        try:
            _write(self.fd, f"{self.heads[units, task]}{_time():.6f}, "
                            f"\"rate\": {text}}}\n".encode())
        except OSError:
            pass

    def progress(self, done, of=None, text=None):
        """How far it is: a share, or so many of so many."""
        line = {"progress": done if of is None else [done, of]}
        if text is not None:
            line["text"] = str(text)
        self.say(line)

    def warn(self, text):
        """A warning in the result."""
        self.say({"warning": str(text)})


_channel = Channel()
say = _channel.say
rate = _channel.rate
progress = _channel.progress
warn = _channel.warn
