#!/usr/bin/env python3
"""Golden tests of the command line; README.md beside this file is the manual.

Three kinds of cases, all run in a scratch folder of their own with the tested
program first on PATH and a clean environment:
    (default)    tests/cli/<area>/<case>.sh against .exit .out .err.glob ...
    --docs       the ```console blocks of README.md and docs/
    --examples   the "# run:" lines of the files in examples/
Output is TAP. Needs only Python's standard library.
"""

import argparse
import concurrent.futures
import fnmatch
import glob
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.dirname(os.path.dirname(HERE))
SKIP = 77


class Result:
    """How a case ended: problems (none: passed), or the reason of a skip."""

    def __init__(self, name):
        self.name = name
        self.problems = []
        self.skip = None
        self.notes = []

    def fail(self, text):
        self.problems.append(text)


# ---------------------------------------------------------------- matching


def line_matches(pattern, line):
    """In a pattern only '*' is special (any characters); '\\*' is a star."""
    parts = re.split(r"(\\\*|\*)", pattern)
    regex = "".join(
        ".*" if p == "*" else r"\*" if p == r"\*" else re.escape(p)
        for p in parts
    )
    return re.fullmatch(regex, line) is not None


def glob_lines(text):
    return text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")


def lines_match(patterns, lines, match=line_matches):
    """Whether lines match patterns, where a pattern '...' is any lines."""
    reached = {0}
    for pattern in patterns:
        if pattern.strip() == "...":
            reached = set(range(min(reached), len(lines) + 1))
            continue
        reached = {i + 1 for i in reached
                   if i < len(lines) and match(pattern, lines[i])}
        if not reached:
            return False
    return len(lines) in reached


def doc_line_matches(pattern, line):
    """In documentation '...' stands for any characters, too."""
    regex = ".*".join(re.escape(p) for p in pattern.rstrip().split("..."))
    return re.fullmatch(regex, line.rstrip()) is not None


def escape_glob(text):
    lines = [ln.replace("*", r"\*") for ln in text.splitlines()]
    return "".join(re.sub(r"\$TMP|\$SRC", "*", ln) + "\n" for ln in lines)


def quoted(title, text):
    body = "".join("    " + ln + "\n" for ln in text.splitlines())
    return "%s:\n%s" % (title, body or "    (nothing)\n")


# ----------------------------------------------------------------- running


class Scratch:
    """A folder, an environment and a way to run shell text in them."""

    def __init__(self, opts):
        self.opts = opts
        self.root = tempfile.mkdtemp(prefix="prony-cli.")
        self.dir = os.path.join(self.root, "work")
        bindir = os.path.join(self.root, "bin")
        self.logs = os.path.join(self.root, "log")
        for path in (self.dir, bindir, self.logs):
            os.mkdir(path)
        self._put_program(os.path.join(bindir, "prony"))
        self.env = {
            "PATH": bindir + ":/usr/local/bin:/usr/bin:/bin",
            "HOME": self.dir,
            "TMP": self.dir,
            "TMPDIR": self.dir,
            "SRC": SRC,
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            "TZ": "UTC",
            # A made-up library for GPUs; the name of a real one would do.
            "PRONY_NVML": "",  # the GPUs of this machine are not to be seen
            "FAKE_NVML": os.path.join(os.path.dirname(opts.prony), "tests",
                                      "fake_nvml.so"),
        }
        for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS",
                     "UBSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]

    def _put_program(self, path):
        if not self.opts.exec_prefix:
            os.symlink(self.opts.prony, path)
            return
        prefix = self.opts.exec_prefix.replace("@LOG@", self.logs + "/log")
        with open(path, "w", encoding="utf-8") as f:
            f.write('#!/bin/sh\nexec %s %s "$@"\n'
                    % (prefix, shlex.quote(self.opts.prony)))
        os.chmod(path, 0o755)

    def run(self, argv, merge=False, cwd=None, extra=None):
        """(status, stdout, stderr); status None when time ran out."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            proc = subprocess.Popen(
                argv, cwd=cwd or self.dir, env={**self.env, **(extra or {})},
                stdin=subprocess.DEVNULL, stdout=out,
                stderr=out if merge else err, start_new_session=True)
            try:
                status = proc.wait(self.opts.timeout)
            except subprocess.TimeoutExpired:
                status = None
            # Also what the case left running in its process group.
            try:
                os.killpg(proc.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            proc.wait()
            return status, self._text(out), self._text(err)

    def _text(self, f):
        f.seek(0)
        text = f.read().decode("utf-8", "backslashreplace")
        for path, name in ((self.dir, "$TMP"), (SRC, "$SRC")):
            # Not within another path or word: the checkout may be in /home.
            # Where JSON is shown, a path may stand after an escaped newline.
            text = re.sub(r"(?:(?<=\\n)|(?<![\w.-]))%s(?![\w.-])"
                          % re.escape(path), lambda _, name=name: name, text)
        return text

    def log_text(self):
        """What --exec-prefix's program complained about, into @LOG@ files."""
        text = ""
        for path in sorted(glob.glob(self.logs + "/*")):
            with open(path, encoding="utf-8", errors="replace") as f:
                text += f.read()
        return text

    def close(self):
        if self.opts.keep:
            print("# scratch folder: " + self.root)
        else:
            shutil.rmtree(self.root, ignore_errors=True)


