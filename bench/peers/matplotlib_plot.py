#!/usr/bin/env python3
"""The chart of bench_plot by matplotlib: matplotlib_plot.py results.json out.png

Reads the same file, sorts it into the same series and writes an image of the
same size. Without matplotlib it ends with status 77."""
import json
import sys

try:
    import matplotlib
except ImportError:
    sys.exit(77)
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402 (after the choice of a back-end)


def main(source, image):
    series = {}
    with open(source, encoding="utf-8") as f:
        for row in json.load(f)["data"]:
            series.setdefault(row["exp.model"], []).append(
                (row["exp.step"], row["results.time"]))
    plt.figure(figsize=(8, 5), dpi=100)
    for name, points in series.items():
        plt.plot(*zip(*sorted(points)), label=name)
    plt.title("results.time by exp.step")
    plt.xlabel("exp.step")
    plt.ylabel("results.time")
    plt.grid()
    plt.legend()
    plt.savefig(image)


main(*sys.argv[1:])
