"""Device, types and threads of a run in PyTorch, from the parameters."""

import contextlib

from ..program import cannot_import
from ..results import UNAVAILABLE, Refusal

DTYPES = {"float": "float32", "float32": "float32", "float16": "float16",
          "bfloat16": "bfloat16"}


def import_torch():
    try:
        import torch
        return torch
    except ImportError as e:
        raise cannot_import("PyTorch", "PRONY_TORCH_PYTHON", e) from e


class Setting:
    """Where and how it is computed."""

    def __init__(self, params, training, threads):
        self.params, self.training = params, training
        self.torch = import_torch()
        self.device = self._device(str(params["exp.gpus"]))
        self.dtype = getattr(self.torch, DTYPES[params["exp.dtype"]])
        self.torch.set_num_threads(threads)
        with contextlib.suppress(RuntimeError):  # only before the first use
            self.torch.set_num_interop_threads(1)
        self.torch.backends.cudnn.benchmark = bool(
            params["pytorch.cudnn_benchmark"])

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
        """Of a GPU."""
        return self.torch.cuda.max_memory_allocated(self.device)

    def _place(self, x):
        if not x.is_floating_point():
            return x.to(self.device)
        x = x.to(self.device, self.dtype)
        if self.params["nn.channels_last"] and x.dim() == 4:
            x = x.contiguous(memory_format=self.torch.channels_last)
        return x

    def to_device(self, batch):
        return {name: self._place(x) for name, x in batch.items()}
