"""Runs of prony that native_vs_torch.py compares with PyTorch."""
import glob
import json
import os
import subprocess
import sys

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
PRONY = os.path.abspath(os.environ.get("PRONY")
                        or os.path.join(SRC, "build", "prony"))
VENV = os.path.join(SRC, "build", "venv", "bin", "python")
THREADS, BATCH, CLASSES, STEPS = 2, 4, 10, 10
# Side of the input, where 64 is too little (resnet269: rounding alone moves
# what comes out by 2 %) or more than is needed.
SIDES = {"inception3": 107, "inception4": 107, "inception_resnet_v2": 107,
         "xception": 75, "overfeat": 103, "vgg11": 48, "vgg13": 48,
         "vgg16": 48, "vgg19": 48, "alexnet": 67, "alexnet_owt": 67,
         "resnet269": 128}
# Other tests run at the same time: threads that wait must not spin.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
sys.path.insert(0, os.path.join(SRC, "python"))


class Wrong(Exception):
    pass


def skip(why):
    print("1..0 # SKIP " + why)
    sys.exit(77)


def need_torch(script):
    """Goes on in an interpreter that has it."""
    try:
        import torch  # noqa: F401
        return
    except ImportError:
        pass
    for python in (os.environ.pop("PRONY_TORCH_PYTHON", ""), VENV):
        if python and os.access(python, os.X_OK) \
                and python != sys.executable \
                and python not in os.environ.get("PRONY_TRIED", "").split(":"):
            os.environ["PRONY_TRIED"] = (
                os.environ.get("PRONY_TRIED", "") + ":" + python)
            os.execv(python, [python, os.path.abspath(script)]
                     + sys.argv[1:])
    skip("no PyTorch; \"make python-deps\"")


class Prony:
    """Runs of one model, each in a folder of its own."""

    def __init__(self, model, folder):
        self.model, self.folder, self.count = model, folder, 0
        self.opts, self.tiny, self.data = {}, False, ""

    def _argv(self, out, params):
        words = {"exp.model": self.model, "exp.model_opts": self.opts,
                 "exp.gpus": "", "exp.replica_batch": BATCH,
                 "exp.num_warmup_batches": 0, "exp.num_batches": 1,
                 "nn.threads": THREADS, "nn.dropout": False,
                 "nn.peak": False, "nn.tiny": self.tiny,
                 "nn.data": self.data}
        words.update((name.replace("_", ".", 1), value)
                     for name, value in params.items())
        argv = [PRONY, "run", "-o", out]
        for name, value in words.items():
            argv += ["-P", "%s=%s" % (name, json.dumps(value))]
        return argv

    def run(self, **params):
        """(folder, results) of the one experiment. Names: exp_x, nn_x."""
        self.count += 1
        out = os.path.join(self.folder, "run%d" % self.count)
        done = subprocess.run(self._argv(out, params), stdout=subprocess.PIPE,
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
            raise Wrong("prony run failed (%d): %s"
                        % (done.returncode, said[-600:]))
        return found[0], result.get("results", {})

    def spec(self):
        """(The expanded model, the file of the model's own batches or None),
        as back-ends get them."""
        where, _ = self.run(exp_framework="pytorch", exp_status="simulate",
                            exp_num_batches=STEPS)
        with open(where + "/model.json", encoding="utf-8") as f:
            spec = json.load(f)
        batches = where + "/batches.safetensors"
        return spec, batches if os.path.exists(batches) else None

    def native(self, tensors, **params):
        """(results, saved tensors)."""
        from prony.tensors import load
        into = os.path.join(self.folder, "saved.safetensors")
        _, results = self.run(exp_framework="native", nn_load=tensors,
                              nn_save=into, **params)
        saved = load(into)
        os.unlink(into)
        return results, saved


def is_classifier(spec):
    return [i["name"] for i in spec["inputs"]] == ["input", "labels"]


def reduce(model, prony):
    """The model's own small size; of those that tell classes of images, the
    input where it is small, else a smaller one. Returns what spec() does."""
    spec, _ = prony.spec()
    if not is_classifier(spec):
        prony.tiny = True
        if spec.get("data") == "cartpole":  # one batch, and no episodes
            prony.data = "noise"
        return prony.spec()
    prony.opts = {"classes": CLASSES}
    shape = spec["input"]
    if len(shape) == 3 and shape[1] > 64:
        side = SIDES.get(model, 64)
        prony.opts["input"] = [shape[0], side, side]
    return prony.spec()
