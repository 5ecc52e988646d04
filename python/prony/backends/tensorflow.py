#!/usr/bin/env python3
"""Training and inference in TensorFlow, for
`prony run -P exp.framework=tensorflow`.

Usage: tensorflow.py --model model.json [--params params.json] [NAME=VALUE …]

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
from ..results import FAILED, UNAVAILABLE, Refusal, guarded, warn

# What it says of itself otherwise would fill the log.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


class Run(program.Run):
    title = "TensorFlow"
    dtypes = {"bfloat16": "bfloat16", "float16": "float16",
              "float": "float32", "float32": "float32"}

    def prepare(self):
        try:
            import tensorflow
        except ImportError as e:
            raise program.cannot_import(self.title, "PRONY_TF_PYTHON",
                                        e) from e
        self.tf = tensorflow
        self._set_threads()
        self._choose_device(str(self.params["exp.gpus"]).strip())
        self._make_network()

    def version(self):
        return self.tf.__version__

    def _set_threads(self):
        threading = self.tf.config.threading
        threading.set_intra_op_parallelism_threads(self.threads)
        threading.set_inter_op_parallelism_threads(1)

    def _choose_device(self, gpus):
        config = self.tf.config
        there = config.list_physical_devices("GPU")
        if not gpus:
            config.set_visible_devices([], "GPU")
            return
        if not gpus.isdigit():
            raise Refusal(UNAVAILABLE, "exp.gpus=%s: the TensorFlow back-end "
                          "uses one GPU" % gpus)
        if int(gpus) >= len(there):
            raise Refusal(UNAVAILABLE, "exp.gpus=%s, but TensorFlow %s sees "
                          "%d GPUs here; -P exp.gpus='\"\"' uses the "
                          "processor" % (gpus, self.version(), len(there)))
        config.set_visible_devices([there[int(gpus)]], "GPU")

    def _make_network(self):
        import numpy
        from ..model import Model
        from .tf_net import Net
        from .tf_train import Trainer
        p = self.params
        rng = numpy.random.default_rng(int(p["nn.seed"]))
        self.tf.random.set_seed(int(p["nn.seed"]))
        self.model = Model(self.spec, self.training)
        arrays = self.model.read(p["nn.load"], warn)
        dtype = self.dtypes[p["exp.dtype"]]
        self.net = Net(self.model, self.model.first_tensors(arrays, rng),
                       dtype, "bfloat16" if p["nn.amp"] else dtype,
                       p["nn.dropout"])
        self.data = [self.net.inside(b) for b in self.model.batches(
            self.batch, arrays, p["nn.batches"], rng)]
        compiled = bool(p["nn.compile"]) or None
        if self.training:
            self.trainer = Trainer(
                self.net, program.optimizer_of(self.spec, p),
                keep=p["nn.save_gradients"])
            self.call = self.tf.function(self.trainer.step,
                                         jit_compile=compiled)
        else:
            self.call = self.tf.function(self.net.infer, jit_compile=compiled)

    def compute(self, batch):
        try:
            self.output, loss = self.call(batch)
            return float(loss) if self.training else self._wait()
        except self.tf.errors.ResourceExhaustedError as e:
            raise Refusal(FAILED, "out of memory: %s" % e.message) from e
        except self.tf.errors.UnimplementedError as e:
            raise Refusal(UNAVAILABLE, "this TensorFlow cannot compute it: %s"
                          % e.message) from e

    def _wait(self):
        if self.params["exp.gpus"] != "":
            self.output.numpy()

    def product(self, side):
        a = self.tf.cast(self.tf.random.normal([side, side]), self.net.compute)
        function = self.tf.function(lambda: self.tf.matmul(a, a))
        function()
        return lambda: function().shape

    def tensors(self):
        found = self.net.tensors()
        if self.training and self.params["nn.save_gradients"]:
            found.update(self.trainer.gradients())
        found["output"] = self.net.outside(self.output, self.spec["output"])
        return found


if __name__ == "__main__":
    sys.exit(guarded(lambda: program.main(Run, __doc__)))
