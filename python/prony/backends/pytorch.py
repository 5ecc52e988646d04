#!/usr/bin/env python3
"""Training and inference in PyTorch, for `prony run -P exp.framework=pytorch`.

Usage: pytorch.py --model model.json [--params params.json] [NAME=VALUE …]

The model is what `prony model NAME --format json` prints; parameters have
prony's names (exp.replica_batch, nn.threads …), those not given their
defaults. Results are lines `__results.NAME__= JSON` on stdout.
"""

import os
import signal
import sys

if __package__ in (None, ""):  # started as a file, not as a module
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))))
    __package__ = "prony.backends"  # noqa: A001
    import prony.backends  # noqa: F401

from ..params import read, read_json
from ..program import Stop, arguments, stopped
from ..results import (FAILED, UNAVAILABLE, Progress, Refusal, guarded,
                       put_exp)
from .torch_run import Run
from .torch_setting import Setting


def make_run(setting):
    if (setting.spec.get("data") == "cartpole" and setting.training
            and not setting.params["nn.data"]):
        from .torch_cart import CartRun
        return CartRun(setting)
    return Run(setting)


def main():
    args = arguments(__doc__)
    run = make_run(Setting(read(args.params, args.words),
                           read_json(args.model)))
    put_exp("framework_title", "PyTorch")
    put_exp("framework_ver", run.torch.__version__)
    put_exp("model_title", run.spec["title"])
    signal.signal(signal.SIGTERM, Stop.on_signal)
    signal.signal(signal.SIGINT, Stop.on_signal)
    progress = Progress(args.params and os.path.dirname(
        os.path.abspath(args.params)))
    try:
        measure(run, progress)
        run.report()
        if run.params["nn.evaluate"]:
            run.evaluate()
        if run.params["nn.save"]:
            run.save()
    except Stop as e:
        raise stopped() from e
    finally:
        progress.end()


def measure(run, progress):
    """Whatever ends it, what was measured until then is reported."""
    try:
        run.measure(progress)
    except (Refusal, Stop):
        run.report_part()
        raise
    except RuntimeError as e:
        run.report_part()
        if Stop.asked:  # processes that decode were asked as well
            raise stopped() from e
        if isinstance(e, run.torch.cuda.OutOfMemoryError):
            raise Refusal(FAILED, "out of memory: %s" % e) from e
        if "not implemented for" in str(e):
            raise Refusal(UNAVAILABLE, "this PyTorch cannot compute it: %s"
                          % e) from e
        raise


if __name__ == "__main__":
    sys.exit(guarded(main))
