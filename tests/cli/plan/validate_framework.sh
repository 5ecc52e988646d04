# Frameworks: what their files say of phases, places and models, whether they
# are installed, and whether a launcher is there.
export PRONY_FRAMEWORKS="$TMP/mine"
mkdir mine
cat > mine/boxed.yaml <<'END'
framework: boxed
title: Boxed
about: A framework of the user's.
phases: [inference]
places: [container]
models: [resnet50]
END
cat > mine/bare.yaml <<'END'
framework: bare
title: Bare
about: Another one.
find: {program: nonesuch-bare}
remedy: build it
models: [resnet50]
END
printf '#!/bin/sh\nexit 0\n' > launcher.sh
chmod +x launcher.sh
: > no_program.sh
try() { echo "-- $*"; prony plan --validate -P exp.model=resnet50 "$@" || echo "status $?"; }
try -P exp.framework=boxed -V exp.phase='["training", "inference"]'
try -P exp.framework=bare
try -P exp.framework=bare -P bare.launcher=./none.sh
try -P exp.framework=bare -P bare.launcher=./no_program.sh
try -P exp.framework=bare -P bare.launcher=./launcher.sh -V exp.model='["resnet50", "vgg99"]'
try -P exp.framework=barr -P exp.gpus='"7"'
# An interpreter that has no PyTorch says so itself; one that says nothing of
# the kind is believed to have it.
mkdir share
ln -s "$SRC/workloads" "$SRC/models" "$SRC/python" "$SRC/frameworks" share
export PRONY_SHARE="$TMP/share"
printf '#!/bin/sh\nexec python3 -S "$@"\n' > python
printf '#!/bin/sh\nexit 1\n' > other
chmod +x python other
try -P exp.framework=pytorch -P runtime.python=./python -V n='[1, 2]'
try -P exp.framework=pytorch -P runtime.python=./other
