prony plan --no-defaults -V m='["resnet50", "vgg16", "alexnet"]' --format json \
    -E '{"condition": {"m": "(resnet|vgg)([0-9]+)"}, "parameters": {"family": "${__condition.m_1}"}, "cases": [{"depth": "${__condition.m_2}"}, {"depth": 0}]}'
