"""Files of ONNX: protobuf's wire format by hand, so that it needs numpy
alone."""

import struct

import numpy as np

from ..results import BAD_FILE, UNAVAILABLE, Refusal

IR, OPSET, LARGEST = 8, 17, (1 << 31) - 1
TYPES = {"float32": 1, "int32": 6, "int64": 7, "bool": 9}


# ----------------------------------------------------------------- protobuf
# A message is a list of pieces of bytes: tensors are not copied into it.


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return [varint(field << 3) + varint(n)]


def real(field, x):
    return [varint(field << 3 | 5) + struct.pack("<f", x)]


def size_of(pieces):
    return sum(len(p) for p in pieces)


def nested(field, pieces):
    return [varint(field << 3 | 2) + varint(size_of(pieces))] + pieces


def text(field, s):
    return nested(field, [s.encode()])


def attribute(name, value):
    """An AttributeProto; its type follows from the value."""
    body = text(1, name)
    if isinstance(value, float):
        body += real(2, value) + number(20, 1)
    elif isinstance(value, int):
        body += number(3, value) + number(20, 2)
    elif isinstance(value, str):
        body += text(4, value) + number(20, 3)
    else:
        for n in value:
            body += number(8, n)
        body += number(20, 7)
    return body


def tensor(name, array):
    """A TensorProto."""
    body = []
    for n in array.shape:
        body += number(1, n)
    body += number(2, TYPES[array.dtype.name]) + text(8, name)
    raw = memoryview(array.reshape(-1)).cast("B") if array.size else b""
    return body + nested(9, [raw])


def value_info(name, dtype, shape):
    dims = []
    for n in shape:
        dims += nested(1, number(1, n))
    kind = number(1, TYPES[dtype]) + nested(2, dims)
    return text(1, name) + nested(2, nested(1, kind))


class Graph:
    """Nodes and constants, as they are added."""

    def __init__(self, name):
        self.name = name
        self.nodes, self.constants, self.ends = [], [], []
        self.known = set()

    def node(self, op, inputs, output, **attributes):
        """The name of its output."""
        body = []
        for name in inputs:
            body += text(1, name)
        body += text(2, output) + text(3, output) + text(4, op)
        for name, value in attributes.items():
            body += nested(5, attribute(name, value))
        self.nodes += nested(1, body)
        return output

    def constant(self, name, array):
        """Its name; one that is there already stays."""
        if name not in self.known:
            self.known.add(name)
            self.constants += nested(5, tensor(name, np.ascontiguousarray(
                array).reshape(np.shape(array))))
        return name

    def input(self, name, dtype, shape):
        self.ends += nested(11, value_info(name, dtype, shape))

    def output(self, name, dtype, shape):
        self.ends += nested(12, value_info(name, dtype, shape))

    def pieces(self):
        """The whole file, a ModelProto."""
        graph = self.nodes + text(2, self.name) + self.constants + self.ends
        opset = text(1, "") + number(2, OPSET)
        whole = (number(1, IR) + text(2, "prony") + nested(7, graph)
                 + nested(8, opset))
        if size_of(whole) > LARGEST:
            raise Refusal(UNAVAILABLE, "a file of ONNX has at most 2 GB, this "
                          "one has %.1f" % (size_of(whole) / 1e9))
        return whole

    def write(self, path):
        try:
            with open(path, "wb") as f:
                f.writelines(self.pieces())
        except OSError as e:
            raise Refusal(BAD_FILE, "%s: cannot write: %s"
                          % (path, e.strerror)) from e
