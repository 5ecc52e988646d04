# What a plan needs and this machine lacks: all of it in one list, each thing
# once and asked for once, with the experiments it concerns and a remedy.
# tags: valgrind
export PRONY_NVML="$TMP/none"
mkdir bin data
cat > bin/docker <<'END'
#!/bin/sh
echo "$@" >> "$TMP/asked"
for image; do :; done
[ "$image" = here ] || { echo "Error: No such image: $image" >&2; exit 1; }
END
chmod +x bin/docker
PATH="$TMP/bin:$PATH"
try() { prony plan --validate "$@" || echo "status $?"; }
try -P exp.command=true -V n='[1, 2]'
try -P exp.command=true -V exp.status='["ok", "disabled"]'
echo "-- a plan with everything wrong"
cat > plan.yaml <<'END'
experiments:
- parameters: {exp.docker: true, exp.docker_launcher: docker, exp.command: true, exp.gpus: "0,1"}
  variables: {exp.docker_image: [here, gone, there], n: [1, 2]}
- parameters: {exp.docker: true, exp.docker_launcher: ./podman, exp.docker_image: here, exp.command: true}
- parameters: {exp.docker: true, exp.docker_launcher: docker, exp.command: true}
- parameters: {exp.command: ["./nonesuch", "a"], exp.log_file: same.log}
  variables: {n: [1, 2]}
- parameters: {exp.framework: nonesuch}
- parameters: {exp.framework: native, exp.model: lenett}
- parameters: {exp.workload: emulate, dataset.format: npz, dataset.num_files_train: 8, dataset.data_folder: nowhere}
- parameters: {exp.workload: emulate, dataset.format: npz, dataset.num_files_train: 8, dataset.data_folder: made,
               dataset.record_length_bytes: 1000000000000000, workflow.generate_data: true}
- parameters: {n: 1}
END
try plan.yaml
cat asked
echo "-- one thing"
try -P exp.command=none
prony validate --format json -P exp.command=none || echo "status $?"
echo "-- a finished plan"
prony plan -q -P exp.command=none -V n='[1, 2]' -o p.json
try p.json
