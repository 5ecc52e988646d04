"""Files written by Python's libraries, and what these make of them: for our
readers to be compared with. TensorFlow's part runs in build/venv."""

import io
import os
import struct
import warnings
import zipfile
import zlib

import numpy as np

from _formats import DTYPES, Sample


class File:
    """A file, the samples in it (None: readers must refuse it), and what a
    reader is told beforehand."""

    def __init__(self, group, fmt, path, want, told=0, dtype="uint8"):
        self.group, self.format, self.path = group, fmt, path
        self.want, self.told, self.dtype = want, told, dtype

    def pack(self):
        """In types that every version of numpy can unpickle."""
        want = [(s.array.tobytes(), s.array.dtype.str, s.array.shape, s.label)
                for s in self.want]
        return self.group, self.format, self.path, want, self.told, self.dtype

    @staticmethod
    def unpack(packed):
        group, fmt, path, want, told, dtype = packed
        return File(group, fmt, path,
                    [Sample(np.frombuffer(b, t).reshape(s), label)
                     for b, t, s, label in want], told, dtype)


def numbers(rng, dtype, shape):
    """Every bit pattern; of floats also NaN, infinity and subnormals."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    count = int(np.prod(shape, dtype=int))
    return np.frombuffer(rng.bytes(count * dtype.itemsize),
                         dtype).reshape(shape)


SHAPES = ((), (5,), (3, 4), (2, 3, 5), (2, 1, 4, 3), (2, 3, 1, 2, 2))


# -------------------------------------------------------------------- numpy


def save(path, array, version):
    with warnings.catch_warnings(), open(path, "wb") as f:
        warnings.simplefilter("ignore")  # 2.0 and 3.0 are seldom needed
        np.lib.format.write_array(f, array, version=version,
                                  allow_pickle=False)


def npy_kinds(folder, rng):
    """All types, shapes, byte orders, versions: an array is one sample."""
    i = 0
    for dtype in DTYPES:
        for shape in SHAPES:
            for byte_order in "<>":
                a = numbers(rng, np.dtype(dtype).newbyteorder(byte_order),
                            shape)
                for layout in "CF":
                    path = os.path.join(folder, "kind_%d.npy" % i)
                    save(path, np.asarray(a, order=layout), (i % 3 + 1, 0))
                    i += 1
                    yield File("npy by numpy: types, shapes, orders, versions",
                               "npy", path, [Sample(a)])


def split(a, n, axis, labels=None):
    return [Sample(np.take(a, i, axis), None if labels is None
                   else int(labels[i])) for i in range(n)]


def npy_several(folder, rng):
    """Several samples: counted by the last axis as in DLIO, or the first."""
    i = 0
    for dtype in DTYPES + (">u2", ">f8"):
        for shape, n, axis in (((6, 5, 4), 4, 2), ((7, 6, 5), 7, 0),
                               ((3, 4, 2, 9), 9, 3), ((8,), 8, 0),
                               ((1, 6), 6, 1), ((5, 3, 1), 1, 2),
                               ((1, 5, 3), 1, 0)):
            for layout in "CF":
                a = np.asarray(numbers(rng, dtype, shape), order=layout)
                path = os.path.join(folder, "several_%d.npy" % i)
                np.save(path, a)
                i += 1
                yield File("npy by numpy: several samples", "npy", path,
                           split(a, n, axis), n)


def npy_large(folder, rng):
    """Larger than any piece that is read at once."""
    for i, (dtype, shape, n, axis, layout) in enumerate((
            ("float32", (700, 301, 4), 4, 2, "C"),
            ("uint8", (1031, 701, 3), 3, 2, "C"),
            ("uint8", (1031, 701, 3), 3, 2, "F"),
            (">u2", (3, 601, 701), 3, 0, "C"),
            (">f8", (333, 77, 8), 8, 2, "C"),
            ("int64", (450001,), 0, 0, "C"))):
        a = np.asarray(numbers(rng, dtype, shape), order=layout)
        path = os.path.join(folder, "large_%d.npy" % i)
        np.save(path, a)
        yield File("npy by numpy: larger than a piece", "npy", path,
                   split(a, n, axis) if n else [Sample(a)], n)


def npy_refused(folder, _rng):
    for i, a in enumerate((np.zeros(3, "c16"), np.array(["a", "bc"]),
                           np.zeros(2, "M8[s]"), np.zeros(2, "f4,i4"))):
        path = os.path.join(folder, "refused_%d.npy" % i)
        np.save(path, a)
        yield File("npy by numpy: types that are refused", "npy", path, None)


def npz_kinds(folder, rng):
    i = 0
    for saver in (np.savez, np.savez_compressed):
        for dtype in DTYPES + (">i4", ">f2"):
            for shape, n, axis in (((6, 5, 4), 4, 2), ((6, 5, 1), 1, 2),
                                   ((9, 2, 3), 9, 0), ((5,), 5, 0)):
                for layout in "CF":
                    a = np.asarray(numbers(rng, dtype, shape), order=layout)
                    y = rng.integers(-2**40, 2**40, n)
                    path = os.path.join(folder, "kind_%d.npz" % i)
                    saver(path, x=a, y=y)
                    i += 1
                    yield File("npz by numpy: %s" % saver.__name__, "npz",
                               path, split(a, n, axis, y), n)


class Pipe(io.RawIOBase):
    """A file that cannot be rewound: sizes go behind the data."""

    def __init__(self, path):
        super().__init__()
        self.file = open(path, "wb")

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)

    def close(self):
        self.file.close()
        super().close()


def npy_bytes(a):
    f = io.BytesIO()
    np.lib.format.write_array(f, a)
    return f.getvalue()


def npz_containers(folder, rng):
    """ZIP files as others make them."""
    group = "npz by zipfile: ZIP64, streamed, members in any order"
    a = numbers(rng, "f4", (40, 31, 5))
    y = rng.integers(0, 100, 5)
    for i, (streamed, method, zip64, first, comment) in enumerate((
            (False, zipfile.ZIP_STORED, True, "x", b""),
            (False, zipfile.ZIP_STORED, False, "y", b"a comment"),
            (False, zipfile.ZIP_DEFLATED, True, "y", b"x" * 3000),
            (True, zipfile.ZIP_STORED, False, "x", b""),
            (True, zipfile.ZIP_STORED, True, "y", b""),
            (True, zipfile.ZIP_DEFLATED, True, "x", b"PK\5\6"),
            (True, zipfile.ZIP_DEFLATED, False, "y", b""))):
        path = os.path.join(folder, "container_%d.npz" % i)
        out = Pipe(path) if streamed else open(path, "wb")
        with zipfile.ZipFile(out, "w", method) as z:
            z.comment = comment
            members = [("x.npy", npy_bytes(a)), ("y.npy", npy_bytes(y))]
            if first == "y":
                members.reverse()
            for name, data in members + [("note.txt", b"hello")]:
                with z.open(name, "w", force_zip64=zip64) as m:
                    m.write(data)
        out.close()
        yield File(group, "npz", path, split(a, 5, 2, y), 5)


def npz_large(folder, rng):
    group = "npz by numpy: larger than a piece"
    a = numbers(rng, "u1", (1500, 701, 2))
    b = np.asfortranarray(numbers(rng, "f8", (133, 401, 3)))
    c = np.broadcast_to(np.arange(2000, dtype="u2"), (700, 2000))
    y = np.arange(3)
    for i, (x, n, axis, saver) in enumerate((
            (a, 2, 2, np.savez), (a, 2, 2, np.savez_compressed),
            (b, 3, 2, np.savez), (b, 3, 2, np.savez_compressed),
            (c, 0, 0, np.savez_compressed))):
        path = os.path.join(folder, "large_%d.npz" % i)
        if n:
            saver(path, x=x, y=y[:n])
            yield File(group, "npz", path, split(x, n, axis, y), n)
        else:
            saver(path, x=x)
            yield File(group, "npz", path, [Sample(x)], n)


# ---------------------------------------------------------------- HDF5


def hdf5_file(folder, name, group, x, y=None, libver="latest", **options):
    import h5py
    path = os.path.join(folder, name + ".hdf5")
    with h5py.File(path, "w", libver=libver) as f:
        f.create_dataset("records_0", data=x, **options)
        if y is not None:
            f.create_dataset("labels", data=y)
    with h5py.File(path, "r") as f:
        x = f["records_0"][()]
    return File("hdf5 by h5py: " + group, "hdf5", path,
                [Sample(np.asarray(x[i]), None if y is None else int(y[i]))
                 for i in range(len(x))], len(x))


def hdf5_kinds(folder, rng):
    i = 0
    for dtype in DTYPES + (">u2", ">i4", ">f4", ">f8", ">i8"):
        for libver in ("earliest", "latest"):
            for shape in ((4,), (3, 7), (4, 3, 5), (2, 3, 2, 4)):
                x = numbers(rng, dtype, shape)
                y = rng.integers(-9, 9, len(x)) if i % 2 else None
                i += 1
                yield hdf5_file(folder, "kind_%d" % i, "types and shapes, "
                                "libver " + libver, x, y, libver)


def hdf5_filters(folder, rng):
    x = numbers(rng, "i4", (6, 37, 23)) % 1000
    small = numbers(rng, "u1", (6, 37, 23)) % 16
    h = numbers(rng, ">u2", (6, 37, 23)) % 500
    y = np.arange(6)
    rows = [dict(compression="gzip", compression_opts=n)
            for n in range(1, 10)]
    rows += [dict(compression="lzf"), dict(shuffle=True),
             dict(fletcher32=True), dict(),
             dict(compression="gzip", shuffle=True),
             dict(compression="lzf", shuffle=True),
             dict(compression="lzf", fletcher32=True),
             dict(compression="gzip", shuffle=True, fletcher32=True),
             dict(scaleoffset=11), dict(scaleoffset=11, compression="gzip"),
             dict(fillvalue=3)]
    i = 0
    for row in rows:
        for chunks in ((1, 37, 23), (2, 10, 7), (4, 37, 5), True):
            for a in (x, small, h)[i % 3:i % 3 + 1] if "scaleoffset" not in \
                    row else (x,):
                libver = ("latest", "earliest")[i // 2 % 2]
                i += 1
                yield hdf5_file(folder, "filter_%d" % i, "chunks and filters",
                                a, y, libver, chunks=chunks, **row)


def hdf5_shapes(folder, rng):
    """What may grow, was never written, is compact or has several parts."""
    import h5py
    x = numbers(rng, "f8", (5, 4, 3))
    yield hdf5_file(folder, "grow_1", "maxshape", x, maxshape=(None, 4, 3))
    yield hdf5_file(folder, "grow_2", "maxshape", x,
                    maxshape=(None, None, None), chunks=(2, 3, 2))
    yield hdf5_file(folder, "grow_3", "maxshape", x, maxshape=(9, 8, 7),
                    compression="gzip")
    many = numbers(rng, "u2", (70, 20, 20))
    yield hdf5_file(folder, "many", "many chunks", many, np.arange(70),
                    chunks=(1, 7, 7), compression="lzf")
    for libver in ("earliest", "latest"):
        path = os.path.join(folder, "parts_%s.hdf5" % libver)
        parts = [numbers(rng, "i2", (3, 2, 4)) for _ in range(3)]
        with h5py.File(path, "w", libver=libver) as f:
            for k, p in enumerate(parts):
                f.create_dataset("records_%d" % k, data=p)
            f.create_dataset("labels", data=np.arange(3))
        yield File("hdf5 by h5py: records_0, records_1, …", "hdf5", path,
                   [Sample(np.concatenate([p[i] for p in parts]), i)
                    for i in range(3)])
        path = os.path.join(folder, "holes_%s.hdf5" % libver)
        with h5py.File(path, "w", libver=libver) as f:
            d = f.create_dataset("records_0", (6, 10, 10), "i4",
                                 chunks=(2, 4, 4), fillvalue=-7,
                                 compression="gzip")
            d[2, 3:6, 2:9] = numbers(rng, "i4", (3, 7))
        with h5py.File(path, "r") as f:
            x = f["records_0"][()]
        yield File("hdf5 by h5py: chunks never written", "hdf5", path,
                   [Sample(r) for r in x])
        path = os.path.join(folder, "compact_%s.hdf5" % libver)
        x = numbers(rng, "f4", (4, 6))
        with h5py.File(path, "w", libver=libver) as f:
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_layout(h5py.h5d.COMPACT)
            space = h5py.h5s.create_simple(x.shape)
            d = h5py.h5d.create(f.id, b"records_0", h5py.h5t.IEEE_F32LE,
                                space, plist)
            d.write(h5py.h5s.ALL, h5py.h5s.ALL, x)
        yield File("hdf5 by h5py: compact", "hdf5", path,
                   [Sample(r) for r in x])


# -------------------------------------------------------------------- images


def picture(rng, shape):
    """Smooth with some noise: what JPEG is made for."""
    y, x = np.mgrid[0:shape[0], 0:shape[1]]
    a = 100 + 60 * np.sin(x / 9.0) + 50 * np.cos(y / 7.0)
    if len(shape) > 2:
        a = a[..., None] + np.arange(shape[2]) * 25
    return np.clip(a + rng.normal(0, 6, shape), 0, 255).astype("u1")


def image_file(group, path, fmt, mode=None):
    """Pillow's own view of the file, in that mode if it is given."""
    from PIL import Image
    with Image.open(path) as image:
        image.load()
        a = np.asarray(image.convert(mode) if mode else image)
    return File(group, fmt, path, [Sample(a)])


