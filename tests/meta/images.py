"""Every folder of bundled data is installed, and is in the image with Prony,
which is made by installing from a list of folders."""

import os
import re
import sys

from common import SRC, project_files, read

# Neither installed nor part of the program.
APART = {"bench", "cli", "compat", "containers", "docs", "include", "python",
         "share", "src", "tests", "tools"}
IMAGE = "containers/prony.Containerfile"


def data_folders():
    tops = {p.split("/")[0] for p in project_files() if "/" in p}
    return sorted(t for t in tops - APART if not t.startswith("."))


def main():
    bad = []
    installed = re.search(r"foreach dir : \[(.*?)\]", read("meson.build"),
                          re.S).group(1)
    image = read(IMAGE)
    folders = data_folders()
    for folder in folders:
        if "'%s'" % folder not in installed:
            bad.append("meson.build does not install %s" % folder)
        if not re.search(r"^COPY %s %s$" % (folder, folder), image, re.M):
            bad.append("%s does not copy %s" % (IMAGE, folder))
    for name in re.findall(r"^COPY (?!--)(.*) \S+$", image, re.M):
        for one in name.split():
            if not os.path.exists(os.path.join(SRC, one)):
                bad.append("%s copies %s, which is not there" % (IMAGE, one))
    for line in bad:
        print("FAIL: " + line)
    print("%d folders of bundled data" % len(folders))
    sys.exit(1 if bad or not folders else 0)


main()
