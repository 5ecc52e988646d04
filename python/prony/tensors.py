"""Files of tensors by name (safetensors), with numpy alone."""

import contextlib
import json
import os

import numpy as np

from .results import BAD_FILE, Refusal

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4",
         "I16": "<i2", "I8": "i1", "U8": "u1", "BOOL": "?"}


def _array(body, t):
    first, last = t["data_offsets"]
    raw = body[first:last]
    if t["dtype"] == "BF16":  # the upper half of a float32
        wide = np.frombuffer(raw, "<u2").astype("<u4") << 16
        return wide.view("<f4").reshape(t["shape"])
    return np.frombuffer(raw, TYPES[t["dtype"]]).reshape(t["shape"])


def load(path):
    """Name to array. bfloat16 becomes float32."""
    try:
        with open(path, "rb") as f:
            length = int.from_bytes(f.read(8), "little")
            header = json.loads(f.read(min(length, 100 << 20)))
            body = f.read()
        header.pop("__metadata__", None)
        return {name: _array(body, t) for name, t in header.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        raise Refusal(BAD_FILE, "%s: no file of tensors: %s"
                      % (path, e)) from e


def save(path, tensors):
    """Whole or not at all: written beside, then renamed."""
    names = {np.dtype(code): name for name, code in TYPES.items()}
    header, at = {}, 0
    arrays = {name: np.asarray(a, order="C") for name, a in tensors.items()}
    for name, a in arrays.items():
        header[name] = {"dtype": names[a.dtype], "shape": list(a.shape),
                        "data_offsets": [at, at + a.nbytes]}
        at += a.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    temp = "%s.new-%d" % (path, os.getpid())
    try:
        with open(temp, "wb") as f:
            f.write(len(text).to_bytes(8, "little") + text)
            for a in arrays.values():
                f.write(a.tobytes())
        os.replace(temp, path)
    except OSError as e:
        raise Refusal(BAD_FILE, "%s: cannot write: %s"
                      % (path, e.strerror)) from e
    finally:  # nothing is left of one that failed
        with contextlib.suppress(OSError):
            os.unlink(temp)
