#!/usr/bin/python3
"""The models of models/ are the networks that were published: their numbers of
parameters, FLOPs, inputs and classes, against a table typed from the sources.

Usage: models_reference.py [WORD…]    (only models whose name holds one of them)

`prony model NAME --format json` says what a definition expands to. Parameters
must be as published, FLOPs within 1 % of what was published (twice the
multiply-adds). Where nobody published FLOPs the table has them from the layers'
sizes, worked out below without the notation. Then what any list of layers must
have: sums that are sums, inputs that came before, one output for each class; a
smaller input and other classes work, down to the smallest input, not below.

Torchvision's own counts are compared when $PRONY_TORCH_PYTHON, build/venv's or
this Python can import it; where none can, the last line says so.
One line of TAP for each model.
"""
import glob
import json
import math
import os
import subprocess
import sys

from _emulate import PRONY, SRC, Tap

NEAR = 0.01
VENV = os.path.join(SRC, "build", "venv", "bin", "python")


def dense(*widths):
    """FLOPs of linear layers one after the other."""
    return 2 * sum(a * b for a, b in zip(widths, widths[1:]))


def bottlenecks(units, size=224):
    """FLOPs of a ResNet of bottlenecks with the stride in the 3x3."""
    size //= 2
    total = 3 * 49 * 64 * size ** 2
    size //= 2
    ins = 64
    for stage, count in enumerate(units):
        width, before = 64 << stage, size
        size //= 2 if stage else 1
        for unit in range(count):
            total += ins * width * (size if unit else before) ** 2
            total += (9 * width ** 2 + 4 * width ** 2) * size ** 2
            total += 0 if unit else ins * 4 * width * size ** 2
            ins = 4 * width
    return 2 * (total + ins * 1000)


def googlenet():
    """FLOPs from table 1 of the paper, the widths as printed there."""
    rows = [(28, 192, 64, 96, 128, 16, 32, 32),
            (28, 256, 128, 128, 192, 32, 96, 64),
            (14, 480, 192, 96, 208, 16, 48, 64),
            (14, 512, 160, 112, 224, 24, 64, 64),
            (14, 512, 128, 128, 256, 24, 64, 64),
            (14, 512, 112, 144, 288, 32, 64, 64),
            (14, 528, 256, 160, 320, 32, 128, 128),
            (7, 832, 256, 160, 320, 32, 128, 128),
            (7, 832, 384, 192, 384, 48, 128, 128)]
    total = 3 * 49 * 64 * 112 ** 2 + (64 * 64 + 9 * 64 * 192) * 56 ** 2
    for size, ins, one, r3, three, r5, five, pool in rows:
        total += size ** 2 * (ins * (one + r3 + r5 + pool) + 9 * r3 * three
                              + 25 * r5 * five)
    return 2 * (total + 1024 * 1000)


