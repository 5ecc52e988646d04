#!/usr/bin/python3
"""Files of checkpoints, read by the libraries they are made for.

Usage: tensors_vs_python.py [WORD…]     (only rows whose name holds one of them)

Small checkpoints of every type of element are written by `prony run`. Layout
torch: torch.load finds the tensors, read whole and mapped, with weights only
and with any pickle, and with places that it computes; Python's zipfile finds
every CRC right. Layout plain: safetensors finds them, and so does a reader
written here from the format's description. Two runs write the same bytes, and
another seed writes others; ones are ones.

PyTorch comes from build/venv ("make python-deps"), as does safetensors; what
needs one that is not there is skipped. One line of TAP for each matter.
"""
import glob
import hashlib
import json
import os
import sys
import zipfile

from _emulate import SRC, Tap, run

VENV = os.path.join(SRC, "build", "venv", "bin", "python")

try:
    import torch
except ImportError:
    torch = None
    if os.path.exists(VENV) and not os.environ.get("PRONY_IN_VENV"):
        os.environ["PRONY_IN_VENV"] = "1"
        os.execv(VENV, [VENV, os.path.abspath(__file__)] + sys.argv[1:])
try:
    import safetensors
except ImportError:
    safetensors = None

# As in the option: bytes, name in safetensors, the number 1.
TYPES = {
    "fp16": (2, "F16", "003c"),
    "bf16": (2, "BF16", "803f"),
    "fp32": (4, "F32", "0000803f"),
    "fp64": (8, "F64", "000000000000f03f"),
    "int8": (1, "I8", "01"),
    "uint8": (1, "U8", "01"),
}
HIDDEN, FFN, VOCABULARY, HEADS, KV, LAYERS = 64, 160, 500, 4, 2, 3


# ------------------------------------------------------------------- running


def write(g, folder, layout, kind, *args, name="run"):
    """The folder of the one checkpoint that a run writes."""
    where = os.path.join(folder, name + "-checkpoints")
    r = run(folder, "default", "workflow.train=False",
            "workflow.generate_data=False", "workflow.checkpoint=True",
            "checkpoint.checkpoint_folder=" + where,
            "checkpoint.num_checkpoints_write=1",
            "checkpoint.num_checkpoints_read=1", "checkpoint.verify=True",
            "checkpoint.layout=" + layout, "model.type=transformer",
            "model.num_layers=%d" % LAYERS, "model.model_datatype=" + kind,
            "model.optimizer_datatype=" + kind,
            "model.transformer.hidden_size=%d" % HIDDEN,
            "model.transformer.ffn_hidden_size=%d" % FFN,
            "model.transformer.vocab_size=%d" % VOCABULARY,
            "model.transformer.num_attention_heads=%d" % HEADS,
            "model.transformer.num_kv_heads=%d" % KV, *args, name=name)
    if not g.check(r.status == 0, r.why() + r.text()[-500:]):
        return ""
    found = glob.glob(os.path.join(where, "**", "global_epoch*"),
                      recursive=True)
    g.equal(len(found), 1, "folders of checkpoints")
    return found[0] if found else ""


def files(folder):
    return sorted(glob.glob(os.path.join(folder, "*.pt")))


