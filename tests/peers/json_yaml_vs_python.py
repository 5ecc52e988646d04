#!/usr/bin/python3
"""Compares our JSON and YAML readers and our float text with Python's.

Usage: json_yaml_vs_python.py CONF_TOOL [COUNT]

Generates documents from a fixed seed, good ones and damaged ones, and wants
the same value or an error from both sides. Prints "N compared"; exit status 1
after a difference, 77 when PyYAML is not installed.
"""
import json
import random
import re
import struct
import subprocess
import sys

try:
    import yaml
except ImportError:
    print("SKIP: no PyYAML; install python3-yaml")
    sys.exit(77)

SEED = 20240817
ERROR = object()


def ask(tool, mode, documents):
    """Our answers, one line of bytes for each document."""
    parts = []
    for d in documents:
        parts.append(b"%d\n" % len(d))
        parts.append(d)
    done = subprocess.run([tool, mode], input=b"".join(parts),
                          stdout=subprocess.PIPE, check=True)
    answers = done.stdout.split(b"\n")[:-1]
    assert len(answers) == len(documents), (len(answers), len(documents))
    return answers


def canon(v):
    """A text that is equal only for values equal in type and content."""
    if isinstance(v, bool) or v is None:
        return repr(v)
    if isinstance(v, int):
        if -2**63 <= v < 2**63:
            return repr(v)
        try:
            return repr(float(v))
        except OverflowError:
            return "inf" if v > 0 else "-inf"
    if isinstance(v, float):
        return repr(v)
    if isinstance(v, str):
        return repr(re.sub("[\ud800-\udfff]", "\ufffd", v))
    if isinstance(v, list):
        return "[" + ", ".join(map(canon, v)) + "]"
    assert isinstance(v, dict), type(v)
    return "{" + ", ".join(canon(k) + ": " + canon(x)
                           for k, x in v.items()) + "}"


# ---------------------------------------------------------------- generators

WORDS = """yes Yes YES no No NO on On ON off Off OFF true True TRUE false False
FALSE y n Y N null Null NULL ~ None 0 -0 +0 1 -1 +1 10 010 0o10 08 0_7 0b101
0b1_01 -0b11 0x1F 0x1f -0xff 0XFF 1_000 1__0 _1 1_ 123456789012345678
9223372036854775807 9223372036854775808 -9223372036854775808
-9223372036854775809 18446744073709551616 0x8000000000000000
0xffffffffffffffffffffff 0777777777777777777777777
0b10000000000000000000000000000000000000000000000000000000000000000011
123456789012345678901234567890 1:30 1:60 0:30 10:5 1:2:3 -1:30 1:300 190:20:30
1.0 1. .5 -.5 +.5 0.1 -0.0 1e3 1e-5 1E5 1e+5 1.e3 1.5e3 1.5e+3 .5e3 .5e-3 e3 1e
1e+ 1.5e 1_0.5 1_0e5 1.2.3 1:30.5 1:30. 190:20:30.15 .inf -.inf +.Inf .INF inf
.nan .NaN .NAN nan -.nan . .. ... - -- + = << 2001-12-14 2001-12-14t21:59:43Z
2001-1-1 12:30 a b key key2 name dataset.format 1/2 /a/b/c ${x.y} $(1+1)$
http://h/p?q=1 a:b a#b it's say"hi" C:\\dir @at x\ty 0.30000000000000004
5e-324 1.7976931348623157e308 1e999 -1e999 1e-999 100000000000000000000.0
""".split()

LETTERS = "abcXYZ019 _-.:,#'\"\\/[]{}\u00e9\u4e16\U0001f600\t"


def some_text(r):
    if r.random() < 0.6:
        return r.choice(WORDS)
    return "".join(r.choice(LETTERS) for _ in range(r.randrange(0, 12)))


def some_number(r):
    k = r.randrange(6)
    if k == 0:
        return r.getrandbits(r.choice([3, 8, 31, 63, 64, 70])) * r.choice([1, -1])
    if k == 1:
        return r.randrange(-100, 100)
    if k == 2:
        return round(r.random() * 10**r.randrange(-6, 9), r.randrange(0, 9))
    if k == 3:
        return r.random() * 10**r.randrange(-20, 20)
    if k == 4:
        return float("inf") if r.random() < 0.3 else -0.0
    f = struct.unpack("<d", struct.pack("<Q", r.getrandbits(64)))[0]
    return f if f == f else 0.5


