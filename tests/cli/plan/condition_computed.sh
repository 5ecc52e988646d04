prony plan --no-defaults -P a=1 -P n='"$(1)$"' -E '{"condition": {"n": "1"}, "parameters": {"k": 1}}'