def reason_of(out, err):
    lines = (out + "\n" + err).strip().splitlines()
    return lines[-1] if lines else "no reason given"


def disturbed(out):
    """Why figures are not what they should be, as the program itself found;
    None: nothing kept it from measuring."""
    if out.startswith("Disturbed: "):
        return "other work took the processors; run it on an idle machine"
    return None


def check_status(result, want, status, opts):
    if status is None:
        result.fail("still running after %g s" % opts.timeout)
    elif status != want:
        result.fail("exit status %d, expected %d" % (status, want))


# ------------------------------------------------------------ golden cases


class Case:
    def __init__(self, path):
        self.path = path
        self.stem = path[:-len(".sh")]
        self.name = os.path.relpath(self.stem, HERE)

    def tags(self):
        with open(self.path, encoding="utf-8") as f:
            found = re.findall(r"^# tags: *(.*)", f.read(), re.M)
        return " ".join(found).split()

    def read(self, suffix):
        try:
            with open(self.stem + suffix, encoding="utf-8") as f:
                return f.read()
        except FileNotFoundError:
            return None

    def write(self, suffix, text, result):
        if self.read(suffix) != text:
            with open(self.stem + suffix, "w", encoding="utf-8") as f:
                f.write(text)
            result.notes.append("wrote " + self.name + suffix)

    def want_status(self):
        return int((self.read(".exit") or "0").strip())

    def run(self, opts):
        result = Result(self.name)
        scratch = Scratch(opts)
        try:
            status, out, err = scratch.run(["sh", "-eu", self.path])
            if status == SKIP and self.want_status() != SKIP:
                result.skip = reason_of(out, err)
                return result
            if opts.bless and status is not None:
                self.bless(status, out, err, result)
            self.compare(status, out, err, opts, result)
            self.compare_files(scratch.dir, result)
            if scratch.log_text():
                result.fail(quoted("the tool around the program says",
                                   scratch.log_text()))
        finally:
            scratch.close()
        return result

    def bless(self, status, out, err, result):
        if status != 0 or self.read(".exit") is not None:
            self.write(".exit", "%d\n" % status, result)
        if self.read(".out.glob") is None:
            if out or self.read(".out") is not None:
                self.write(".out", out, result)
        if err and self.read(".err.glob") is None:
            self.write(".err.glob", escape_glob(err), result)

    def compare(self, status, out, err, opts, result):
        check_status(result, self.want_status(), status, opts)
        want = self.read(".out")
        if want is not None and out != want:
            result.fail(quoted("stdout", out) + quoted("expected", want))
        globs = self.read(".out.glob")
        if globs is not None:
            self.compare_glob("stdout", globs, out, result)
        elif want is None and out:
            result.fail(quoted("stdout, expected none", out))
        self.compare_glob("stderr", self.read(".err.glob") or "", err, result)
        # A failure is understood by what was said on the other stream.
        if result.problems and err and not any(
                p.startswith("stderr") for p in result.problems):
            result.fail(quoted("stderr was", err))

    @staticmethod
    def compare_glob(stream, globs, text, result):
        if not lines_match(glob_lines(globs) if globs else [],
                           text.splitlines()):
            result.fail(quoted(stream, text) + quoted("expected", globs))

    def compare_files(self, folder, result):
        """Each line of .files matches a file; with '!' in front, none."""
        there = [os.path.relpath(os.path.join(d, n), folder)
                 for d, _, names in os.walk(folder) for n in names]
        for pattern in (self.read(".files") or "").split():
            absent = pattern.startswith("!")
            hits = fnmatch.filter(there, pattern.lstrip("!"))
            if absent and hits:
                result.fail("unexpected file: " + " ".join(hits))
            elif not absent and not hits:
                result.fail("no file '%s'; there are: %s"
                            % (pattern, " ".join(sorted(there))))