def jpeg_files(folder, rng):
    from PIL import Image
    i = 0
    for mode, channels in (("L", 0), ("RGB", 3), ("CMYK", 4)):
        for quality in (30, 95):
            for more in (dict(), dict(progressive=True),
                         dict(optimize=True), dict(subsampling="4:4:4"),
                         dict(subsampling="4:2:2")):
                for side in ((47, 61), (64, 48), (1, 1), (8, 203)):
                    a = picture(rng, side + ((channels,) if channels else ()))
                    path = os.path.join(folder, "%d.jpeg" % i)
                    Image.fromarray(a, mode).save(path, quality=quality,
                                                  **more)
                    i += 1
                    yield image_file("jpeg by Pillow: " + mode, path, "jpeg")


ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4),
         (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def png_chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data
            + struct.pack(">I", zlib.crc32(kind + data)))


def write_png(path, a, color, interlaced, cuts=1):
    """A PNG of 8 or 16 bits by hand: Pillow writes none that are interlaced.
    The data is cut into that many IDAT chunks."""
    height, width = a.shape[:2]
    depth = 8 * a.dtype.itemsize
    passes = ADAM7 if interlaced else ((0, 0, 1, 1),)
    raw = b""
    for x, y, dx, dy in passes:
        part = a[y::dy, x::dx]
        if part.shape[0] and part.shape[1]:
            raw += b"".join(b"\0" + row.astype(">u%d" % a.dtype.itemsize)
                            .tobytes() for row in part)
    data = zlib.compress(raw)
    step = len(data) // cuts + 1
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n")
        f.write(png_chunk(b"IHDR", struct.pack(
            ">IIBBBBB", width, height, depth, color, 0, 0, int(interlaced))))
        f.write(png_chunk(b"tEXt", b"Comment\0by hand"))
        for at in range(0, len(data), step):
            f.write(png_chunk(b"IDAT", data[at:at + step]))
        f.write(png_chunk(b"IEND", b""))


