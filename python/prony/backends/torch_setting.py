"""Device, types and threads of a run in PyTorch, from the parameters."""

import contextlib
import os
import sys

from ..results import BAD_PARAMS, UNAVAILABLE, Refusal

DTYPES = {"float": "float32", "float32": "float32", "float16": "float16",
          "bfloat16": "bfloat16"}


def check(params):
    """What can be said before the seconds that importing PyTorch takes."""
    if int(params["exp.replica_batch"]) < 1:
        raise Refusal(BAD_PARAMS, "exp.replica_batch must be at least 1")
    if params["exp.dtype"] not in DTYPES:
        raise Refusal(UNAVAILABLE, "exp.dtype=%s: the PyTorch back-end "
                      "has float32, float16 and bfloat16"
                      % params["exp.dtype"])
    for name in ("nn.learning_rate", "nn.momentum", "nn.weight_decay"):
        if params[name] < 0 and params[name] != -1:
            raise Refusal(BAD_PARAMS, "%s=%g: it must not be below 0; -1 "
                          "means what the model says" % (name, params[name]))


def import_torch():
    try:
        import torch
        return torch
    except ImportError as e:
        raise Refusal(
            UNAVAILABLE, "PyTorch cannot be imported by %s: %s; install it, "
            "set runtime.python or $PRONY_TORCH_PYTHON to a Python that has "
            "it, or run `make python-deps`" % (sys.executable, e)) from e


class Setting:
    """Where and how it is computed."""

    def __init__(self, params, spec):
        check(params)
        self.params, self.spec = params, spec
        self.torch = import_torch()
        self.batch = int(params["exp.replica_batch"])
        self.training = params["exp.phase"] == "training"
        self.device = self._device(str(params["exp.gpus"]))
        self.dtype = getattr(self.torch, DTYPES[params["exp.dtype"]])
        self.threads = (int(params["nn.threads"])
                        or len(os.sched_getaffinity(0)))
        self.torch.set_num_threads(self.threads)
        with contextlib.suppress(RuntimeError):  # only before the first use
            self.torch.set_num_interop_threads(1)

    def _device(self, gpus):
        if not gpus.strip():
            return self.torch.device("cpu")
        if not gpus.strip().isdigit():
            raise Refusal(UNAVAILABLE, "exp.gpus=%s: the PyTorch back-end "
                          "uses one GPU" % gpus)
        if not self.torch.cuda.is_available():
            raise Refusal(UNAVAILABLE, "exp.gpus=%s, but PyTorch %s sees no "
                          "GPU here; -P exp.gpus='\"\"' uses the processor"
                          % (gpus, self.torch.__version__))
        if int(gpus) >= self.torch.cuda.device_count():
            raise Refusal(UNAVAILABLE, "exp.gpus=%s, but there are %d GPUs"
                          % (gpus, self.torch.cuda.device_count()))
        return self.torch.device("cuda", int(gpus))

    @property
    def on_gpu(self):
        return self.device.type == "cuda"

    def synchronize(self):
        if self.on_gpu:
            self.torch.cuda.synchronize(self.device)

    def autocast(self):
        """How one batch is computed with nn.amp."""
        if not self.params["nn.amp"]:
            return contextlib.nullcontext()
        kind = self.torch.float16 if self.on_gpu else self.torch.bfloat16
        return self.torch.autocast(self.device.type, dtype=kind)

    def scaler(self):
        """Gradients in float16 vanish unless they are scaled."""
        if not (self.params["nn.amp"] and self.on_gpu and self.training):
            return None
        amp = self.torch.amp if hasattr(self.torch.amp, "GradScaler") \
            else self.torch.cuda.amp
        return amp.GradScaler()

    def compiler(self):
        """torch.compile with nn.compile, else None."""
        if not self.params["nn.compile"]:
            return None
        if not hasattr(self.torch, "compile"):
            raise Refusal(UNAVAILABLE, "nn.compile needs PyTorch 2, this is %s"
                          % self.torch.__version__)
        return self.torch.compile

    def memory_peak(self):
        if self.on_gpu:
            return self.torch.cuda.max_memory_allocated(self.device)
        import resource
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def _place(self, x):
        if not x.is_floating_point():
            return x.to(self.device)
        x = x.to(self.device, self.dtype)
        if self.params["nn.channels_last"] and x.dim() == 4:
            x = x.contiguous(memory_format=self.torch.channels_last)
        return x

    def to_device(self, batch):
        return {name: self._place(x) for name, x in batch.items()}
