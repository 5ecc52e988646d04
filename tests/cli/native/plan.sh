# A plan says how large a step is; a model that is not there is named.
prony doctor | grep -q "^oneDNN *ok" || { echo "no oneDNN; install libdnnl-dev"; exit 77; }
prony plan exp.framework=native exp.model=resnet50 exp.gpus=
prony plan exp.framework=native -V exp.model='["lenet", "deep_mnist"]' exp.phase=inference exp.replica_batch=2 exp.gpus=
prony plan exp.framework=native exp.model=resnet5
