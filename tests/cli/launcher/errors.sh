# Launchers that cannot be started are refused before anything runs.
touch plain.sh
no() { prony run -q -o out -P exp.model=resnet50 "$@" || echo "status $?"; }
no -P exp.framework=mxnet
no -P exp.framework=mxnet -P mxnet.launcher=./none.sh
no -P exp.framework=mxnet -P mxnet.launcher=./plain.sh
no -P exp.framework=mxnet -P mxnet.launcher=no-such-program
no -P exp.framework=bvlc_caffe
no -P exp.framework=caffe3
ls