class Count:
    """Fails when fewer cases exist than were recorded in tests/cli/count."""

    name = "count"
    path = os.path.join(HERE, "count")

    def __init__(self, number):
        self.number = number

    def run(self, opts):
        result = Result(self.name)
        try:
            with open(self.path, encoding="utf-8") as f:
                recorded = int(f.read())
        except FileNotFoundError:
            recorded = 0
        if opts.bless and self.number != recorded:
            with open(self.path, "w", encoding="utf-8") as f:
                f.write("%d\n" % self.number)
            result.notes.append("wrote count")
        elif self.number < recorded:
            result.fail("%d cases, but tests/cli/count says %d: if they were "
                        "removed on purpose, run with --bless"
                        % (self.number, recorded))
        elif self.number > recorded:
            result.notes.append("%d cases, %d recorded: run with --bless"
                                % (self.number, recorded))
        return result


def golden_cases(opts):
    paths = glob.glob(os.path.join(HERE, "*", "**", "*.sh"), recursive=True)
    cases = [Case(p) for p in sorted(paths)]
    number = len(cases)
    if opts.tag:
        cases = [c for c in cases if opts.tag in c.tags()]
    elif not opts.k:
        cases = [c for c in cases if "long" not in c.tags()]
        cases.append(Count(number))
    return cases


# ----------------------------------------------------------- documentation