def some_value(r, depth):
    k = r.randrange(8 if depth else 5)
    if k == 0:
        return r.choice([None, True, False])
    if k in (1, 2):
        return some_number(r)
    if k in (3, 4):
        return some_text(r)
    n = r.randrange(0, 5) if r.random() < 0.95 else r.randrange(30, 80)
    if k in (5, 6):
        return {some_text(r): some_value(r, depth - 1) for _ in range(n)}
    return [some_value(r, depth - 1) for _ in range(n)]


def damage(r, text, alphabet):
    chars = list(text)
    for _ in range(r.randrange(1, 4)):
        at = r.randrange(len(chars) + 1)
        k = r.randrange(3)
        if k == 0:
            chars.insert(at, r.choice(alphabet))
        elif chars and k == 1:
            del chars[min(at, len(chars) - 1)]
        elif chars:
            chars[min(at, len(chars) - 1)] = r.choice(alphabet)
    return "".join(chars)


# ---------------------------------------------------------------------- JSON

def python_json(text):
    try:
        return canon(json.loads(text))
    except (ValueError, RecursionError):
        return ERROR


def json_documents(r, count):
    docs = ['""', "0", "-0", "-0.0", "1e5", "[]", "{}", "[[]]", "NaN", "-NaN",
            "Infinity", "-Infinity", '"\\ud83d\\ude00"', '"\\ud83d"',
            '"\\ude00\\ud83d"', '"\\ud83d\\u0041"', "01", "1.", ".5", "1e",
            "[1,]", "{,}", '{"a":1,"a":2}', "tru", "nullx", "", " ", "\ufeff1",
            '{"a" 1}', '{"a":}', '"\x01"', '"\x7f"', "[1 2]", "'a'", "+1",
            "1_000", "0x10", "1e400", "-1e400", "[", "{", '"', '"\\', "]"]
    while len(docs) < count:
        value = some_value(r, 4)
        text = json.dumps(value, ensure_ascii=r.random() < 0.5,
                          indent=r.choice([None, None, 1, 4]))
        if r.random() < 0.5:
            text = damage(r, text, list('{}[],:"\\0123456789.eE+-aut \n\tu'))
        docs.append(text)
    return docs


# ---------------------------------------------------------------------- YAML

BASE = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
CORE = "tag:yaml.org,2002:"
KNOWN = {CORE + t for t in
         "str int float bool null seq map merge value".split()}


class Loader(BASE):
    """PyYAML's safe loader with OmegaConf's floats, and no dates; keys are
    the text as it was written."""

    def flatten_once(self, node):
        self.flatten_mapping(node)
        return node.value

    def construct_map(self, node):
        if not isinstance(node, yaml.MappingNode):
            raise yaml.constructor.ConstructorError("not a map")
        result = {}
        for key, value in self.flatten_once(node):
            self.construct_object(key, deep=True)
            result[key.value] = self.construct_object(value, deep=True)
        return result


Loader.yaml_implicit_resolvers = {
    first: [(tag, rx) for tag, rx in rows if tag != CORE + "timestamp"]
    for first, rows in BASE.yaml_implicit_resolvers.items()}
Loader.add_implicit_resolver(CORE + "float", re.compile(
    r"^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+"
    r"|\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?)$"), list("-+0123456789."))
Loader.add_constructor(CORE + "map", Loader.construct_map)
Loader.add_constructor(CORE + "value", lambda l, n: l.construct_scalar(n))
Loader.add_constructor(CORE + "merge", lambda l, n: l.construct_scalar(n))


