#!/usr/bin/python3
"""The examples of examples/python run: any iterable, PyTorch, tf.data, JAX, the
native loader; and what is counted in batches of TensorFlow. Each is skipped
without its framework ($PRONY_TORCH_PYTHON, $PRONY_TF_PYTHON,
$PRONY_JAX_PYTHON, or build/venv)."""

import os
import sys

from _python import FEW, SRC, has, interpreter, need_extension, run
from _tap import check, end

need_extension()


def example(name, variable=None, *modules, args="", before="", exits=False):
    python = interpreter(variable, *modules) if modules else sys.executable
    if not python:
        titles = {"torch": "PyTorch", "tensorflow": "TensorFlow", "jax": "JAX"}
        check(True, "%s # SKIP no %s; \"make python-deps\""
              % (name, titles.get(modules[0], modules[0])))
        return
    path = os.path.join(SRC, "examples", "python", name)
    got = run("%s\nimport runpy, sys\nsys.argv = ['x', %s]\n"
              "runpy.run_path(%r, run_name='__main__')\n"
              % (before, args, path), python, config=FEW, timeout=280,
              TF_CPP_MIN_LOG_LEVEL="3", JAX_PLATFORMS="cpu")
    whole = got.result and all(len(got.result[p]["rates"]) == 3
                               for p in ("IO", "SYNTHETIC", "FULL"))
    check(got.status == 0 and whole and ("exiting." in got.out) == exits,
          "examples/python/%s" % name, got.all)
    return got


got = example("wrap.py")
# Its sleeps are 2 and 1 ms: a busy machine makes them alike.
check("input bound: data alone" in got.out or "balanced: data" in got.out,
      "its verdict", got.out)
example("benchy_torch.py", "PRONY_TORCH_PYTHON", "torch", exits=True)
got = example("tf_data.py", "PRONY_TF_PYTHON", "tensorflow")
if got:
    r = got.result["FULL"]
    check([round(a * b) for a, b in zip(r["trial_throughput"],
                                        r["trial_time"])] == [5 * 64] * 3,
          "samples of TensorFlow's batches are counted", got.all)
example("jax_loop.py", "PRONY_JAX_PYTHON", "jax")
if has(sys.executable, "numpy", "PIL"):
    example("native_loader.py", args="'p'", before="""
import numpy as np, os
from PIL import Image
for c in "ab":
    os.makedirs("p/train/" + c)
    for i in range(64):
        Image.fromarray(np.random.default_rng(i).integers(
            0, 255, (40, 50, 3), "uint8")).save("p/train/%s/%d.jpg" % (c, i))
""")
else:
    check(True, "native_loader.py # SKIP no numpy or Pillow; install "
          "python3-numpy and python3-pil")
sys.exit(end())
