#!/usr/bin/python3
"""The same network, weights and batch in the native engine, in TensorFlow and
in ONNX Runtime, each as `prony run` starts it.

Usage: frameworks.py [--all] [MODEL…]           (default: a few small ones)

For each model, in a small size and without dropout, compared are

- with TensorFlow: outputs and loss of a training step to 1e-4, running
  statistics of batch norm, gradients to 1e-3 of the length of all of them,
  names and shapes of what is saved, losses of ten steps of SGD to 2 %, outputs
  of inference;
- with ONNX Runtime: outputs of inference to 1e-4.

Deep networks of random weights amplify rounding: where the native engine is
further than that from itself with the batch reversed, so may the others be,
three times as far, and ten times for gradients, since rounding decides whether
a ReLU lets a sum near 0 pass. lenet also compares Adam.

A framework is looked for in this interpreter, in that of $PRONY_TF_PYTHON or
$PRONY_ORT_PYTHON, and in build/venv ("make python-deps"). Without one its
part is skipped, without both, or without oneDNN, the whole.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
PRONY = os.path.abspath(os.environ.get("PRONY")
                        or os.path.join(SRC, "build", "prony"))
VENV = os.path.join(SRC, "build", "venv", "bin", "python")
FRAMEWORKS = {"tensorflow": ("TensorFlow", "PRONY_TF_PYTHON"),
              "onnxruntime": ("ONNX Runtime", "PRONY_ORT_PYTHON")}
# Other tests run at the same time: threads that wait must not spin.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

SMALL = ["lenet", "alexnet_owt", "resnet18", "bert"]
BATCH, CLASSES, THREADS, STEPS = 4, 10, 2, 10
# Side of the input, where 64 is too little or more than is needed.
SIDES = {"inception3": 107, "inception4": 107, "inception_resnet_v2": 107,
         "xception": 75, "overfeat": 103, "vgg11": 48, "vgg13": 48,
         "vgg16": 48, "vgg19": 48, "alexnet": 67, "alexnet_owt": 67}
CLOSE, SAME_CURVE, SAME_GRADIENT = 1e-4, .02, 1e-3
SPREAD, SPREAD_GRADIENT = 3, 10


def skip(why):
    print("1..0 # SKIP " + why)
    sys.exit(77)


def has(python, module):
    code = "import importlib.util as u, sys; sys.exit(not u.find_spec(%r))"
    return python and os.access(python, os.X_OK) and subprocess.run(
        [python, "-c", code % module], check=False).returncode == 0


def interpreters():
    """Framework to an interpreter that has it."""
    found = {}
    for module, (_, variable) in FRAMEWORKS.items():
        for python in (sys.executable, os.environ.get(variable), VENV):
            if has(python, module):
                found[module] = python
                break
    return found


PYTHONS = interpreters()
if not PYTHONS:
    skip("no TensorFlow and no ONNX Runtime; \"make python-deps\", or set "
         "PRONY_TF_PYTHON, PRONY_ORT_PYTHON")
try:
    import numpy as np
except ImportError:  # whoever has a framework has it
    python = next(iter(PYTHONS.values()))
    os.execv(python, [python, os.path.abspath(__file__)] + sys.argv[1:])

sys.path.insert(0, os.path.join(SRC, "python"))
from prony.model import Model  # noqa: E402
from prony.tensors import load, save  # noqa: E402


class Wrong(Exception):
    pass


class Lacks(Exception):
    """A framework's back-end has not all that a model needs."""


# ------------------------------------------------------------------ running


