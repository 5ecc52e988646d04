# The schema takes what Prony takes, and finds mistakes in the rest.
prony __schema >schema.json
python3 - <<'END'
import json
schema = json.load(open("schema.json"))


def refs(node):
    for key, value in node.items() if isinstance(node, dict) else \
            enumerate(node) if isinstance(node, list) else ():
        if key == "$ref":
            yield value
        yield from refs(value)


for ref in set(refs(schema)):
    name = ref.removeprefix("#/$defs/")
    assert name != ref and name in schema["$defs"], ref
END
cat >small.py <<'END'
"""As much of a JSON schema validator as our schema needs."""
import re

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool,
         "number": (int, float), "integer": int, "null": type(None)}


def of_type(v, names):
    names = [names] if isinstance(names, str) else names
    return any(isinstance(v, TYPES[n])
               and (n == "boolean" or not isinstance(v, bool)) for n in names)


class Validator:
    def __init__(self, schema):
        self.defs = schema["$defs"]
        self.schema = schema

    def is_valid(self, v):
        return self.check(self.schema, v)

    def check(self, s, v):
        if isinstance(s, bool):
            return s
        number = of_type(v, "number")
        return all((
            "$ref" not in s or self.check(self.defs[s["$ref"][8:]], v),
            "type" not in s or of_type(v, s["type"]),
            "enum" not in s or v in s["enum"],
            "pattern" not in s or not isinstance(v, str)
            or re.search(s["pattern"], v) is not None,
            not number or s.get("minimum", v) <= v <= s.get("maximum", v),
            "anyOf" not in s or any(self.check(a, v) for a in s["anyOf"]),
            "not" not in s or not self.check(s["not"], v),
            "if" not in s or self.check(
                s["then" if self.check(s["if"], v) else "else"], v),
            not isinstance(v, dict) or self.check_map(s, v),
            not isinstance(v, list) or (len(v) >= s.get("minItems", 0) and all(
                self.check(s.get("items", True), i) for i in v))))

    def check_map(self, s, v):
        known = s.get("properties", {})
        patterns = s.get("patternProperties", {})
        return all(k in v for k in s.get("required", ())) and all(
            self.check(s.get("propertyNames", True), k)
            and self.check(known.get(k, True), item)
            and all(self.check(sub, item) for p, sub in patterns.items()
                    if re.search(p, k))
            and (k in known or any(re.search(p, k) for p in patterns)
                 or self.check(s.get("additionalProperties", True), item))
            for k, item in v.items())
END
python3 - <<'END'
import json
import sys
sys.path.insert(0, ".")
from small import Validator

schema = json.load(open("schema.json"))
checks = [Validator(schema)]
try:
    from jsonschema import Draft202012Validator
    Draft202012Validator.check_schema(schema)
    checks.append(Draft202012Validator(schema))
except ImportError:
    pass


def group(**keys):
    return {"experiments": [keys]}


good = [
    {"exp.command": ["sleep", "0.1"]},
    {"exp": {"command": "sleep 1", "timeout": "2m"}, "my.note": "x"},
    {"exp.timeout": 90}, {"exp.timeout": "1.5s"}, {"exp.timeout": "${my.t}"},
    {"exp.docker": "$(1 == 1)$"}, {"exp.docker": True},
    {"exp.num_nodes": "1_000"}, {"exp.workload": ""},
    {"runtime": {"env": {"A": 1}, "env.B": "x"}, "runtime.env.C": 1},
    {"sys": {"plan_builder": {"var_order": ["a"]}}},
    {"sys.plan_builder.var_order": ["a"], "sys.mine": 1},
    {"parameters": {"exp.timeout": "1h", "mine": {"deep": 1}},
     "experiments": [{"name": "a"}]},
    group(variables={"exp.replica_batch": [16, "32"], "t": [1]}),
    group(extensions=[{"condition": {"exp.model": "x"},
                       "parameters": {"a.b": 1},
                       "cases": [{"exp.dtype": "int8"}]}]),
]
bad = [
    {"exp.timeot": 1}, {"exp": {"timeot": 1}}, {"exp.timeout": -1},
    {"exp.timeout": "soon"}, {"exp.phase": "walking"}, {"exp.num_nodes": 0},
    {"exp.num_nodes": 1.5}, {"exp.docker": "maybe"}, {"exp.args": 1},
    {"sys": {"plan_builder": {"var": []}}}, {"sys.plan_builder.var": []},
    {"experiments": []}, {"experiments": [{}], "parametrs": {}},
    group(nam="a"), group(parameters={"exp.phase": "x"}),
    group(variables={"exp.phase": ["training", "x"]}),
    group(variables={"exp.phas": ["training"]}),
    group(extensions=[{"conditions": {}}]),
    group(extensions=[{"parameters": {"exp.phase": "x"}}]),
]
for check in checks:
    for doc in good:
        assert check.is_valid(doc), doc
    for doc in bad:
        assert not check.is_valid(doc), doc
END
