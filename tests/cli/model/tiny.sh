# The small size of a model, its parameters and its losses.
try()
{
    status=0
    "$@" || status=$?
    echo "exit $status"
}
cat > words.yaml <<'Y'
model: words
title: Words
says: Two networks that learn in turn.
given: {rows: 8, width: 16}
tiny: {rows: 3, width: 4}
inputs:
  words: {shape: [$rows], ids: 50}
  wanted: {shape: [$rows, $width]}
output: again
layers:
  - {embedding: $width, name: e}
  - {linear: $width, name: l}
  - {linear: $width, like: l, name: again}
  - {linear: 1, from: e, freeze: true, name: fixed}
losses:
  - {mse: again, target: wanted, turn: 2}
  - {bce: fixed, target: 1, name: right}
turns: [[e], [l]]
Y
prony model ./words.yaml
prony model ./words.yaml --tiny
prony model ./words.yaml --tiny --format json | grep -A 4 -E '"(given|losses)"'
prony model resnet18 --tiny | tail -2
prony model vgg16 --tiny --classes 3 | tail -2
try prony model --tiny
sed '/^tiny/d' words.yaml > bare.yaml
sed -i 's/^model: words/model: bare/' bare.yaml
try prony model ./bare.yaml --tiny
try prony model ./words.yaml --classes 3
prony run -P exp.framework=native -P exp.model=resnet18 --tiny --dry-run | grep '^resnet18'
prony plan -P exp.framework=native -P exp.model=resnet18 -P nn.tiny=true | grep '^resnet18'
