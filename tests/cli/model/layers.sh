# tags: valgrind
# The layers of a model of one's own: blocks written out, shapes, counts.
cat > small.yaml <<'Y'
model: small
title: Small
says: A network that can be counted by hand.
input: [1, 8, 8]
classes: 3
reference: {params: 219, flops: 5808, source: paper and pencil}
blocks:
  unit:
    given: {width: null}
    layers: [{conv: $width, kernel: 3, pad: 1}, batch_norm, relu]
layers:
  - {unit: , width: 4}
  - {max_pool: 2}
  - {conv: 8, kernel: 3, stride: 2, pad: 1, groups: 2, bias: false}
  - global_pool
  - {linear: $classes, name: head}
Y
prony model ./small.yaml
prony model ./small.yaml --format json
prony model ./small.yaml --input 1,16,16 --classes 7 | tail -2