# name: title, input, classes, item, parameters, their source, FLOPs, their
# source, and the smallest square input (0: any, or only its own).
# "torchvision" is the metadata of its weights: num_params, and GFLOPS, which
# are multiply-adds. "timm" is results/benchmark-infer-*.csv of that project,
# infer_gmacs. "DLBS" is docs/models/models.md of that project.
IMAGE = [3, 224, 224]
WIDE = [3, 299, 299]
MODELS = {
    "acoustic_model": (
        "AcousticModel", [540], 8192, "sample", 34678784, "DLBS",
        dense(540, 2048, 2048, 2048, 2048, 2048, 8192), "widths", 0),
    "alexnet": (
        "AlexNet", [3, 227, 227], 1000, "image", 62378344, "DLBS",
        2 * 1.14e9, "DLBS", 67),
    "alexnet_owt": (
        "AlexNetOWT", [3, 227, 227], 1000, "image", 61100840,
        "DLBS, torchvision", 2 * 0.714e9, "torchvision", 67),
    "deep_mnist": (
        "DeepMNIST", [1, 28, 28], 10, "image", 11972510, "DLBS",
        dense(784, 2500, 2000, 1500, 1000, 500, 10), "widths", 0),
    "sensor_net": (
        "SensorNet", [784], 16, "sample",
        785 * 1024 + 2 * 1025 * 1024 + 1025 * 16, "DLBS's prototxt",
        dense(784, 1024, 1024, 1024, 16), "widths", 0),
    "text_cnn": (
        "TextCNN", [1, 59, 128], 10, "sentence",
        (9 * 128 + 3) * 128 + 385 * 10, "DLBS's prototxt",
        2 * (9 * 128 * 128 * 59 + 384 * 10), "widths", 0),
    "googlenet": (
        "GoogleNet", IMAGE, 1000, "image", 6998552, "DLBS",
        googlenet(), "table 1 of the paper", 31),
    "inception3": (
        "InceptionV3", WIDE, 1000, "image", 27161264 - 3326696,
        "torchvision less its auxiliary head", 2 * 5.713e9, "torchvision", 75),
    "inception4": (
        "InceptionV4", WIDE, 1000, "image", 42743133 - 2 * 31584 - 149,
        "DLBS less what Caffe's 149 norms keep; timm", 2 * 12.28e9, "timm",
        75),
    "inception_resnet_v2": (
        "InceptionResNetV2", WIDE, 1000, "image", 55843464, "timm",
        2 * 13.18e9, "timm", 75),
    "overfeat": (
        "Overfeat", [3, 231, 231], 1000, "image", 145920872, "DLBS",
        2 * 2.81e9, "Sermanet et al. 2013, connections of the fast model", 71),
    "resnet18": (
        "ResNet18", IMAGE, 1000, "image", 11689512, "torchvision",
        2 * 1.814e9, "torchvision", 1),
    "resnet34": (
        "ResNet34", IMAGE, 1000, "image", 21797672, "torchvision",
        2 * 3.664e9, "torchvision", 1),
    "resnet50": (
        "ResNet50", IMAGE, 1000, "image", 25557032, "torchvision",
        2 * 4.089e9, "torchvision", 1),
    "resnet101": (
        "ResNet101", IMAGE, 1000, "image", 44549160, "torchvision",
        2 * 7.801e9, "torchvision", 1),
    "resnet152": (
        "ResNet152", IMAGE, 1000, "image", 60192808, "torchvision",
        2 * 11.514e9, "torchvision", 1),
    "resnet200": (
        "ResNet200", IMAGE, 1000, "image", 64850035 - 2 * 88000 - 203,
        "DLBS less what Caffe's 203 norms keep; timm", 2 * 15.07e9, "timm", 1),
    "resnet269": (
        "ResNet269", IMAGE, 1000, "image", 102326456 - 2 * 126400 - 272,
        "DLBS less what Caffe's 272 norms keep",
        bottlenecks((3, 30, 48, 8)), "units", 1),
    "vgg11": (
        "VGG11", IMAGE, 1000, "image", 132863336, "DLBS, torchvision",
        2 * 7.609e9, "torchvision", 32),
    "vgg13": (
        "VGG13", IMAGE, 1000, "image", 133047848, "DLBS, torchvision",
        2 * 11.308e9, "torchvision", 32),
    "vgg16": (
        "VGG16", IMAGE, 1000, "image", 138357544, "DLBS, torchvision",
        2 * 15.47e9, "torchvision", 32),
    "vgg19": (
        "VGG19", IMAGE, 1000, "image", 143667240, "DLBS, torchvision",
        2 * 19.632e9, "torchvision", 32),
    "xception": (
        "Xception", WIDE, 1000, "image", 22910480 - 54528,
        "Keras less running statistics", 2 * 8.4e9, "timm", 7),
    "lenet": (
        "LeNet", [1, 28, 28], 10, "image", 1663370,
        "McMahan et al. 2017, which uses the same network",
        2 * (25 * 32 * 784 + 25 * 32 * 64 * 196 + 3136 * 512 + 512 * 10),
        "widths", 4),
}

# What torchvision calls them, and what it is asked for.
TORCHVISION = {
    "alexnet_owt": ("alexnet", {}),
    "inception3": ("inception_v3", {"aux_logits": False,
                                    "init_weights": False}),
}
for _n in (18, 34, 50, 101, 152):
    TORCHVISION["resnet%d" % _n] = ("resnet%d" % _n, {})
for _n in (11, 13, 16, 19):
    TORCHVISION["vgg%d" % _n] = ("vgg%d" % _n, {"init_weights": False})

# Counts on the device "meta", where weights take neither memory nor time;
# PyTorch before 2.0 makes them.
COUNT = """
import contextlib, json, sys, torch
from torchvision import models
torch.set_num_threads(2)
wanted = json.load(sys.stdin)
meta = torch.device("meta")
with meta if hasattr(meta, "__enter__") else contextlib.nullcontext():
    print(json.dumps({
        name: sum(p.numel() for p in
                  getattr(models, peer)(**opts).parameters())
        for name, (peer, opts) in wanted.items()}))
"""


def torchvision_counts():
    """Of each model that it has, or why there are none."""
    why = "no Python with torchvision; name one by $PRONY_TORCH_PYTHON"
    for python in (os.environ.get("PRONY_TORCH_PYTHON"), VENV, sys.executable):
        if not python or not os.path.exists(python):
            continue
        try:
            r = subprocess.run([python, "-W", "ignore", "-c", COUNT],
                               input=json.dumps(TORCHVISION), text=True,
                               capture_output=True, timeout=300, check=False)
        except (OSError, subprocess.TimeoutExpired) as e:
            why = "%s: %s" % (python, e)
            continue
        if r.returncode == 0:
            return json.loads(r.stdout), ""
        if python == os.environ.get("PRONY_TORCH_PYTHON"):
            why = "%s: %s" % (python, (r.stderr.strip() or "?").split("\n")[-1])
    return {}, why


