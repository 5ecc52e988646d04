# A run is refused before anything is made when something is missing; all of it
# is said. A program that is missing is no reason: other experiments may do.
export PRONY_NVML="$TMP/none"
mkdir bin
printf '#!/bin/sh\nexit 1\n' > bin/docker
chmod +x bin/docker
PATH="$TMP/bin:$PATH"
try() { prony run "$@" || echo "status $?" >&2; }
try -P exp.command=true -P exp.docker=true -P exp.docker_launcher=./docker -P exp.docker_image=one -o out
try -P exp.command=true -V exp.log_file='["a", "a"]' -P exp.docker=true -P exp.docker_launcher=./docker \
    -V exp.docker_image='["one", "two"]' -o out
try -q -P exp.command=true -V exp.log_file='["a", "a", "a"]' -o out
try --format json -q -P exp.docker=true -P exp.docker_launcher=./docker -P exp.docker_image=one -o out
[ ! -e out ]
[ ! -e runs ]
try -V exp.command='["true", "./nonesuch"]' -P exp.gpus='"0"' -o some > said
grep -c 'ok\|failed' said
try --no-validation -P exp.command=true -V exp.log_file='["a", "a"]' -o out > said
grep -c 'ok\|skipped' said
try --image one -P exp.docker_launcher=./docker -P exp.command=true -o other
try --image '' -P exp.command=true -o other
prony plan -q -P exp.workload=null -P exp.log_file=a -o p.json
try p.json --image x -o other
