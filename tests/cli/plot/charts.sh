# Every kind of chart and image: what is in it, not its pixels.
cat >r.json <<'END'
{"data": [
 {"m": "alexnet", "n": 1, "t": 10, "l": [1, 2, 3, 9]},
 {"m": "alexnet", "n": 1, "t": 12, "l": [1, 2, 3, 9]},
 {"m": "alexnet", "n": 2, "t": 6, "l": [2, 3, 4]},
 {"m": "resnet <50>", "n": 1, "t": 50, "l": [5]},
 {"m": "resnet <50>", "n": 2, "t": 26, "l": [6]}]}
END
cat >look.py <<'END'
import collections, sys
import xml.etree.ElementTree as ET
root = ET.parse(sys.argv[1]).getroot()
tag = lambda e: e.tag.split("}")[1]
seen = collections.Counter(
    tag(e) + "." + e.get("class", "").split(" ")[0] for e in root.iter())
print(sys.argv[1], root.get("width"), root.get("height"))
print(" ", [e.text for e in root.iter() if tag(e) == "text"])
print(" ", sorted((k, n) for k, n in seen.items() if k[-1] != "."
                  and not k.startswith(("text", "g."))))
END
chart() { prony plot r.json --xparam n --series m "$@" >/dev/null; }
chart --yparam t --chart-file line.svg
chart --yparam t --chart-file points.svg --chart-type points
chart --yparam t --chart-file bar.svg --chart-type bar --baseline-xvalue 1
chart --yparam l --chart-file box.svg --chart-type box
chart --yparam t --chart-file log.svg --chart-opts '{"title": "Zeit, 時間",
    "yscale": "log", "ylabel": "time", "yunit": "ms", "legend": ["A", "B"],
    "width": 600, "height": 400}'
for f in line points bar box log; do
    python3 look.py $f.svg
done
if prony doctor | grep -q '^ *cairo *ok'; then
    # fontconfig loses a few hundred bytes when it reads its own files
    echo leak:libfontconfig >leaks
    export LSAN_OPTIONS="suppressions=$PWD/leaks:print_suppressions=0"
    chart --yparam t --chart-file a.png
    chart --yparam t --chart-file a.PDF
else # what they would be
    printf '\211PNG\r\n' >a.png && printf '%%PDF-' >a.PDF
fi
head -c 4 a.png | tail -c 3
head -c 4 a.PDF
