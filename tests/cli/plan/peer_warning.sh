# An unknown name in a DLBS config is passed on with a warning.
echo '{"parameters": {"exp.trial": 0, "n": {"val": "x", "val_regex": "a"}}, "varables": {}}' > c.json
prony plan c.json --explain exp.trial