def png_files(folder, rng):
    from PIL import Image
    i = 0
    for mode, channels in (("L", 0), ("LA", 2), ("RGB", 3), ("RGBA", 4)):
        for side in ((33, 50), (1, 1), (7, 130)):
            shape = side + ((channels,) if channels else ())
            for a in (picture(rng, shape), numbers(rng, "u1", shape)):
                for level in (1, 9):
                    path = os.path.join(folder, "%d.png" % i)
                    Image.fromarray(a, mode).save(path, compress_level=level)
                    i += 1
                    yield image_file("png by Pillow: " + mode, path, "png")
    for colors in (2, 4, 16, 256):
        path = os.path.join(folder, "palette_%d.png" % colors)
        image = Image.fromarray(picture(rng, (30, 41, 3)), "RGB")
        image.quantize(colors).save(path)
        yield image_file("png by Pillow: palette", path, "png", "RGB")
    path = os.path.join(folder, "bits.png")
    bits = numbers(rng, "bool", (19, 21))
    Image.fromarray(bits).convert("1").save(path)
    yield image_file("png by Pillow: 1 bit", path, "png", "L")
    path = os.path.join(folder, "deep.png")
    deep = numbers(rng, "u2", (21, 34))
    Image.fromarray(deep).save(path)
    yield File("png by Pillow: 16 bits", "png", path, [Sample(deep)])


