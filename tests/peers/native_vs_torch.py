#!/usr/bin/python3
"""The same network, weights and batch in the native engine and in PyTorch.

Usage: native_vs_torch.py [--all] [MODEL…]      (default: a few small ones)

For each model, reduced in input and classes, dropout off: weights and a batch
are made here, `prony run -P exp.framework=native` computes with them, and so
does PyTorch in this process, in float32 and in float64, building the network
from the model.json that prony writes for exp.framework=pytorch. Compared are

- outputs and loss of a training step and the running statistics of batch
  norm, to 1e-4 relative. Where PyTorch's float32 is itself further from
  float64 (deep networks of random weights with batch norm and no shortcuts
  amplify rounding), the distance from float64 may be 1.5 times PyTorch's;
- each weight gradient: its distance from the float64 gradient may be 1.5 times
  that of PyTorch's float32. Where a sum is near 0 its rounding decides whether
  a ReLU lets it pass, so PyTorch's own distance depends on luck: it is the
  largest of some orders of summing (plain, channels last, the batch reversed,
  one thread). Below 3e-6 of the gradient itself, or 1e-7 of all gradients
  together (a bias before batch norm has gradient 0), there is nothing to
  compare;
- weights after the step;
- losses of ten steps of SGD, to 2 %, at a learning rate that is small enough
  for PyTorch to agree with itself when the batch is reversed;
- outputs of inference (where the engine folds batch norm away), as those of
  training.

lenet also runs through the whole PyTorch back-end, as prony starts it, and
with Adam. Needs PyTorch: this interpreter's, that of $PRONY_TORCH_PYTHON, or
build/venv ("make python-deps"); without one, or without oneDNN, it is skipped.
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
THREADS = 2
# Other tests run at the same time: threads that wait must not spin.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def skip(why):
    print("1..0 # SKIP " + why)
    sys.exit(77)


def find_torch():
    """Goes on in an interpreter that has it."""
    try:
        import torch
        return torch
    except ImportError:
        pass
    for python in (os.environ.pop("PRONY_TORCH_PYTHON", ""), VENV):
        if python and os.access(python, os.X_OK) \
                and python != sys.executable \
                and python not in os.environ.get("PRONY_TRIED", "").split(":"):
            os.environ["PRONY_TRIED"] = (
                os.environ.get("PRONY_TRIED", "") + ":" + python)
            os.execv(python, [python, os.path.abspath(__file__)]
                     + sys.argv[1:])
    skip("no PyTorch: \"make python-deps\", or set PRONY_TORCH_PYTHON")
    return None


torch = find_torch()
import numpy as np  # noqa: E402

sys.path.insert(0, os.path.join(SRC, "python"))
from prony.backends.torch_net import BatchNorm, Net  # noqa: E402
from prony.tensors import load, save  # noqa: E402

SMALL = ["lenet", "deep_mnist", "alexnet_owt", "googlenet", "resnet18"]
BATCH, CLASSES = 4, 10
# Side of the input, where 64 is too little or more than is needed.
SIDES = {"inception3": 107, "inception4": 107, "inception_resnet_v2": 107,
         "xception": 75, "overfeat": 103, "vgg11": 48, "vgg13": 48,
         "vgg16": 48, "vgg19": 48, "alexnet": 67, "alexnet_owt": 67}
CLOSE, SAME_CURVE, STEPS = 1e-4, .02, 10
AS_NEAR, FLOOR, FLOOR_ALL = 1.5, 3e-6, 1e-7
MOMENTUM, DECAY = .9, 1e-4


class Wrong(Exception):
    pass


# ------------------------------------------------------------------ running


class Prony:
    """Runs of one model, each in a folder of its own."""

    def __init__(self, model, folder):
        self.model, self.folder, self.count = model, folder, 0
        self.opts = {}

    def run(self, **params):
        """(folder, results) of the one experiment. Names: exp_x, nn_x."""
        self.count += 1
        out = os.path.join(self.folder, "run%d" % self.count)
        words = {"exp.model": self.model, "exp.model_opts": self.opts,
                 "exp.gpus": "", "exp.replica_batch": BATCH,
                 "exp.num_warmup_batches": 0, "exp.num_batches": 1,
                 "nn.threads": THREADS, "nn.dropout": False,
                 "nn.peak": False}
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
                skip("no oneDNN: " + said.strip().splitlines()[0])
            raise Wrong("prony run failed (%d): %s"
                        % (done.returncode, said[-600:]))
        return found[0], result.get("results", {})

    def spec(self):
        """The expanded model, as back-ends get it."""
        where, _ = self.run(exp_framework="pytorch", exp_status="simulate")
        with open(where + "/model.json", encoding="utf-8") as f:
            return json.load(f)

    def native(self, tensors, **params):
        """(results, saved tensors)."""
        into = os.path.join(self.folder, "saved.safetensors")
        _, results = self.run(exp_framework="native", nn_load=tensors,
                              nn_save=into, **params)
        saved = load(into)
        os.unlink(into)
        return results, saved


def reduce(model, prony):
    """The model's own input where it is small, else a smaller one."""
    prony.opts = {"classes": CLASSES}
    shape = prony.spec()["input"]
    if len(shape) == 3 and shape[1] > 64:
        side = SIDES.get(model, 64)
        prony.opts["input"] = [shape[0], side, side]
    return prony.spec()