# ------------------------------------------------------------------ checking


def expand(name, *args):
    """What `prony model` says, or None and its complaint."""
    r = subprocess.run([PRONY, "model", name, "--format", "json", *args],
                       capture_output=True, text=True, timeout=60, check=False,
                       env={"PRONY_SHARE": SRC, **os.environ})
    if r.returncode:
        return None, "status %d: %s" % (r.returncode, r.stderr.strip())
    return json.loads(r.stdout), ""


def check_list(g, m, classes):
    """What holds for any list of layers."""
    known = {}
    for at, layer in enumerate(m["layers"]):
        name = layer["name"]
        g.check(name not in known, "two layers are called '%s'" % name)
        for i in layer["inputs"]:
            g.check(i in known, "'%s' reads '%s', which is not before it"
                    % (name, i))
        g.check((layer["op"] == "input") == (at < len(m["inputs"])),
                "where the inputs are")
        g.check(min(layer["shape"]) > 0, "shape of '%s'" % name)
        known[name] = layer
    for key in ("params", "flops"):
        g.equal(sum(x[key] for x in m["layers"]), m[key], "sum of " + key)
    g.equal(m["layers"][0]["shape"], m["input"], "shape of the input")
    g.equal(m["layers"][-1]["name"], m["output"], "output")
    g.equal(known[m["output"]]["shape"], [classes], "shape of the output")
    read = {i for layer in m["layers"] for i in layer["inputs"]}
    read |= {i for loss in m["losses"] for i in loss["target"]}
    g.equal(set(known) - read, {m["output"]}, "layers that nothing reads")


def check_optimizer(g, o):
    g.check(o["name"] in ("sgd", "adam"), "optimizer '%s'" % o["name"])
    g.check(0 < o["learning_rate"] <= 0.1, "learning rate %r"
            % o["learning_rate"])
    g.check(0 <= o["weight_decay"] < 0.01, "weight decay %r"
            % o["weight_decay"])


def published(g, _, name):
    title, shape, classes, item, params, source, flops, counted, _ = \
        MODELS[name]
    m, why = expand(name)
    if not g.check(m, why):
        return
    for key, want in (("schema", "prony.model/2"), ("name", name),
                      ("title", title), ("item", item), ("input", shape),
                      ("classes", classes)):
        g.equal(m[key], want, key)
    g.equal(m["params"], params, "parameters (%s)" % source)
    g.check(abs(m["flops"] / flops - 1) <= NEAR,
            "%.4g FLOPs, want %.4g (%s)" % (m["flops"], flops, counted))
    g.check(m["says"].endswith("."), "says: no sentence")
    said = m.get("reference", {})
    g.equal(said.get("params"), params, "parameters of 'reference'")
    g.check(said.get("source"), "'reference' has no source")
    if "flops" in said:
        g.check(abs(said["flops"] / flops - 1) < 1e-3,
                "FLOPs of 'reference': %.4g, want %.4g"
                % (said["flops"], flops))
    check_optimizer(g, m["optimizer"])
    check_list(g, m, classes)


def other_sizes(g, _, name):
    shape, classes, smallest = MODELS[name][1], MODELS[name][2], MODELS[name][8]
    m, why = expand(name, "--classes", "7")
    if g.check(m, why):
        check_list(g, m, 7)
        g.equal(math.prod(m["input"]), math.prod(shape), "input")
        g.check(m["params"] < MODELS[name][4], "as many parameters as before")
    if not smallest:
        return
    size = "%d,%d,%d" % (shape[0], smallest, smallest)
    m, why = expand(name, "--input", size)
    if g.check(m, "input %s: %s" % (size, why)):
        check_list(g, m, classes)
    size = "%d,%d,%d" % (shape[0], smallest - 1, smallest - 1)
    m, why = expand(name, "--input", size)
    g.check(not m and "status 3" in why, "input %s: %s"
            % (size, why or "accepted"))


def is_classifier(path):
    """Whether it has no losses of its own; the others are counted by hand."""
    with open(path, encoding="utf-8") as f:
        return not any(line.startswith("losses:") for line in f)


def same_names(g, _):
    here = {os.path.basename(p)[:-5]
            for p in glob.glob(os.path.join(SRC, "models", "*.yaml"))
            if is_classifier(p)}
    g.equal(here - set(MODELS), set(), "models without a row here")
    g.equal(set(MODELS) - here, set(), "rows without a model")


def torchvision(g, _):
    counts, g.skip = torchvision_counts()
    for name, count in counts.items():
        g.equal(MODELS[name][4], count, "parameters of " + name)


def main():
    tap = Tap()
    tap.row("every model has a row", "", same_names)
    for name in MODELS:
        tap.row(name, "published", published, name)
        tap.row(name, "other sizes", other_sizes, name)
    tap.row("torchvision", "", torchvision)
    tap.finish()


main()