def png_by_hand(folder, rng):
    i = 0
    for interlaced in (False, True):
        for color, channels in ((0, 0), (2, 3), (4, 2), (6, 4)):
            for depth in ("u1", "u2"):
                for side in ((33, 50), (1, 1), (3, 5), (8, 8)):
                    shape = side + ((channels,) if channels else ())
                    a = numbers(rng, depth, shape)
                    path = os.path.join(folder, "hand_%d.png" % i)
                    i += 1
                    write_png(path, a, color, interlaced, 1 + i % 3)
                    yield File("png by hand: %s" % (
                        "interlaced" if interlaced else "8 and 16 bits"),
                        "png", path, [Sample(a)])


# ----------------------------------------------------------- csv, indexed


def csv_files(folder, rng):
    import pandas
    i = 0
    for dtype in DTYPES:
        for rows, columns in ((1, 1), (1, 40), (5, 1), (6, 33)):
            a = numbers(rng, dtype, (rows, columns))
            if np.dtype(dtype).kind == "f":  # a text has no kind of NaN
                a = np.where(np.isfinite(a), a, np.ones_like(a))
            for packed in ("", "gzip"):
                for end in ("\n", "\r\n"):
                    path = os.path.join(folder, "%d.csv" % i)
                    told = rows if i % 2 else 0
                    i += 1
                    # float16 as float32 has digits enough.
                    b = a.astype("f4") if dtype == "float16" else a
                    pandas.DataFrame(b).to_csv(
                        path, header=False, index=False,
                        compression=packed or None,
                        **{LINE_END(pandas): end})
                    yield File("csv by pandas", "csv", path,
                               [Sample(row) for row in a], told, dtype)
    for dtype in DTYPES[:8] + ("float32", "float64"):
        a = numbers(rng, dtype, (4, 9))
        if np.dtype(dtype).kind == "f":
            a = np.where(np.isfinite(a), a, np.ones_like(a))
        path = os.path.join(folder, "np_%s.csv" % dtype)
        np.savetxt(path, a, delimiter=",",
                   fmt="%d" if np.dtype(dtype).kind in "iu" else "%.18e")
        yield File("csv by numpy.savetxt", "csv", path,
                   [Sample(row) for row in a], 0, dtype)