# -------------------------------------------------------------------- torch


def make_tensors(spec, seed):
    """Weights as an engine begins with, batch norm away from 1 and 0."""
    net = Net(spec, dropout=False)
    net.reset(torch.Generator().manual_seed(seed))
    rng = np.random.default_rng(seed)
    tensors = {n: t.detach().numpy().copy() for n, t in net.tensors().items()}
    owners = dict(zip(net.names, net.owners))
    for name, t in tensors.items():
        layer, _, kind = name.rpartition(".")
        if kind == "bias":
            tensors[name] = .1 * rng.standard_normal(t.shape)
        elif kind == "weight" and isinstance(owners[layer], BatchNorm):
            tensors[name] = 1 + .1 * rng.standard_normal(t.shape)
    shape = [BATCH] + spec["input"]
    tensors["input"] = rng.standard_normal(shape)
    tensors = {n: t.astype("float32") for n, t in tensors.items()}
    tensors["labels"] = rng.integers(0, spec["classes"], BATCH, "int32")
    return tensors


class Torch:
    """The network in PyTorch, with tensors loaded."""

    def __init__(self, spec, tensors, dtype=torch.float32, last=False):
        self.net = Net(spec, dropout=False).to(dtype)
        self.net.set_tensors(tensors)
        self.x = torch.from_numpy(tensors["input"]).to(dtype)
        self.labels = torch.from_numpy(tensors["labels"].astype("int64"))
        if last and self.x.dim() == 4:
            self.net.to(memory_format=torch.channels_last)
            self.x = self.x.contiguous(memory_format=torch.channels_last)

    def step(self, reverse=False):
        """Everything that one step computes, without the update."""
        self.net.train()
        x, labels = self.x, self.labels
        if reverse:
            x, labels = x.flip(0), labels.flip(0)
        output = self.net(x)
        loss = torch.nn.functional.cross_entropy(output, labels)
        loss.backward()
        found = {"loss": loss, "output": output.flip(0) if reverse else output}
        for name, t in self.net.tensors().items():
            if t.grad is not None:
                found["grad." + name] = t.grad
            if not t.requires_grad:
                found[name] = t
        return {n: t.detach().double().numpy() for n, t in found.items()}

    def statistics(self):
        return {n: t.double().numpy() for n, t in self.net.tensors().items()
                if not t.requires_grad}

    def infer(self):
        self.net.eval()
        with torch.inference_mode():
            return self.net(self.x).double().numpy()

    def losses(self, kind, rate, reverse=False):
        """Of some steps with an optimiser."""
        common = {"lr": rate, "weight_decay": DECAY}
        optimizer = (torch.optim.SGD(self.net.parameters(), momentum=MOMENTUM,
                                     **common) if kind == "sgd" else
                     torch.optim.Adam(self.net.parameters(), **common))
        x, labels = self.x, self.labels
        if reverse:
            x, labels = x.flip(0), labels.flip(0)
        self.net.train()
        found = []
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(self.net(x), labels)
            loss.backward()
            optimizer.step()
            found.append(float(loss.detach()))
        return found


def torch_distances(spec, tensors, want):
    """(what PyTorch computes in float32, how far each is from float64: the
    largest over some orders of summing)."""
    first, furthest = None, {}
    for last, reverse, threads in ((False, False, THREADS),
                                   (True, False, THREADS),
                                   (False, True, THREADS),
                                   (False, False, 1)):
        torch.set_num_threads(threads)
        found = Torch(spec, tensors, last=last).step(reverse)
        first = first or found
        for name, t in found.items():
            furthest[name] = max(np.linalg.norm(t - want[name]),
                                 furthest.get(name, 0))
    torch.set_num_threads(THREADS)
    return first, furthest


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


def check_step(what, found, theirs, want, torch_far):
    """To 1e-4, or as near to float64 as PyTorch."""
    d = far(found, theirs)
    if not d <= CLOSE and not (np.linalg.norm(found - want)
                               <= AS_NEAR * torch_far):
        raise Wrong("%s differ by %.2g, at most %.2g; from float64 by %.2g, "
                    "PyTorch by %.2g" % (
                        what, d, CLOSE, far(found, want),
                        torch_far / np.linalg.norm(want)))
    return d


