"""HTML reports in a real browser, at three widths: nothing is complained about,
nothing is asked for, nothing sticks out, tables sort, and whatever names, errors
and logs hold is shown as text. Valid by HTML Tidy.

Skipped loudly without chromium. PRONY_SHOTS=DIR keeps pictures to look at.
"""

import json
import os
import shutil
import subprocess
import sys

from _browser import Browser, find
from _robust import Scratch, run

WIDTHS = (360, 768, 1280)
TESTS = 16
HOSTILE = ("<script>window.hacked=1</script>", '"onmouseover="window.hacked=1',
           "</style><img src=x onerror=window.hacked=1>", "</pre></details>",
           "&lt;&amp;", "\u202etxt.exe", "a\u0000b", "'; drop", "\ufdd0\uffff",
           "<!--", "]]>", "javascript:window.hacked=1", "x" * 300)
SHOWN = ("<script>window.hacked=1</script>", '"onmouseover="window.hacked=1',
         "</style><img src=x onerror=window.hacked=1>", "</pre></details>",
         "&lt;&amp;", "\\u202etxt.exe", "'; drop", "<!--", "]]>")


def result(folder, name, repeat, device, rates, error=None, number=[0]):
    number[0] += 1
    text = {"name": name, "job_id": "%d.%d" % (repeat, device),
            "job": {"partition_scheme": {"type": "per-gpu"}},
            "device": device, "devices": [device],
            "success": error is None, "error": error,
            "hostname": HOSTILE[0], "gpu": HOSTILE[1], "device_count": 1,
            "environ": {"CUDA_VISIBLE_DEVICES": str(device)}, "metrics": {},
            "timings": {"program": {"time": 9.5},
                        "train": {"rates": rates, "sample_duration": 0.5}},
            "gpu_monitor": {str(device): {"memory": {"max": 1000 + device}}}}
    path = os.path.join(folder, "%06d.J%d.%d.%s20200615-120000-%06d.json" %
                        (number[0], repeat, device, "FAIL." if error else "",
                         number[0]))
    with open(path, "w") as f:
        json.dump(text, f)


def make_suite(folder):
    os.makedirs(folder)
    for t in range(TESTS):
        name = "suite.%s" % (HOSTILE[t] if t < len(HOSTILE) else "test%d" % t)
        for repeat in range(3):
            for device in range(4):
                rates = [100 * (t + 1) + (repeat * 7 + device * 3 + i) % 11
                         for i in range(40)]
                error = None
                if t == 3 and repeat == 1:
                    error = "Traceback\n" + "\n".join(HOSTILE) + "\nend"
                result(folder, name, repeat, device, rates, error)
    with open(os.path.join(folder, "broken-J0.json"), "w") as f:
        f.write('{"job_id": "<script>window.hacked=1</script>')


def make_run(t, folder):
    log = t.path("log.bin")
    with open(log, "wb") as f:
        for text in HOSTILE:
            f.write(text.encode("utf-8", "surrogatepass") + b"\n")
        f.write(bytes(range(256)) + b"\n\xff\xfe\x80 bytes\n")
    code, _, err = run(["run", "-q", "-o", folder, "-P", "exp.command=" +
                        json.dumps(["sh", "-c", "cat %s; sleep 0.4; exit %s"
                                    % (log, "${bad}")]), "-V", "bad=[0, 1]",
                        "-P", "label=" + json.dumps(HOSTILE[2])])
    t.check(code != 0, "the run should have failed: %s" % err)


