# A framework of the user's own: a file in a folder that is looked at first, a
# launcher beside it, and parameters that nobody has to set.
mkdir mine
cat > mine/toy.yaml <<'END'
framework: toy
title: Toy
about: Computes nothing.
launcher: ./toy.sh
image: example/toy
parameters:
  depth: 3
  speed: {default: "$(${toy.depth} * 2)$", type: int, help: How fast it is.}
  mode: {default: fast, choices: [fast, slow]}
  unset: {help: It has no default.}
END
cat > mine/toy.sh <<'END'
#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in
        --toy_*) echo "$1 $2" ;;
        --exp_log_file) log=$2 ;;
    esac
    shift 2
done
echo '__results.time__= 4.5' >> "$log"
END
chmod +x mine/toy.sh
export PRONY_FRAMEWORKS="$TMP/mine"
prony help --frameworks toy
prony plan -P exp.framework=toy --format json | tail -2 | grep -o '"exp.framework_title": "[^"]*"\|"exp.docker_image": "[^"]*"\|"toy[^,}]*'
prony plan -P exp.framework=toy -P toy.depth=5 --explain toy.speed
prony plan -P exp.framework=toy --explain toy.speed
prony plan -P exp.framework=toy -P toy.docker_image=mine --explain exp.docker_image
prony plan -P exp.framework=toy -P toy.mode=fats || echo "status $?"
prony plan -P exp.framework=toy --no-defaults --format json --full | tail -2
prony run -q -P exp.framework=toy -V toy.depth='[1, 2]' -o out | tail -1
grep -h -e '^--toy_depth' -e '^--toy_speed' out/experiments/*/log.txt
echo 'kinds: script' >> mine/toy.yaml
prony plan -P exp.framework=toy || echo "status $?"
PRONY_FRAMEWORKS=nowhere prony run -P exp.framework=toy || echo "status $?"
