# Containers of apptainer, which here is a script: it shows what it was asked,
# and runs the program with what would be its environment inside.
mkdir bin 'a,b'
cat > bin/apptainer <<'END'
#!/bin/sh
for word; do
    case $word in
    *:ro) ;; # the files that come with Prony
    "$TMP"*) echo "$word" | sed "s|out/experiments.*|EXPERIMENT|" ;;
    *) echo "$word" ;;
    esac
done
while [ "$1" != image.sif ]; do shift; done
shift
[ "$1" != nonesuch ] || { echo "FATAL:   no nonesuch inside"; exit 255; }
export X="$APPTAINERENV_X" EXPERIMENT="$APPTAINERENV_PRONY_EXPERIMENT"
exec "$@"
END
chmod +x bin/apptainer
PATH="$TMP/bin:$PATH"
export PRONY_NVML="$TMP/none"
try() {
    prony run -q -o out --image image.sif -P exp.docker_launcher=apptainer "$@" >/dev/null || echo "status $?"
    [ -d out ] || return 0
    sed -n 's/^ "\(status\|reason\)": "\(.*\)",$/\1 \2/p' out/experiments/*/result.json
    cat out/experiments/*/log.txt | sed 's/0001-[0-9a-f]*/ID/' > log
    rm -rf out
}
try -P exp.command=true
: > image.sif
try -P exp.command='["sh", "-c", "echo $X $EXPERIMENT"]' -P runtime.env.X='"1,2"' -P exp.data_dir='"a,b"' -P container.memory=1GiB
cat log
try -P exp.command=nonesuch
try -P exp.command='["sh", "-c", "exit 255"]'
prony plan --validate --image image.sif -P exp.docker_launcher=apptainer -P exp.command=true -V container.user='["", "me"]' || echo "status $?"