def wanted(path, kind):
    """Numbers of elements by name, from the formulas; None: another file."""
    inner = [HIDDEN, HIDDEN * (HIDDEN + 2 * HIDDEN // HEADS * KV),
             HIDDEN * HIDDEN, HIDDEN, 2 * HIDDEN * FFN, HIDDEN * FFN]
    if "model_states" not in os.path.basename(path):
        return None
    layers = {0: [HIDDEN * VOCABULARY], LAYERS + 1: [HIDDEN * VOCABULARY],
              LAYERS + 2: [HIDDEN]}
    return {"%d.%d" % (n, i): (size, kind)
            for n in range(LAYERS + 3)
            for i, size in enumerate(layers.get(n, inner))}


# ------------------------------------------------------------------- reading


def digest(data):
    return hashlib.sha256(bytes(data)).hexdigest()


def by_hand(path):
    """A safetensors file: name to (elements, type, bytes)."""
    with open(path, "rb") as f:
        data = f.read()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    if header.pop("__metadata__") != {"format": "pt"} or (8 + length) % 4096:
        raise ValueError("header")
    names = {safe: kind for kind, (_, safe, _) in TYPES.items()}
    at, found = 0, {}
    for name, t in header.items():
        first, last = t["data_offsets"]
        if first != at or len(t["shape"]) != 1:
            raise ValueError(name)
        at = last
        found[name] = (t["shape"][0], names[t["dtype"]],
                       data[8 + length + first:8 + length + last])
    if 8 + length + at != len(data):
        raise ValueError("%d bytes too many" % (len(data) - at - 8 - length))
    return found


def by_torch(path, **how):
    kinds = {torch.float16: "fp16", torch.bfloat16: "bf16",
             torch.float32: "fp32", torch.float64: "fp64",
             torch.int8: "int8", torch.uint8: "uint8"}
    found = torch.load(path, **how)
    return {name: (t.numel(), kinds[t.dtype],
                   t.contiguous().view(torch.uint8).numpy().tobytes())
            for name, t in found.items()}


def by_torch_computed(path):
    """Where contents are is computed from their sizes, not looked up."""
    from torch.utils.serialization import config
    config.load.calculate_storage_offsets = True
    try:
        return by_torch(path, weights_only=True, mmap=True)
    finally:
        config.load.calculate_storage_offsets = False


def by_safetensors(path):
    names = {safe: kind for kind, (_, safe, _) in TYPES.items()}
    with open(path, "rb") as f:
        found = safetensors.deserialize(f.read())
    return {name: (t["shape"][0], names[t["dtype"]], bytes(t["data"]))
            for name, t in found}


def readers(g, layout):
    """What reads such a file, by name."""
    if layout == "plain":
        if not safetensors:
            g.skip = "no safetensors; \"make python-deps\""
        return dict({"by hand": by_hand},
                    **({"safetensors": by_safetensors} if safetensors else {}))
    if not torch:
        g.skip = "no PyTorch; \"make python-deps\""
        return {}
    old = {
        "weights only": lambda p: by_torch(p, weights_only=True),
        "any pickle": lambda p: by_torch(p, weights_only=False),
    }
    if torch.__version__.startswith("1."):
        return old
    return {
        **old,
        "mapped": lambda p: by_torch(p, weights_only=False, mmap=True),
        "weights only, mapped":
            lambda p: by_torch(p, weights_only=True, mmap=True),
        "computed places": by_torch_computed,
    }


# -------------------------------------------------------------------- checks


def check_file(g, path, layout, kind):
    """Every reader finds the same; returns it."""
    name = os.path.basename(path)
    seen = {}
    for how, read in readers(g, layout).items():
        found = read(path)
        if seen:
            first = next(iter(seen.values()))
            g.check(found == first, "%s, %s: not as the first" % (name, how))
        seen[how] = found
    if not seen:
        return {}
    found = next(iter(seen.values()))
    g.check(found, name + ": no tensors")
    for tensor, (elements, got, data) in found.items():
        g.equal(got, kind, "%s, %s: type" % (name, tensor))
        g.equal(len(data), elements * TYPES[kind][0], "%s, %s: bytes" % (
            name, tensor))
    want = wanted(path, kind)
    if want is not None:
        g.equal({t: v[:2] for t, v in found.items()}, want, name)
    return found


def check_zip(g, path):
    with zipfile.ZipFile(path) as z:
        g.equal(z.testzip(), None, os.path.basename(path) + ": CRC")
        names = z.namelist()
        g.equal(len(names), len(set(names)), "different members")
        for word in ("data.pkl", "byteorder", "version",
                     ".data/serialization_id"):
            g.check("archive/" + word in names, "no member " + word)


def reads(g, folder, layout, kind):
    where = write(g, folder, layout, kind)
    paths = files(where) if where else []
    g.check(len(paths) >= 2, "files: %r" % paths)
    blocks = []
    for path in paths:
        if layout == "torch":
            check_zip(g, path)
        for _, _, data in check_file(g, path, layout, kind).values():
            blocks += [data[i:i + 4096] for i in range(0, len(data), 4096)
                       if i + 4096 <= len(data)]
    g.equal(len(set(blocks)), len(blocks), "different blocks")


def repeats(g, folder, layout):
    """The same bytes from two runs, with other block sizes and writers too;
    others from another seed."""
    rows = (("one", ()), ("two", ()),
            ("three", ("checkpoint.block_size=5000", "checkpoint.writers=1")),
            ("four", ("checkpoint.engine=direct", "checkpoint.fsync=true")),
            ("other", ("checkpoint.seed=1",)))
    sums = {}
    for name, args in rows:
        where = write(g, folder, layout, "bf16", *args, name=name)
        sums[name] = {}
        for path in files(where) if where else []:
            with open(path, "rb") as f:
                sums[name][os.path.basename(path)] = digest(f.read())
    for name in ("two", "three", "four"):
        g.equal(sums[name], sums["one"], name)
    g.equal(sums["other"].keys(), sums["one"].keys(), "names")
    for name, other in sums["other"].items():
        g.check(other != sums["one"][name], "another seed, the same " + name)


def ones(g, folder, layout, kind):
    where = write(g, folder, layout, kind, "checkpoint.randomize_tensor=False")
    for path in files(where) if where else []:
        found = check_file(g, path, layout, kind)
        for name, (elements, _, data) in found.items():
            g.check(data == bytes.fromhex(TYPES[kind][2]) * elements,
                    "%s: not ones" % name)


def main():
    tap = Tap()
    for layout in ("plain", "torch"):
        for kind in TYPES:
            tap.row(layout + ": libraries read it", kind, reads, layout, kind)
            tap.row(layout + ": ones", kind, ones, layout, kind)
        tap.row(layout + ": the same every time", "bf16", repeats, layout)
    # Where places are computed is a setting of the whole process.
    tap.finish(jobs=1)


main()
