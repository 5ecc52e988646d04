# Why a program of ours failed is what it said last after "prony: ", also when
# its libraries had more to say; of other programs it is the exit status.
mkdir share
ln -s "$SRC/workloads" "$SRC/models" "$SRC/python" "$SRC/frameworks" share
export PRONY_SHARE="$TMP/share"
cat > fake <<'END'
#!/bin/sh
echo 'prony: the first words'
echo 'prony: the last words'
echo 'some library: leaked 1 semaphore'
exit 3
END
cat > quiet <<'END'
#!/bin/sh
echo 'no prony: here'
exit 3
END
chmod +x fake quiet
try() { prony run -q "$@" || echo "status $?"; }
try -P exp.framework=pytorch -P exp.model=lenet -P runtime.python='"./fake"' -o ours
try -P exp.framework=pytorch -P exp.model=lenet -P runtime.python='"./quiet"' -o silent
try -P exp.command=./fake -o other