class Document:
    """The console blocks of one Markdown file, in one scratch folder."""

    def __init__(self, path):
        self.path = path
        self.name = os.path.relpath(path, SRC)

    def steps(self):
        """Yields (line number, kind, argument, text) in document order; kind
        is 'file', 'setup', 'skip' or 'console'."""
        with open(self.path, encoding="utf-8") as f:
            lines = f.read().split("\n")
        i = 0
        while i < len(lines):
            fence = re.match(r" *(```+)(.*)", lines[i])
            start = re.match(r"<!-- test: (setup|skip)(.*)", lines[i])
            first = i + 1
            if fence:
                i, body = self.until(lines, first, fence.group(1))
                info = fence.group(2).split()
                named = [w[5:] for w in info if w.startswith("file=")]
                if named:
                    yield first, "file", named[0], body
                elif info[:1] == ["console"]:
                    yield first, "console", "", body
            elif start and start.group(1) == "skip":
                yield first, "skip", start.group(2).split("-->")[0].strip(), []
            elif start:
                i, body = self.until(lines, first, "-->")
                yield first, "setup", "", body
            i += 1

    @staticmethod
    def until(lines, i, end):
        body = []
        while i < len(lines) and lines[i].strip() != end:
            body.append(lines[i])
            i += 1
        return i, body

    @staticmethod
    def commands(first, body):
        """Splits a block into (line number, command, expected lines)."""
        found = []
        for number, line in enumerate(body, first + 1):
            text = line.strip() if line.lstrip().startswith("$ ") else line
            if text.startswith("$ "):
                found.append([number, text[2:], []])
            elif found and not found[-1][2] and (
                    found[-1][1].endswith("\\") or line.startswith("> ")):
                more = line[2:] if line.startswith("> ") else line
                found[-1][1] += "\n" + more
            elif found:
                found[-1][2].append(line)
        return found

    def run(self, opts):
        result = Result(self.name)
        scratch = Scratch(opts)
        state = os.path.join(scratch.root, "cwd")
        with open(state, "w", encoding="utf-8") as f:
            f.write(scratch.dir)
        try:
            self.run_steps(scratch, state, opts, result)
        finally:
            scratch.close()
        return result

    def run_steps(self, scratch, state, opts, result):
        skip = None
        for first, kind, argument, body in self.steps():
            if kind == "skip":
                skip = argument or "no reason given"
            elif kind == "file":
                path = os.path.join(scratch.dir, argument)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as f:
                    f.write("\n".join(body) + "\n")
            elif kind == "setup":
                status, out, _ = scratch.run(
                    ["sh", "-eu", "-c", "\n".join(body)], merge=True)
                if status == SKIP:  # and with it all that follows
                    result.skip = reason_of(out, "")
                    return
                if status != 0:
                    result.fail(quoted("line %d: setup failed" % first, out))
            elif skip:  # nothing makes it run: no test that is skipped
                result.notes.append("%s:%d is not run: %s"
                                    % (self.name, first, skip))
                skip = None
            else:
                for command in self.commands(first, body):
                    self.run_command(scratch, state, opts, command, result)

    def run_command(self, scratch, state, opts, command, result):
        number, text, want = command
        with open(state, encoding="utf-8") as f:
            cwd = f.read().strip()
        # The next command starts where this one went.
        script = 'trap \'pwd >"$STATE"\' EXIT\n' + text
        status, out, _ = scratch.run(["sh", "-c", script], merge=True, cwd=cwd,
                                     extra={"STATE": state})
        expected = re.search(r"# exit (\d+)\s*$", text)
        one = Result("")
        check_status(one, int(expected.group(1)) if expected else 0, status,
                     opts)
        while want and not want[-1].strip():
            want = want[:-1]
        got = out.rstrip("\n").splitlines()
        if not one.problems and disturbed(out):
            result.notes.append("%s:%d is not compared: %s"
                                % (self.name, number, disturbed(out)))
        elif not lines_match(want, got, doc_line_matches):
            one.fail(quoted("output", out)
                     + quoted("documented", "\n".join(want)))
        elif one.problems:
            one.fail(quoted("output", out))
        for problem in one.problems:
            result.fail("line %d: $ %s\n%s" % (number, text, problem))


def documents(_opts):
    paths = [os.path.join(SRC, "README.md")]
    paths += glob.glob(os.path.join(SRC, "docs", "**", "*.md"), recursive=True)
    docs = [Document(p) for p in sorted(paths) if os.path.exists(p)]
    return [d for d in docs
            if any(kind == "console" for _, kind, _, _ in d.steps())]


# ---------------------------------------------------------------- examples


class Example:
    """A file of examples/ and the commands that show it at work."""

    def __init__(self, path):
        self.path = path
        self.name = os.path.relpath(path, SRC)

    def directives(self):
        """Pairs (word, text): run, exit, expect."""
        if not self.path.endswith(".json"):
            with open(self.path, encoding="utf-8") as f:
                return re.findall(r"^# (run|exit|expect): *(.*)", f.read(),
                                  re.M)
        try:
            with open(self.path[:-len(".json")] + ".cmd",
                      encoding="utf-8") as f:
                lines = [ln.strip() for ln in f if ln.strip()]
        except FileNotFoundError:
            return []
        return [re.match(r"# (run|exit|expect): *(.*)", ln).groups()
                if ln.startswith("# ") else ("run", ln) for ln in lines]

    def run(self, opts):
        result = Result(self.name)
        pairs = self.directives()
        commands = [text for word, text in pairs if word == "run"]
        want = [int(text) for word, text in pairs if word == "exit"] or [0]
        if not commands:
            result.fail("says nowhere how to run it ('# run: prony run ...', "
                        "or a .cmd file beside JSON)")
            return result
        scratch = Scratch(opts)
        try:
            # Commands are written as one would type them in the project.
            for name in ("examples", "workloads"):
                if os.path.isdir(os.path.join(SRC, name)):
                    os.symlink(os.path.join(SRC, name),
                               os.path.join(scratch.dir, name))
            status, out, err = scratch.run(
                ["sh", "-eu", "-c", "\n".join(commands)])
            if status == SKIP and want[0] != SKIP:
                result.skip = reason_of(out, err)
                return result
            check_status(result, want[0], status, opts)
            result.skip = disturbed(out)
            for word, text in pairs:
                if word == "expect" and not result.skip and not any(
                        line_matches(text, ln) for ln in out.splitlines()):
                    result.fail("no line of stdout matches: " + text)
            if result.problems:
                result.fail(quoted("stdout", out) + quoted("stderr", err))
        finally:
            scratch.close()
        return result


