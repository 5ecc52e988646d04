"""benchy's loaders for PyTorch; see `prony.torch`."""

from prony.torch import BenchmarkDataLoader, BenchmarkGenericIteratorWrapper

__all__ = ["BenchmarkDataLoader", "BenchmarkGenericIteratorWrapper"]