class Prony:
    """Runs of one model, each in a folder of its own."""

    def __init__(self, model, folder):
        self.model, self.folder, self.count = model, folder, 0
        self.opts, self.tiny = {}, False

    def run(self, framework, **params):
        """(folder, results) of the one experiment. Names: exp_x, nn_x."""
        self.count += 1
        out = os.path.join(self.folder, "run%d" % self.count)
        words = {"exp.framework": framework, "exp.model": self.model,
                 "exp.model_opts": self.opts, "exp.gpus": "",
                 "exp.replica_batch": BATCH, "exp.num_warmup_batches": 0,
                 "exp.num_batches": 1, "nn.threads": THREADS,
                 "nn.dropout": False, "nn.peak": False}
        if self.tiny:
            words["nn.tiny"] = True
        if framework in PYTHONS:
            words["runtime.python"] = PYTHONS[framework]
        words.update((name.replace("_", ".", 1), value)
                     for name, value in params.items())
        argv = [PRONY, "run", "-o", out]
        for name, value in words.items():
            argv += ["-P", "%s=%s" % (name, json.dumps(value))]
        done = subprocess.run(argv, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True,
                              check=False, timeout=1200)
        found = glob.glob(os.path.join(out, "experiments", "*"))
        result = {}
        if len(found) == 1 and os.path.exists(found[0] + "/result.json"):
            with open(found[0] + "/result.json", encoding="utf-8") as f:
                result = json.load(f)
        if done.returncode or result.get("status") not in ("ok", "skipped"):
            said = done.stdout + result.get("reason", "") + str(
                result.get("log_tail", ""))
            if done.returncode == 4 and "oneDNN" in said:
                skip("no oneDNN; install libdnnl-dev")
            if "back-end has no" in said or "writer has no" in said:
                raise Lacks(result.get("reason", ""))
            raise Wrong("prony run failed (%d): %s"
                        % (done.returncode, said[-600:]))
        return found[0], result.get("results", {})

    def spec(self):
        """The expanded model, as back-ends get it."""
        where, _ = self.run("tensorflow", exp_status="simulate")
        with open(where + "/model.json", encoding="utf-8") as f:
            return json.load(f)

    def compute(self, framework, tensors, **params):
        """(results, saved tensors)."""
        into = os.path.join(self.folder, "saved.safetensors")
        _, results = self.run(framework, nn_load=tensors, nn_save=into,
                              **params)
        saved = load(into)
        os.unlink(into)
        return results, saved


def reduce(model, prony):
    """Classifiers of images have their own input where it is small, else a
    smaller one, and less classes; others have a small size of their own."""
    spec = prony.spec()
    names = [feed["name"] for feed in spec.get("inputs", [])]
    if names and names != ["input", "labels"]:
        prony.tiny = True
        return prony.spec()
    prony.opts = {"classes": CLASSES}
    shape = spec["input"]
    if len(shape) == 3 and shape[1] > 64:
        side = SIDES.get(model, 64)
        prony.opts["input"] = [shape[0], side, side]
    return prony.spec()


# ------------------------------------------------------------------ tensors


class Files:
    """Weights and a batch; the same with the batch reversed; the first with
    running statistics as a trained network has them."""

    def __init__(self, spec, folder):
        rng = np.random.default_rng(5)
        model = Model(spec, training=True)
        self.folder, self.rng = folder, rng
        self.tensors = model.first_tensors({}, rng)
        for name, t in self.tensors.items():
            if t.ndim == 1 and name.endswith((".weight", ".bias")):
                self.tensors[name] += (.1 * rng.standard_normal(
                    t.shape)).astype("float32")
        batch = {n: a.reshape(BATCH) if a.shape == (BATCH, 1) else a
                 for n, a in model.batches(BATCH, {}, "", rng)[0].items()}
        self.plain = self._save("plain", {**self.tensors, **batch})
        self.reverse = self._save("reverse", {
            **self.tensors, **{n: a[::-1].copy() for n, a in batch.items()}})
        self.batch = batch

    def _save(self, name, tensors):
        path = os.path.join(self.folder, name + ".safetensors")
        save(path, tensors)
        return path

    def trained(self, prony):
        """Paths, plain and reversed. With a rate of 0 statistics alone come
        near those of the batch."""
        _, saved = prony.compute(
            "native", self.plain, exp_num_batches=40, nn_learning_rate=0,
            nn_optimizer="sgd", nn_momentum=0, nn_weight_decay=0)
        tensors = dict(self.tensors)
        for name in tensors:
            if name.endswith((".mean", ".var")):
                tensors[name] = (saved[name] * self.rng.uniform(
                    .8, 1.25, saved[name].shape)).astype("float32")
        turned = {n: a[::-1].copy() for n, a in self.batch.items()}
        return (self._save("trained", {**tensors, **self.batch}),
                self._save("trained_reverse", {**tensors, **turned}))


