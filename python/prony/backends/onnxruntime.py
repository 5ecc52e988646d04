#!/usr/bin/env python3
"""Inference in ONNX Runtime, for `prony run -P exp.framework=onnxruntime`.

Usage: onnxruntime.py --model model.json [--params params.json] [NAME=VALUE …]

The model is what `prony model NAME --format json` prints; parameters have
prony's names (exp.replica_batch, nn.threads …), those not given their
defaults. Results are lines `__results.NAME__= JSON` on stdout.
"""

import os
import shutil
import sys
import tempfile

if __package__ in (None, ""):  # started as a file, not as a module
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(
        os.path.abspath(__file__))))
    __package__ = "prony.backends"  # noqa: A001
    import prony.backends  # noqa: F401

from .. import program
from ..results import BAD_FILE, UNAVAILABLE, Refusal, guarded, warn


class Run(program.Run):
    title = "ONNX Runtime"
    lacks = {"nn.profile": "no times of layers",
             "nn.amp": "one type alone", "nn.compile": "nothing to compile",
             "nn.save_gradients": "no gradients"}

    def prepare(self):
        if self.training:
            raise Refusal(UNAVAILABLE, "the ONNX Runtime back-end infers, it "
                          "does not train; -P exp.phase=inference")
        try:
            import onnxruntime
        except ImportError as e:
            raise program.cannot_import(self.title, "PRONY_ORT_PYTHON",
                                        e) from e
        self.ort = onnxruntime
        self.providers = self._providers(str(self.params["exp.gpus"]).strip())
        self.folder = tempfile.mkdtemp(prefix="prony-onnx-")
        try:
            self._make_network()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def version(self):
        return self.ort.__version__

    def _providers(self, gpus):
        if not gpus:
            return ["CPUExecutionProvider"]
        there = self.ort.get_available_providers()
        if not gpus.isdigit() or "CUDAExecutionProvider" not in there:
            raise Refusal(UNAVAILABLE, "exp.gpus=%s: the back-end uses one "
                          "GPU, and this ONNX Runtime %s has %s; -P "
                          "exp.gpus='\"\"' uses the processor"
                          % (gpus, self.version(), ", ".join(there)))
        return [("CUDAExecutionProvider", {"device_id": int(gpus)}),
                "CPUExecutionProvider"]

    def _options(self):
        options = self.ort.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        return options

    def _session(self, graph, name="model.onnx"):
        path = os.path.join(self.folder, name)
        graph.write(path)
        return self.ort.InferenceSession(path, self._options(),
                                         providers=self.providers)

    def _make_network(self):
        import numpy
        from ..model import Model
        from .onnx_net import Writer
        rng = numpy.random.default_rng(int(self.params["nn.seed"]))
        self.model = Model(self.spec, training=False)
        arrays = self.model.read(self.params["nn.load"], warn)
        self.data = self.model.batches(self.batch, arrays,
                                       self.params["nn.batches"], rng)
        self.arrays = self.model.first_tensors(arrays, rng)
        graph = Writer(self.model, self.arrays, self.batch).graph
        if not self.params["nn.save"]:
            self.arrays = None  # not needed twice
        self.session = self._session(graph)
        if self.params["nn.save"].endswith(".onnx"):
            self._keep_file()

    def _keep_file(self):
        try:
            shutil.copyfile(os.path.join(self.folder, "model.onnx"),
                            self.params["nn.save"])
        except OSError as e:
            raise Refusal(BAD_FILE, "%s: cannot write: %s" % (
                self.params["nn.save"], e.strerror)) from e

    def compute(self, batch):
        (self.output,) = self.session.run(None, batch)

    def product(self, side):
        import numpy
        from .onnx_file import Graph
        graph = Graph("product")
        graph.input("a", "float32", [side, side])
        graph.node("MatMul", ["a", "a"], "b")
        graph.output("b", "float32", [side, side])
        session = self.ort.InferenceSession(
            b"".join(graph.pieces()), self._options(),
            providers=self.providers)
        a = numpy.random.default_rng(1).random((side, side), "float32")
        session.run(None, {"a": a})
        return lambda: session.run(None, {"a": a})

    def tensors(self):
        return dict(self.arrays, output=self.output)

    def save(self):
        if not self.params["nn.save"].endswith(".onnx"):
            super().save()


if __name__ == "__main__":
    sys.exit(guarded(lambda: program.main(Run, __doc__)))
