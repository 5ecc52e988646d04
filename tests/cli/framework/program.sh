# The program by hand: what is wrong with its arguments.
program() { python3 -S -B "$SRC/python/prony/backends/pytorch.py" "$@"; }
echo '{}' > model.json
echo 'no' > bad.json
program --model none.json || echo "status $?"
program --model bad.json || echo "status $?"
program --model model.json nn.tread=2 || echo "status $?"
program --model model.json fast || echo "status $?"
program --model model.json nn.momentum=-0.5 || echo "status $?"
program --model model.json exp.dtype=int8 || echo "status $?"
program --model model.json exp.replica_batch=0 || echo "status $?"
program --model model.json --params none.json || echo "status $?"
