#!/usr/bin/env python3
"""Makes html_look.c: the style and the script of HTML reports as C arrays, and
their SHA-256 as a Content-Security-Policy wants it.

    html_embed.py STYLE SCRIPT OUT
"""
import base64
import hashlib
import sys


def main(style, script, out):
    text = ["/* Made by html_embed.py. */\n",
            '#include "present/html/html_impl.h"\n']
    for name, path in (("style", style), ("script", script)):
        with open(path, "rb") as f:
            data = f.read()
        if b"</" in data or b"\0" in data or b"\r" in data:
            sys.exit("%s: must not hold '</', NUL or CR" % path)
        digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
        text.append("\nconst char pr_html_%s[] = {\n" % name)
        for i in range(0, len(data), 16):
            text.append("    %s,\n" % ", ".join(str(c - 256 if c > 127 else c) for c in data[i:i + 16]))
        text.append("    0};\n")
        text.append('const char pr_html_%s_hash[] =\n    "%s";\n' % (name, digest))
    with open(out, "w") as f:
        f.write("".join(text))


if __name__ == "__main__":
    main(*sys.argv[1:])
