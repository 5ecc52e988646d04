# tags: valgrind
# The numbers of DLBS's introduction, by its own command line.
cat >bench.json <<'END'
{"data": [
 {"exp.framework": "mxnet", "exp.model_title": "ResNet50", "exp.gpus": "0", "exp.effective_batch": 16, "results.time": 913.44},
 {"exp.framework": "mxnet", "exp.model_title": "ResNet50", "exp.gpus": "0,1", "exp.effective_batch": 32, "results.time": 1029.24},
 {"exp.framework": "mxnet", "exp.model_title": "ResNet50", "exp.gpus": "0,1,2,3", "exp.effective_batch": 64, "results.time": 1065.12},
 {"exp.framework": "caffe2", "exp.model_title": "VGG16", "exp.gpus": "0", "exp.effective_batch": 64, "results.time": 400},
 {"exp.framework": "caffe2", "exp.model_title": "VGG16", "exp.gpus": "0,1", "exp.effective_batch": 64}]}
END
prony scaling --summary_file ./bench.json --type weak-scaling \
    --target_variable results.time --query '{"exp.framework": "mxnet"}' \
    --report-file report.json
cat report.json
