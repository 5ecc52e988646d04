# run: prony report examples/baseline.json --weights '{"demo.vae": {"weight": 8}, "demo.wlm": {"weight": 4}}' --compare examples/baseline.json --compare-gpus
# expect: Score:*114.47
# expect: Score (baseline):*144.22
# expect: demo.vae 96% 100%
