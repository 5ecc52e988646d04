echo 'exp.model: [a]' > target.yaml
echo '{"parameters": {"exp.model": "b"}}' > config.json
PRONY_EXP_MODEL=c prony plan target.yaml --config config.json -P exp.model='"d"' --explain exp.model
prony plan --explain exp.effective_batch -V exp.gpus='["", "0,1"]'
