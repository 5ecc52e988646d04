# What is wrong is said, with its place, and with the right status.
echo '{"data": [{"x": 1, "y": 2}, {"x": 2, "y": "much"}]}' >r.json
try() { prony plot "$@" >out || echo "exit $?"; }
try
try r.json
try r.json --yparam y --series '[{"x"'
try r.json --yparam y --series 5
try r.json --yparam y --chart-file chart.gif
try r.json --yparam y --chart-opts '{"titel": "x"}'
try r.json --yparam y --chart-type pie
try r.json --yparam y --baseline-series 3
try r.json --yparam y --xparam z
try r.json --chart-type monitor --xparam x
try none.json --yparam y
try r.json --yparam y --chart-file none/chart.svg
try r.json --yparam y --xparam x --series '[{"x": 1}, {"x": 7}]' \
    --baseline-xvalue 1 --chart-file chart.svg