def LINE_END(pandas):
    """The argument has changed its name."""
    old = tuple(map(int, pandas.__version__.split(".")[:2])) < (1, 5)
    return "line_terminator" if old else "lineterminator"


def indexed_files(folder, rng):
    for i, sizes in enumerate(((10, 10, 10), (1,), (3, 0, 5, 4096, 1),
                               tuple(range(200)), (1200000, 7, 300001))):
        for shuffled in (False, True):
            for fmt in ("indexed_binary", "mmap_indexed_binary"):
                path = os.path.join(folder, "%d_%d.%s" % (i, shuffled, fmt))
                data = numbers(rng, "u1", (sum(sizes),))
                size = np.array(sizes, "<u8")
                off = np.concatenate([[0], np.cumsum(size)[:-1]]).astype("<u8")
                if shuffled:
                    order = rng.permutation(len(sizes))
                    size, off = size[order], off[order]
                data.tofile(path)
                off.tofile(path + ".off.idx")
                size.tofile(path + ".sz.idx")
                yield File(fmt + " by numpy", fmt, path,
                           [Sample(data[int(o):int(o) + int(s)])
                            for o, s in zip(off, size)])


# -------------------------------------------------------------- TensorFlow


def features(tf, **values):
    """An Example, cut into messages of one feature each: joined in any order
    they are the same Example."""
    parts = []
    for name, v in values.items():
        if isinstance(v, bytes):
            f = tf.train.Feature(bytes_list=tf.train.BytesList(value=[v]))
        elif v.dtype.kind == "f":
            f = tf.train.Feature(float_list=tf.train.FloatList(value=v))
        else:
            f = tf.train.Feature(int64_list=tf.train.Int64List(value=v))
        parts.append(tf.train.Example(features=tf.train.Features(
            feature={name: f})).SerializeToString())
    return parts


