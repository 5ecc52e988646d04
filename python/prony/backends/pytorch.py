#!/usr/bin/env python3
"""Training and inference in PyTorch, for `prony run -P exp.framework=pytorch`.

Usage: pytorch.py --model model.json [--params params.json] [NAME=VALUE …]

The model is what `prony model NAME --format json` prints; parameters have
prony's names (exp.replica_batch, nn.threads …), those not given their
defaults. Results are lines `__results.NAME__= JSON` on stdout.
"""

import os
import sys

if __package__ in (None, ""):  # started as a file, not as a module
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))))
    __package__ = "prony.backends"  # noqa: A001
    import prony.backends  # noqa: F401

from .. import program
from ..results import guarded
from .torch_run import Run


def make_run(params, spec):
    if (spec.get("data") == "cartpole" and params["exp.phase"] == "training"
            and not params["nn.data"]):
        from .torch_cart import CartRun
        return CartRun(params, spec)
    return Run(params, spec)


if __name__ == "__main__":
    sys.exit(guarded(lambda: program.main(make_run, __doc__)))
