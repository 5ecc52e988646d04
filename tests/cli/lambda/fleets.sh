# Two fleets: machines that the other side has not are repeats. A results
# folder is reported, compared, parsed and plotted like a run.
log() { # FLEET HOST VALUE
    mkdir -p "$1/$2/PyTorch_gnmt_FP32"
    printf '0: Performance: Epoch: 0\tTraining: %s Tok/s\nDONE!\n' "$3" \
        >"$1/$2/PyTorch_gnmt_FP32/01-01-2026_00-00-0$4.txt"
    printf 'GLOBAL_BATCH 64\nGPU 1\n' >"$1/$2/PyTorch_gnmt_FP32/benchmark.para"
}
log A a1 1000 1; log A a1 1002 2; log A a2 1001 1; log A a2 1003 2
log B b1 1200 1; log B b1 1201 2; log B b2 1203 1; log B b2 1202 2
prony compare A B --format csv | tr -d '\r' | cut -d, -f1-10,15
prony report A --format csv | tr -d '\r'
prony parse -r A -o a.json >/dev/null
grep -o '"results.throughput": [0-9.]*' a.json
prony plot -r A B --xparam exp.node_title --yparam results.throughput | tr -d ' \n' | grep -o '"data":{[^}]*'
# The same names on both sides are compared one by one.
cp -r A C
prony compare A C --format csv | tr -d '\r' | cut -d, -f3,15
