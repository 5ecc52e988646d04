"""Every heading and cell of milarun's own HTML reports is found in ours, and in
a table with the same row and column names. Skipped loudly without them."""

import glob
import html.parser
import os
import subprocess
import sys
import tempfile

from _tap import check, end

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
PRONY = os.environ.get("PRONY") or os.path.join(SRC, "build", "prony")
PEERS = os.path.join(os.environ.get("PRONY_PEERS") or os.path.join(
    os.path.dirname(SRC), "shared", "peers"), "milarun")


class Page(html.parser.HTMLParser):
    """Headings, and tables as {(row, column): text}."""

    def __init__(self, text):
        super().__init__()
        self.headings, self.tables = [], []
        self.text, self.rows, self.row = None, None, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.rows = []
        elif tag == "tr":
            self.row = []
        elif tag in ("td", "th", "h1", "h2", "h3", "title"):
            self.text = ""

    def handle_data(self, data):
        if self.text is not None:
            self.text += data

    def handle_endtag(self, tag):
        if tag in ("td", "th") and self.row is not None:
            self.row.append(self.text.strip())
            self.text = None
        elif tag in ("h1", "h2", "h3", "title"):
            self.headings.append(self.text.strip())
            self.text = None
        elif tag == "tr" and self.rows is not None:
            self.rows.append(self.row)
        elif tag == "table":
            self.tables.append(self.rows)
            self.rows = None


def cells(table):
    """{(row name, column name): text}; of label and value: one column."""
    if all(len(row) == 2 for row in table):
        return {(row[0], ""): row[1] for row in table}
    head = table[0]
    return {(row[0], name): cell for row in table[1:]
            for name, cell in zip(head[1:], row[1:])}


def compare(name, theirs, ours):
    lost = [h for h in theirs.headings if h not in ours.headings]
    check(not lost, name + ": headings", "lost: %s" % lost)
    found = [cells(t) for t in ours.tables]
    for i, table in enumerate(theirs.tables):
        want = cells(table)
        best = min((sorted(k for k in want if have.get(k) != want[k])
                    for have in found), key=len)
        check(want and not best, "%s: table %d, %d cells" %
              (name, i, len(want)), "differ, in the closest: %s" % best[:5])


def report(args):
    with tempfile.TemporaryDirectory(prefix="prony-html-") as d:
        out = os.path.join(d, "page.html")
        subprocess.run([PRONY, "report", *args, "--html", out, "-q"],
                       check=True, stdout=subprocess.DEVNULL)
        with open(out, encoding="utf-8") as f:
            return Page(f.read())


def main():
    if not os.path.isdir(os.path.join(PEERS, "html")):
        print("SKIP: no reference data of other tools; PRONY_PEERS=FOLDER "
              "says where they are")
        sys.exit(77)
    at = lambda *names: os.path.join(PEERS, *names)
    known = {
        "results_dir.full.html": [
            at("results_dir"), "--weights", at("weights_tst.json"),
            "--compare-gpus", "--price", "12345.67"],
        "standard.v100.weights.html": [
            at("baselines", "standard", "v100.json"), "--weights",
            at("weights", "standard.json"), "--title",
            "baselines/standard/v100.json"],
    }
    for path in sorted(glob.glob(at("html", "*.html"))):
        name = os.path.basename(path)
        if name not in known:
            check(False, "%s: no command is known for it" % name)
            continue
        with open(path, encoding="utf-8") as f:
            compare(name, Page(f.read()), report(known[name]))
    sys.exit(end())


if __name__ == "__main__":
    main()
