"""The package `prony`: python3 -m prony.backends.pytorch. It needs nothing;
each back-end needs its framework."""

from setuptools import setup

setup(
    name="prony",
    version="0.1.0",
    description="benchmarks deep-learning systems: back-ends in Python",
    license="Apache-2.0",
    packages=["prony", "prony.backends"],
    python_requires=">=3.8",
)