def check_gradients(saved, want, torch_far):
    """The largest share of what is allowed, and whose it is."""
    names = {n for n in want if n.startswith("grad.")}
    everything = np.sqrt(sum(np.sum(want[n] ** 2) for n in names))
    worst, whose, wrong = 0, "", []
    found = {n for n in saved if n.startswith("grad.")}
    if found != names:
        raise Wrong("gradients of other tensors: %s"
                    % sorted(found ^ names)[:5])
    for name in sorted(names):
        g, size = want[name], np.linalg.norm(want[name])
        d = np.linalg.norm(saved[name] - g)
        floor = max(FLOOR * size, FLOOR_ALL * everything)
        share = d / max(torch_far[name], floor / AS_NEAR)
        if not share <= AS_NEAR:
            wrong.append("%s %.2f times as far (%.2g of itself, PyTorch %.2g)"
                         % (name, share, d / size, torch_far[name] / size))
        if share >= worst:
            worst, whose = share, name
    if wrong:
        raise Wrong("%d of %d gradients: %s" % (
            len(wrong), len(names), "; ".join(wrong[:4])))
    return worst, whose


def check_update(tensors, saved, rate):
    """Weights after a first step of SGD: w - rate * (g + DECAY * w)."""
    for name in [n[5:] for n in saved if n.startswith("grad.")]:
        w = tensors[name].astype("float64")
        want = w - rate * (saved["grad." + name] + DECAY * w)
        step = np.linalg.norm(want - w)
        d = np.linalg.norm(saved[name] - want)
        if not d <= max(1e-4 * step, 1e-6 * np.linalg.norm(w)):
            raise Wrong("update of %s: off by %.2g of %.2g" % (name, d, step))


def curves_differ(a, b):
    return max(abs(x - y) / max(abs(y), 1e-3) for x, y in zip(a, b))


def first_rate(spec, tensors, kind):
    """With which a first step of SGD takes away about 2 % of the loss. Random
    networks have gradients of any size: one rate for all does not do."""
    if kind == "adam":
        return 1e-3
    found = Torch(spec, tensors).step()
    square = sum(np.sum(g ** 2) for n, g in found.items()
                 if n.startswith("grad."))
    return float("%.0e" % (.02 * found["loss"] / square))


def smooth_losses(spec, tensors, kind):
    """(learning rate, losses) of the first rate at which PyTorch agrees with
    itself when the batch is reversed: above, no two programs would."""
    rate = first_rate(spec, tensors, kind)
    for _ in range(3):
        losses = Torch(spec, tensors).losses(kind, rate)
        other = Torch(spec, tensors).losses(kind, rate, reverse=True)
        if curves_differ(losses, other) <= SAME_CURVE / 4:
            return rate, losses
        rate /= 10
    raise Wrong("%s: PyTorch's own losses differ" % kind)


def check_network(spec, tensors):
    """Every layer has the shape and parameters that prony computed, and what
    is overwritten is needed by nobody."""
    grads = []
    for in_place in (False, True):
        net = Net(spec, dropout=False, in_place=in_place)
        net.set_tensors(tensors)
        seen = {}
        for name, op in zip(net.names, net.ops):
            op.register_forward_hook(
                lambda _op, _in, out, name=name: seen.update(
                    {name: list(out.shape[1:])}))
        loss = torch.nn.functional.cross_entropy(
            net(torch.from_numpy(tensors["input"])),
            torch.from_numpy(tensors["labels"].astype("int64")))
        loss.backward()
        grads.append([p.grad.clone() for p in net.parameters()])
        wrong = [l["name"] for l in spec["layers"]
                 if l["name"] in seen and seen[l["name"]] != l["shape"]]
        if wrong:
            raise Wrong("shapes of %s" % wrong[:5])
        if sum(p.numel() for p in net.parameters()) != spec["params"]:
            raise Wrong("another number of parameters")
    # The orders of sums are the same, so are the numbers.
    if max(far(a, b) for a, b in zip(*grads)) > 1e-5:
        raise Wrong("other gradients when values are overwritten")


def check_training(prony, spec, tensors, path):
    want = Torch(spec, tensors, torch.float64).step()
    theirs, torch_far = torch_distances(spec, tensors, want)
    rate = .01
    results, saved = prony.native(
        path, nn_save_gradients=True, nn_optimizer="sgd",
        nn_learning_rate=rate, nn_momentum=MOMENTUM, nn_weight_decay=DECAY)
    saved["loss"] = np.float64(results["loss"])

    def near(name):
        return check_step(name, saved[name], theirs[name], want[name],
                          torch_far[name])

    said = ["loss %.1e" % near("loss"), "outputs %.1e" % near("output")]
    worst, whose = check_gradients(saved, want, torch_far)
    said.append("gradients %.2f (%s)" % (worst, whose[5:]))
    statistics = [n for n in want if n.endswith((".mean", ".var"))]
    if statistics:
        said.append("statistics %.1e" % max(map(near, statistics)))
    check_update(tensors, saved, rate)
    return said