def examples(_opts):
    root = os.path.join(SRC, "examples")
    paths = []
    for ending in ("yaml", "yml", "json", "sh"):
        paths += glob.glob(os.path.join(root, "**", "*." + ending),
                           recursive=True)
    return [Example(p) for p in sorted(paths)]


# -------------------------------------------------------------------- main


def report(number, result):
    word = "not ok" if result.problems else "ok"
    tail = " # SKIP " + result.skip if result.skip else ""
    print("%s %d - %s%s" % (word, number, result.name, tail))
    for note in result.notes:
        print("# " + note)
    for problem in result.problems:
        for line in problem.rstrip().split("\n"):
            print("#   " + line)
    sys.stdout.flush()


def run_safely(case, opts):
    try:
        return case.run(opts)
    except Exception as e:  # a broken case must not hide the others
        result = Result(case.name)
        result.fail("%s: %s" % (type(e).__name__, e))
        return result


def run_all(cases, opts):
    number = failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(opts.j) as pool:
        for result in pool.map(lambda c: run_safely(c, opts), cases):
            number += 1
            report(number, result)
            failed += bool(result.problems)
            skipped += not result.problems and result.skip is not None
    print("1..%d" % number)
    print("# %d passed, %d failed, %d skipped"
          % (number - failed - skipped, failed, skipped))
    return failed


def parse_args():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--prony", default=os.path.join(SRC, "build", "prony"),
                   help="the program to test (default: build/prony)")
    p.add_argument("--docs", action="store_true",
                   help="run the console blocks of the documentation")
    p.add_argument("--examples", action="store_true",
                   help="run the files of examples/")
    p.add_argument("--bless", action="store_true",
                   help="take what the program does now as expected")
    p.add_argument("--exec-prefix", metavar="CMD",
                   help="run the program under CMD; what CMD writes to files "
                        "named @LOG@... fails the case")
    p.add_argument("--tag", help="only cases with this word in '# tags:'")
    p.add_argument("--keep", action="store_true",
                   help="keep the scratch folders and say where they are")
    p.add_argument("-k", metavar="PATTERN",
                   help="only cases whose name contains or matches PATTERN")
    p.add_argument("-j", type=int, metavar="N", default=os.cpu_count() or 1,
                   help="cases at a time")
    p.add_argument("--timeout", type=float, metavar="S",
                   default=float(os.environ.get("CLI_TIMEOUT", 300)),
                   help="seconds a case may take")
    return p.parse_args()


def main():
    opts = parse_args()
    opts.prony = os.path.abspath(opts.prony)
    if not os.access(opts.prony, os.X_OK):
        sys.exit("run.py: no program '%s': run make first" % opts.prony)
    find = documents if opts.docs else examples if opts.examples \
        else golden_cases
    cases = find(opts)
    if opts.k:
        cases = [c for c in cases
                 if opts.k in c.name or fnmatch.fnmatch(c.name, opts.k)]
    if not cases:
        print("1..0 # SKIP no cases")
        return 0 if not opts.k else 1
    return 1 if run_all(cases, opts) else 0


if __name__ == "__main__":
    sys.exit(main())
