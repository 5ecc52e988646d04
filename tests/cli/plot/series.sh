# tags: valgrind
# Series as DLBS's series_builder prints them, from a list of results or logs.
cat >r.json <<'END'
{"data": [
 {"exp.framework": "mxnet", "exp.num_gpus": 1, "results.time": 10},
 {"exp.framework": "mxnet", "exp.num_gpus": 2, "results.time": 4},
 {"exp.framework": "mxnet", "exp.num_gpus": 2, "results.time": 6},
 {"exp.framework": "caffe2", "exp.num_gpus": 1, "results.time": 20.5},
 {"exp.framework": "caffe2", "exp.num_gpus": "cpu", "results.time": 1}]}
END
prony plot r.json --xparam exp.num_gpus --yparam results.time --aggregation avg \
    --series '[{"exp.framework": "mxnet"}, {"exp.framework": "caffe"}]'
prony plot r.json --xparam=exp.num_gpus --yparam=results.time --aggregation=min \
    --series '[{"exp.framework": "mxnet"}]' --baseline_xvalue 1 \
    --series_file s.json >out.json
cmp s.json out.json
grep -A4 data s.json
mkdir -p logs/deep
printf '__exp.num_gpus__= 4\n__results.time__= 2.5\n' >logs/deep/a.log
prony plot logs --recursive --xparam exp.num_gpus --yparam results.time |
    grep '"4"'
prony plot r.json --xparam exp.num_gpus --yparam results.time \
    --series exp.framework --query '{"exp.num_gpus": 1}' --baseline-series 0 |
    grep -A2 'framework\|data'