def check_steps(prony, spec, tensors, path, kind):
    rate, want = smooth_losses(spec, tensors, kind)
    results, _ = prony.native(
        path, exp_num_batches=STEPS, nn_optimizer=kind, nn_momentum=MOMENTUM,
        nn_learning_rate=rate, nn_weight_decay=DECAY)
    found = results["loss_data"]
    if not want[-1] < .99 * want[0]:
        raise Wrong("%s, learning rate %g: nothing is learned" % (kind, rate))
    if len(found) != STEPS or not curves_differ(found, want) <= SAME_CURVE:
        raise Wrong("%s, learning rate %g: losses %s, PyTorch %s" % (
            kind, rate, ["%.4f" % x for x in found],
            ["%.4f" % x for x in want]))
    return "%s %.1e (loss %.2f to %.2f at %.0e)" % (
        kind, curves_differ(found, want), want[0], want[-1], rate)


def with_statistics(spec, tensors, rng):
    """Running means and variances near those of the batch: what a trained
    network has."""
    mine = Torch(spec, tensors)
    for owner in mine.net.owners:
        if isinstance(owner, BatchNorm):
            owner.momentum = 1.0
    mine.net.train()
    with torch.no_grad():
        mine.net(mine.x)
    found = dict(tensors)
    for name, t in mine.statistics().items():
        noise = rng.uniform(.8, 1.25, t.shape)
        found[name] = (t * noise).astype("float32")
    return found


def check_inference(prony, spec, tensors, path):
    trained = with_statistics(spec, tensors, np.random.default_rng(9))
    save(path, trained)
    want = Torch(spec, trained, torch.float64).infer()
    theirs = [Torch(spec, trained, last=last).infer()
              for last in (False, True)]
    _, saved = prony.native(path, exp_phase="inference")
    return "inference %.1e" % check_step(
        "outputs of inference", saved["output"], theirs[0], want,
        max(np.linalg.norm(t - want) for t in theirs))


def check_program(prony, tensors, path):
    """The whole back-end gives what native gives, under the same names."""
    into = os.path.join(prony.folder, "theirs.safetensors")
    how = {"nn_save_gradients": True, "exp_num_batches": 3,
           "nn_learning_rate": .01}
    _, theirs = prony.run(exp_framework="pytorch", nn_load=path, nn_save=into,
                          runtime_python=sys.executable, **how)
    ours, saved = prony.native(path, **how)
    other = load(into)
    check_close("losses of the back-end", theirs["loss_data"],
                ours["loss_data"])
    if set(other) != set(saved):
        raise Wrong("tensors saved by one: %s"
                    % sorted(set(other) ^ set(saved))[:6])
    for name in other:
        check_close("saved " + name, other[name], saved[name], 1e-3)
    own = {"memory_planned", "exp.framework_title"}
    names = {n for n in set(ours) ^ set(theirs) if n not in own}
    if names:
        raise Wrong("results that one of the two has: %s" % sorted(names))
    if theirs["flops"] != ours["flops"] or theirs["params"] != ours["params"]:
        raise Wrong("flops %s, params %s; native has %s, %s" % (
            theirs["flops"], theirs["params"], ours["flops"],
            ours["params"]))
    return "back-end"


def check(model, folder):
    prony = Prony(model, folder)
    spec = reduce(model, prony)
    tensors = make_tensors(spec, 5)
    path = os.path.join(folder, "tensors.safetensors")
    save(path, tensors)
    check_network(spec, tensors)
    said = check_training(prony, spec, tensors, path)
    said.append(check_steps(prony, spec, tensors, path, "sgd"))
    if model == "lenet":
        said.append(check_steps(prony, spec, tensors, path, "adam"))
        said.append(check_program(prony, tensors, path))
    said.append(check_inference(prony, spec, tensors, path))
    return "%s, %s" % ("x".join(map(str, spec["input"])), ", ".join(said))


def main():
    torch.set_num_threads(THREADS)
    models = [a for a in sys.argv[1:] if not a.startswith("-")] or SMALL
    if "--all" in sys.argv[1:]:
        models = sorted(os.path.basename(p)[:-5] for p in glob.glob(
            os.path.join(SRC, "models", "*.yaml")))
    print("1..%d" % len(models))
    failed = 0
    for i, model in enumerate(models):
        folder = tempfile.mkdtemp(prefix="prony-native-")
        try:
            print("ok %d - %s: %s" % (i + 1, model, check(model, folder)),
                  flush=True)
        except Wrong as e:
            failed += 1
            print("not ok %d - %s: %s" % (i + 1, model, e), flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
