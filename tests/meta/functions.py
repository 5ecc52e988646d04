"""Finds the functions of C files that clang-format has laid out: a body stands
between a '{' and a '}' in the first column."""

import re


def heads(text):
    """Pairs (first line, last line before the body) of each function, counted
    from 0, in the lines of the text."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line != "{":
            continue
        first = i - 1
        while (first > 0 and lines[first - 1]
               and not lines[first - 1].startswith(("}", "#", "/*", " *"))
               and not lines[first - 1].endswith((";", "*/"))):
            first -= 1
        yield first, i


def functions(text):
    """(name, whether it is static, line of its head, lines of its body) of
    each function. Text is as strip_c leaves it."""
    lines = text.split("\n")
    for first, brace in heads(text):
        head = " ".join(lines[first:brace])
        bare = re.sub(r"__attribute__\(\(.*?\)\)|\bPR_[A-Z_]+\([^()]*\)", "",
                      head)
        found = re.match(r"[^=]*?\b(\w+)\(", bare)
        if not found:
            continue
        end = next((j for j in range(brace, len(lines))
                    if lines[j].startswith("}")), brace)
        before = bare[:found.start(1)]
        yield (found.group(1), "static" in before.split()
               or "PR_INLINE" in before.split(), first + 1, end - brace + 1)