# ------------------------------------------------------------------- checks


def far(a, b):
    """Relative distance of two arrays."""
    a, b = np.asarray(a, "float64"), np.asarray(b, "float64")
    if a.shape != b.shape:
        raise Wrong("shapes %s and %s" % (a.shape, b.shape))
    return np.linalg.norm(a - b) / max(np.linalg.norm(b), 1e-30)


def check_close(what, a, b, limit=CLOSE):
    d = far(a, b)
    if not d <= limit:
        raise Wrong("%s differ by %.2g, at most %.2g" % (what, d, limit))
    return d


def gradient_distance(theirs, ours):
    """Of all of them as one long vector, relative."""
    names = sorted(n for n in ours if n.startswith("grad."))
    distance = np.sqrt(sum(np.linalg.norm(
        theirs[n].astype("float64") - ours[n]) ** 2 for n in names))
    return distance / np.sqrt(sum(np.linalg.norm(
        ours[n].astype("float64")) ** 2 for n in names))


def check_gradients(theirs, ours, turned):
    d = gradient_distance(theirs, ours)
    limit = max(SAME_GRADIENT,
                SPREAD_GRADIENT * gradient_distance(turned, ours))
    if not d <= limit:
        raise Wrong("gradients differ by %.2g, at most %.2g" % (d, limit))
    return d


def check_saved(theirs, ours):
    if set(theirs) != set(ours):
        raise Wrong("tensors saved by one: %s"
                    % sorted(set(theirs) ^ set(ours))[:6])
    wrong = [n for n in ours if theirs[n].shape != ours[n].shape]
    if wrong:
        raise Wrong("other shapes: %s" % wrong[:5])


def check_step(prony, files):
    """One step of training in TensorFlow."""
    how = {"nn_save_gradients": True, "nn_optimizer": "sgd",
           "nn_learning_rate": 1e-4, "nn_momentum": .9, "nn_weight_decay": 0}
    ours, saved = prony.compute("native", files.plain, **how)
    _, turned = prony.compute("native", files.reverse, **how)
    theirs, other = prony.compute("tensorflow", files.plain, **how)
    check_saved(other, saved)
    limit = max(CLOSE, SPREAD * far(turned["output"][::-1], saved["output"]))
    said = ["loss %.1e" % check_close("losses", theirs["loss"], ours["loss"],
                                      limit),
            "outputs %.1e" % check_close("outputs", other["output"],
                                         saved["output"], limit),
            "gradients %.1e" % check_gradients(other, saved,
                                                turned)]
    for name in saved:
        if not name.startswith("grad.") and name != "output":
            check_close(name, other[name], saved[name], max(limit, 1e-3))
    return said


def curves_differ(a, b):
    return max(abs(x - y) / max(abs(y), 1e-3) for x, y in zip(a, b))


def first_rate(prony, files, kind):
    """With which a step of SGD takes away about 2 % of the loss."""
    if kind == "adam":
        return 1e-3
    results, saved = prony.compute("native", files.plain,
                                   nn_save_gradients=True)
    square = sum(np.sum(g.astype("float64") ** 2) for n, g in saved.items()
                 if n.startswith("grad."))
    return float("%.0e" % (.02 * results["loss"] / square))