def check(node, above=()):
    """What we refuse and PyYAML does not."""
    if id(node) in above:
        raise yaml.YAMLError("recursive")
    if node.tag not in KNOWN:
        raise yaml.YAMLError("tag")
    above = above + (id(node),)
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.YAMLError("key")
            check(key, above)
            check(value, above)
            if key.tag != CORE + "merge":
                if key.value in seen:
                    raise yaml.YAMLError("duplicate")
                seen.add(key.value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            check(item, above)


def python_yaml(text):
    loader = None
    try:
        loader = Loader(text)
        node = loader.get_single_node()
        if node is None:
            return canon(None)
        check(node)
        return canon(loader.construct_document(node))
    except (yaml.YAMLError, ValueError, IndexError, KeyError):
        return ERROR
    finally:
        if loader:
            loader.dispose()


def quoted(r, text):
    if r.random() < 0.5 and "\t" not in text:
        return "'" + text.replace("'", "''") + "'"
    return json.dumps(text, ensure_ascii=r.random() < 0.5)


def scalar_text(r):
    k = r.randrange(10)
    word = r.choice(WORDS)
    if k == 0:
        return quoted(r, some_text(r))
    if k == 1:
        tag = r.choice(["str", "int", "float", "bool", "null"])
        return "!!" + tag + " " + (word if r.random() < 0.7
                                   else quoted(r, word))
    if k == 2 and r.random() < 0.2:
        return r.choice(["!foo x", "!!binary aGk=", "! 12", "!!python/none x"])
    if k == 3:
        return repr(some_number(r))
    return word


class Writer:
    """Random YAML text, in block and flow style, with anchors and merges."""

    def __init__(self, r):
        self.r = r
        self.anchors = []
        self.maps = []

    def mark(self, is_map):
        if self.r.random() < (0.5 if is_map else 0.12):
            name = "n%d" % len(self.anchors)
            self.anchors.append(name)
            if is_map:
                self.maps.append(name)
            return "&" + name + " "
        return ""

    def flow(self, depth):
        r = self.r
        k = r.randrange(8 if depth else 4)
        if k < 4:
            if self.anchors and r.random() < 0.15:
                return "*" + r.choice(self.anchors) + " "
            return self.mark(False) + scalar_text(r).replace(",", "")
        n = r.randrange(0, 4)
        if k < 6:
            body = ", ".join(self.flow(depth - 1) for _ in range(n))
            return self.mark(False) + "[" + body + "]"
        mark = self.mark(False)
        body = ", ".join(self.key() + ": " + self.flow(depth - 1)
                         for _ in range(n))
        return mark + "{" + body + "}"

    def key(self):
        r = self.r
        if r.random() < 0.1:
            return quoted(r, some_text(r))
        return "k%d" % r.randrange(9) if r.random() < 0.8 else r.choice(WORDS)

    def block(self, indent, depth):
        """Text that starts on the line of its parent."""
        r = self.r
        k = r.randrange(7 if depth else 3)
        pad = " " * indent
        if k < 3:
            end = r.choice(["", "", "  # note", " "])
            return " " + self.flow(2) + end + "\n"
        if k == 3:
            lines = ["  " + pad + r.choice(["a", "b  c", "- d", "e: f", ""])
                     for _ in range(r.randrange(1, 4))]
            return " " + r.choice("|>") + r.choice(["", "-", "+"]) + "\n" + \
                pad + "  x\n" + "\n".join(lines) + "\n"
        n = r.choice([1, 2, 2, 3]) if r.random() < 0.95 else 40
        if k == 4:
            out = [" " + self.mark(False) + "\n"]
            for _ in range(n):
                out.append(pad + " -" + self.block(indent + 2, depth - 1))
            return "".join(out)
        return self.block_map(indent, depth, n)

    def block_map(self, indent, depth, n):
        r = self.r
        pad = " " * indent
        out = [" " + self.mark(True) + "\n"]
        for _ in range(n):
            if self.maps and r.random() < 0.4:
                names = [r.choice(self.maps) for _ in range(r.randrange(1, 4))]
                source = "*" + names[0]
                if r.random() < 0.5:
                    source = "[*" + ", *".join(names) + "]"
                out.append(pad + "  <<: " + source + "\n")
            else:
                key = self.key() if n < 20 else "k%d" % r.randrange(10000)
                out.append(pad + "  " + key + ":" +
                           self.block(indent + 2, depth - 1))
        return "".join(out)


def yaml_documents(r, count):
    docs = list(WORDS) + ["", " ", "# only\n", "---\n", "--- a\n...\n", "a\n---\nb",
                          "%YAML 1.1\n---\na: 1", "\ufeffa: 1", "a: 1\r\nb: 2\r\n",
                          "? a\n: b\n", "{a, b: c}", "[a: 1]", "a: &x\nb: *x\n",
                          "a: !!str\n", "!!map {a: 1}", "!!seq [a]", "!!seq {a: 1}",
                          "!!set {a}", "!!omap [a: 1]", "{<<: 1}", "{<<: [1]}",
                          "{<<: {a: 1, b: 2}, a: 3}", "{a: 3, <<: {a: 1, b: 2}}",
                          "{<<: {a: 1}, <<: {a: 2}}", '{"<<": 1}', "{!!str <<: 1}",
                          "{<<: [{a: 1}, {a: 2, b: 3}]}", "- - a\n  - b\n- c\n",
                          "a: 'x\n  y'\n", "a: b\n  c\n", "*x", "[&x a, &x b]"]
    while len(docs) < count:
        w = Writer(r)
        text = w.block(0, 4) if r.random() < 0.8 else w.flow(4)
        if r.random() < 0.3:
            text = damage(r, text, list("{}[],:-?&*!|>'\"%#\n  ab1.\t"))
        docs.append(text)
    # PyYAML fails on 0x and 0b without digits, where we see text; and Python's
    # int() and float() take more than YAML's grammar after an explicit tag.
    odd = re.compile(r"0[xb]_*(?![0-9a-fA-F_])|!!(int|float)")
    return [d for d in docs if not odd.search(d) or plain_tags(d)]


def plain_tags(text):
    ok = r"!!(int|float) (\[|\{|[-+]?(0|[1-9][0-9]*)(\.[0-9]+)?(?![\w.:]))"
    tags = re.findall(r"!!(?:int|float)[^,\]}\n]*", text)
    return all(re.match(ok, t) for t in tags) and \
        not re.search(r"0[xb]_*(?![0-9a-fA-F_])", text)


# -------------------------------------------------------------------- floats

def float_documents(r, count):
    docs = []
    for e in range(-1074, 1024):
        docs.append(struct.unpack("<Q", struct.pack("<d", 2.0**e))[0])
    while len(docs) < count:
        k = r.randrange(3)
        if k == 0:
            docs.append(r.getrandbits(64))
        else:
            f = r.random() * 10**r.randrange(-13, 19)
            if k == 1:
                f = round(f, r.randrange(0, 9))
            docs.append(struct.unpack("<Q", struct.pack("<d", f))[0])
    return ["%016x" % d for d in docs]


def decimal_documents(r, count):
    docs = []
    for _ in range(count):
        digits = "".join(r.choice("0123456789")
                         for _ in range(r.choice([1, 3, 8, 16, 17, 18, 19, 20,
                                                  25, 40, 900])))
        at = r.randrange(len(digits) + 1)
        text = digits[:at] + r.choice(["", "."]) + digits[at:]
        if r.random() < 0.5:
            text += r.choice("eE") + r.choice(["", "+", "-"]) + \
                str(r.randrange(0, r.choice([5, 30, 340])))
        # halfway between two doubles, where rounding is hardest
        if r.random() < 0.2:
            m = r.getrandbits(53) | 1 << 52
            text = str((2 * m + 1) << r.randrange(0, 12))
            if r.random() < 0.5:
                text += r.choice([".0000000000000000001", ".0"])
        docs.append("=" + r.choice(["", "-", "+"]) + text)
    return docs


# ---------------------------------------------------------------------- main

def compare(tool, mode, documents, want):
    bad = errors = 0
    answers = ask(tool, mode, [d.encode("utf-8") for d in documents])
    for doc, answer in zip(documents, answers):
        expected = want(doc)
        if answer.startswith(b"error: "):
            got = ERROR
        elif mode == "float":
            got = answer.decode()
        else:
            got = canon(json.loads(answer.decode("utf-8")))
        errors += expected is ERROR
        if got != expected:
            bad += 1
            if bad <= 10:
                print("%s differs on %r\n  Python: %s\n  ours:   %s" % (
                    mode, doc, "error" if expected is ERROR else expected,
                    answer.decode("utf-8", "replace")))
    print("%-5s %d documents, %d of them errors, %d differ" %
          (mode, len(documents), errors, bad))
    return bad


def bits_to_repr(doc):
    return repr(struct.unpack("<d", struct.pack("<Q", int(doc, 16)))[0])


def main():
    tool = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 4000
    r = random.Random(SEED)
    jobs = [
        ("json", json_documents(r, count), python_json),
        ("yaml", yaml_documents(r, count), python_yaml),
        ("float", float_documents(r, 5 * count), bits_to_repr),
        ("float", decimal_documents(r, count), lambda d: repr(float(d[1:]))),
    ]
    bad = sum(compare(tool, mode, docs, want) for mode, docs, want in jobs)
    print("%d compared" % sum(len(docs) for _, docs, _ in jobs))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