def check_valid(t, path, what):
    if not shutil.which("tidy"):
        return False
    p = subprocess.run(["tidy", "-q", "-e", path], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    t.check(p.returncode == 0, "%s is not valid:\n%s" %
            (what, p.stdout.decode()[:2000]))
    return True


STICKS_OUT = """(() => {
  const bad = [];
  document.querySelectorAll('body *').forEach(e => {
    if (e.closest('.scroll,pre,svg,.skip,.sr')) return;
    const r = e.getBoundingClientRect();
    if (r.width && (r.right > innerWidth + 1 || r.left < -1))
      bad.push(e.tagName + '.' + e.className + ' ' + r.left + '..' + r.right);
  });
  return bad.slice(0, 5);
})()"""


def check_page(t, page, what):
    t.check(page.complaints() == [], "%s: the browser complains: %s" %
            (what, page.complaints()[:3]))
    t.check(page.requests() == [], "%s: asks for %s" %
            (what, page.requests()[:3]))
    wide = page.run("document.documentElement.scrollWidth - innerWidth")
    t.check(wide <= 0, "%s: %s pixels too wide" % (what, wide))
    out = page.run(STICKS_OUT)
    t.check(out == [], "%s: sticks out: %s" % (what, out))
    t.check(page.run("window.hacked") is None, "%s: a script of a name ran"
            % what)
    t.check(page.run("document.querySelectorAll('script').length") == 1 and
            page.run("document.querySelectorAll('img,iframe,link').length")
            == 0 and page.run(
                "document.querySelectorAll('[onmouseover],[onerror],[style]')"
                ".length") == 0, "%s: elements that are not ours" % what)
    t.check(page.run("[...document.querySelectorAll('[id]')].length === "
                     "new Set([...document.querySelectorAll('[id]')]"
                     ".map(e => e.id)).size"), "%s: an id twice" % what)
    t.check(page.run("[...document.querySelectorAll('a[href^=\"#\"]')].every("
                     "a => document.getElementById(a.hash.slice(1)))"),
            "%s: a link leads nowhere" % what)


COLUMN = ("[...document.querySelectorAll('#tests tbody tr')].map(r => "
          "r.cells[%d].textContent)")
HEAD = "document.querySelectorAll('#tests thead th')[%d]"


def check_sort(t, page):
    names = page.run("[...document.querySelectorAll('#tests thead th')]"
                     ".map(h => h.textContent)")
    perf = names.index("perf")
    before = page.run(COLUMN % 0)
    page.run((HEAD % perf) + ".firstChild.click()")
    rates = [float(x) for x in page.run(COLUMN % perf) if x != "nan"]
    t.check(rates == sorted(rates, reverse=True), "sorted: %s" % rates)
    t.check(page.run(COLUMN % perf)[-1] == "nan", "what is not known is last")
    t.check(page.run((HEAD % perf) + ".getAttribute('aria-sort')") ==
            "descending", "aria-sort after a click")
    # By the keyboard, the other way round.
    page.run((HEAD % perf) + ".firstChild.focus()")
    page.key("Enter", 13)
    rates = [float(x) for x in page.run(COLUMN % perf) if x != "nan"]
    t.check(rates == sorted(rates), "sorted by Enter: %s" % rates)
    t.check(page.run(COLUMN % perf)[-1] == "nan", "… and stays it")
    page.run((HEAD % 0) + ".firstChild.click()")
    t.check(sorted(page.run(COLUMN % 0)) == sorted(before),
            "rows were lost by sorting")
    t.check(page.run((HEAD % perf) + ".getAttribute('aria-sort')") == "none",
            "two columns claim to be sorted")
    t.check("Sorted by" in page.run("document.getElementById('said')"
                                    ".textContent"), "nobody hears of it")
    t.check(page.complaints() == [], "sorting complains")


def check_text(t, page, what):
    text = page.run("document.body.innerText")
    for shown in SHOWN:
        t.check(shown in text, "%s does not show %r" % (what, shown))


def shots(page, name, pdf=False):
    folder = os.environ.get("PRONY_SHOTS")
    if folder:
        page.screenshot(os.path.join(folder, name + ".png"))
        if pdf:
            page.pdf(os.path.join(folder, name + ".pdf"))


def look(t, browser, path, name):
    url = "file://" + path
    for width in WIDTHS:
        page = browser.page(url, width)
        check_page(t, page, "%s at %d" % (name, width))
        shots(page, "%s-%d" % (name, width), width == 1280)
        page.close()
    dark = browser.page(url, 1280, dark=True)
    check_page(t, dark, name + ", dark")
    shade = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.body).color"
    darks = dark.run(shade), dark.run(ink)
    shots(dark, name + "-dark")
    dark.close()
    light = browser.page(url, 1280)
    t.check((light.run(shade), light.run(ink)) != darks,
            "%s: dark is as light" % name)
    light.close()


def look_at_suite(t, browser, path):
    look(t, browser, path, "suite")
    page = browser.page("file://" + path, 1280)
    check_text(t, page, "suite")
    t.check(page.run("document.querySelectorAll('svg.curve').length") == TESTS,
            "a curve for each test")
    check_sort(t, page)
    page.close()
    # Without the script it is a page all the same.
    still = browser.page("file://" + path, 768, script=False)
    html = still.browser.call("DOM.getDocument", session=still.session,
                              depth=1)
    t.check(html and still.complaints() == [], "without a script")
    shots(still, "suite-still")
    still.close()


def look_at_run(t, browser, path):
    look(t, browser, path, "run")
    page = browser.page("file://" + path, 1280)
    check_text(t, page, "run")
    text = page.run("document.querySelector('#failures pre').textContent")
    t.check("\\x1b" in text and "\ufffd" in text and "\x1b" not in text and
            "\x00" not in text, "bytes of a log: %r" % text[-300:])
    t.check(page.run("document.querySelectorAll('#monitor svg.curve').length")
            > 0, "no curve of the monitor")
    t.check("kernel.release" in page.run(
        "document.getElementById('environment').textContent"), "environment")
    page.close()


def main():
    program = find()
    if not program:
        print("SKIP: no page was looked at; install chromium")
        sys.exit(77)
    t = Scratch()
    suite, made = t.path("suite"), t.path("run")
    make_suite(suite)
    make_run(t, made)
    weights = {"suite.%s" % HOSTILE[0]: {"weight": 8}, "gone": {"weight": 2}}
    code, _, err = run(["report", suite, "--html", t.path("suite.html"), "-q",
                        "--weights", json.dumps(weights), "--title",
                        HOSTILE[2]])
    t.check(code == 0, "report of a suite: %d %s" % (code, err))
    code, _, err = run(["report", made, "--html", t.path("run.html"), "-q"])
    t.check(code == 0, "report of a run: %d %s" % (code, err))
    valid = [check_valid(t, t.path(name), name)
             for name in ("suite.html", "run.html")]
    browser = Browser(program)
    try:
        look_at_suite(t, browser, t.path("suite.html"))
        look_at_run(t, browser, t.path("run.html"))
    finally:
        browser.close()
    t.finish("html: looked at, %s" % ("valid" if all(valid) else
                                      "NOT VALIDATED: tidy is not installed"))


if __name__ == "__main__":
    main()
