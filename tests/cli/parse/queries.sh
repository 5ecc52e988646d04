# --query and --select: text from the start, lists, numbers; what lacks a name
# passes --filter-query alone.
cat >in.json <<'END'
{"data": [{"f": "caffe", "n": 1, "i": 1}, {"f": "caffe2", "n": 2, "i": 2},
          {"f": "bvlc_caffe", "n": 4, "i": 3}, {"n": true, "i": 4}]}
END
count() {
    prony parse in.json -o out.json "$@" >/dev/null
    echo "$(grep -o '"i": [0-9]' out.json | tr -d '\n"') : $*"
}
count --query '{"f": "caffe"}'
count --select '{"f": ["caffe"]}'
count --select '["f"]'
count --query '{"n": 1}'
count --query '{"n": [2, 4]}' --select '{"f": "bvlc"}'
count --filter-query '{"f": "caffe$"}'
echo '{"n": 4}' >query.json
count --select query.json