def check_steps(prony, files, kind):
    rate = first_rate(prony, files, kind)
    for _ in range(3):
        how = {"exp_num_batches": STEPS, "nn_optimizer": kind,
               "nn_learning_rate": rate, "nn_momentum": .9,
               "nn_weight_decay": 1e-4}
        want, turned = (prony.run("native", nn_load=path, **how)[1][
            "loss_data"] for path in (files.plain, files.reverse))
        # Above some rate no two programs agree.
        if curves_differ(turned, want) <= SAME_CURVE / 4:
            break
        rate /= 10
    found = prony.run("tensorflow", nn_load=files.plain, **how)[1]["loss_data"]
    if not want[-1] < .99 * want[0]:
        raise Wrong("%s, learning rate %g: nothing is learned" % (kind, rate))
    if len(found) != STEPS or not curves_differ(found, want) <= SAME_CURVE:
        raise Wrong("%s, learning rate %g: losses %s, native %s" % (
            kind, rate, ["%.4f" % x for x in found],
            ["%.4f" % x for x in want]))
    return "%s %.1e" % (kind, curves_differ(found, want))


def check_inference(prony, paths, frameworks):
    how = {"exp_phase": "inference"}
    ours, saved = prony.compute("native", paths[0], **how)
    _, turned = prony.compute("native", paths[1], **how)
    limit = max(CLOSE, SPREAD * far(turned["output"][::-1], saved["output"]))
    said = []
    for framework in frameworks:
        title = FRAMEWORKS[framework][0]
        theirs, other = prony.compute(framework, paths[0], **how)
        check_saved(other, saved)
        said.append("%s infers %.1e" % (title, check_close(
            "outputs of inference in " + title, other["output"],
            saved["output"], limit)))
        check_results(theirs, ours, title)
    return said


def check_results(theirs, ours, title):
    """The same figures under the same names."""
    own = {"memory_planned", "cpu_share", "python", "replicas",
           "exp.framework_title"}
    names = (set(ours) ^ set(theirs)) - own
    if names:
        raise Wrong("results that one of native and %s has: %s"
                    % (title, sorted(names)))
    for name in ("flops", "params", "items", "item", "threads"):
        if theirs[name] != ours[name]:
            raise Wrong("%s: %s is %s, native's %s" % (
                title, name, theirs[name], ours[name]))


def check(model, folder):
    prony = Prony(model, folder)
    spec = reduce(model, prony)
    files = Files(spec, folder)
    said = []
    if "tensorflow" in PYTHONS:
        said += check_step(prony, files)
        said.append(check_steps(prony, files, "sgd"))
        if model == "lenet":
            said.append(check_steps(prony, files, "adam"))
    said += check_inference(prony, files.trained(prony), sorted(PYTHONS))
    return "%s, %s" % ("x".join(map(str, spec["layers"][0]["shape"])),
                       ", ".join(said))


def main():
    models = [a for a in sys.argv[1:] if not a.startswith("-")] or SMALL
    if "--all" in sys.argv[1:]:
        models = sorted(os.path.basename(p)[:-5] for p in glob.glob(
            os.path.join(SRC, "models", "*.yaml")))
    for module, (title, variable) in FRAMEWORKS.items():
        if module not in PYTHONS:
            print("# SKIPPED: no %s; \"make python-deps\", or set %s"
                  % (title, variable), flush=True)
    print("1..%d" % len(models))
    failed = 0
    for i, model in enumerate(models):
        folder = tempfile.mkdtemp(prefix="prony-frameworks-")
        try:
            print("ok %d - %s: %s" % (i + 1, model, check(model, folder)),
                  flush=True)
        except Lacks as e:
            print("ok %d - %s # SKIP %s" % (i + 1, model, e), flush=True)
            failed += model in SMALL
        except Wrong as e:
            failed += 1
            print("not ok %d - %s: %s" % (i + 1, model, e), flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