def tfrecord_files(tf, folder, rng):
    """Records with images, floats, int64s; features in any order."""
    ones = np.ones(1, "i8")

    def image(i):
        data = rng.bytes(int(rng.integers(0, 5000)))
        return (dict(image=data, size=ones * len(data), label=ones * i),
                np.frombuffer(data, "u1"), i)

    def encoded(i):
        data = rng.bytes(301)
        return ({"image/encoded": data, "image/class/label": ones * -i,
                 "image/format": b"jpeg", "image/height": ones},
                np.frombuffer(data, "u1"), -i)

    def floats(_i):
        v = rng.normal(size=77).astype("f4")
        return dict(values=v, few=np.ones(3, "f4")), v, None

    def ints(i):
        v = rng.integers(-2**63, 2**63 - 1, 50)
        return dict(values=v, label=ones * i), v, i

    def large(i):
        data = rng.bytes(700001)
        return dict(image=data, label=ones * i), np.frombuffer(data, "u1"), i

    for kind in (image, encoded, floats, ints, large):
        for packed in ("", "GZIP", "ZLIB"):
            for count in (1, 13) if kind is not large else (3,):
                path = os.path.join(folder, "%s_%d_%s.tfrecord"
                                    % (kind.__name__, count, packed))
                want = []
                with tf.io.TFRecordWriter(path, options=packed) as w:
                    for i in range(count):
                        values, array, label = kind(i)
                        parts = features(tf, **values)
                        rng.shuffle(parts)
                        record = b"".join(parts)
                        if i % 2:  # as the library itself lays it out
                            record = tf.train.Example.FromString(
                                record).SerializeToString()
                        w.write(record)
                        want.append(Sample(array, label))
                yield File("tfrecord by TensorFlow: %s" % (packed or "plain"),
                           "tfrecord", path, want)


LIBRARY_FILES = (
    ("npy", (npy_kinds, npy_several, npy_large, npy_refused)),
    ("npz", (npz_kinds, npz_containers, npz_large)),
    ("hdf5", (hdf5_kinds, hdf5_filters, hdf5_shapes)),
    ("jpeg", (jpeg_files,)),
    ("png", (png_files, png_by_hand)),
    ("csv", (csv_files,)),
    ("indexed_binary", (indexed_files,)),
)
