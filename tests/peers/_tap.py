"""One line of TAP for each matter, and how it ended."""

COUNTS = {True: 0, False: 0}


def check(good, what, text=""):
    COUNTS[bool(good)] += 1
    print("%sok %d - %s" % ("" if good else "not ", sum(COUNTS.values()),
                            what))
    if not good:
        print("".join("# %s\n" % line for line in text.splitlines()), end="")


def end():
    """The plan, and what the program ends with."""
    print("1..%d" % sum(COUNTS.values()))
    return 1 if COUNTS[False] else 0
