"""What would the loop do with a loader that is not the bottleneck? The native
one, on a folder of pictures (FOLDER/train/CLASS/FILE): numpy arrays, or
PyTorch's tensors with output="torch", without a copy.

    python3 native_loader.py FOLDER"""

import sys

import prony


def main(folder):
    with prony.Loader(folder, 64, (3, 224, 224), shuffle=True,
                      augment=True) as loader:
        print("%d pictures in %d classes" % (loader.facts()["samples"],
                                             len(loader.classes)))
        measured = prony.wrap(loader, batch_size=64)
        for images, labels in measured:
            images.mean()  # the training step
        print(measured.verdict["text"])


if __name__ == "__main__":
    main(sys.argv[1])
