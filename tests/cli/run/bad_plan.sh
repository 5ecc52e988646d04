echo '{"schema": "prony.plan/1", "count": 1, "experiments": [{"id": "../x", "params": {}}]}' > p.json
prony run ./p.json -o out
