# What strangers leave: binary, no UTF-8, long lines, deep nesting, half of
# everything. What can be read is read.
good='__a__=1'
{ echo $good; head -c 300000 /dev/urandom; printf '\n__b__=2'; } >binary.log
printf '%s\n__c__="\377"\n\376\n__b__=2\n' $good >utf.log
{ echo $good; printf '__c__='; head -c 50000 /dev/zero | tr '\0' '['; printf '\n__b__=2\n'; } >deep.log
{ echo $good; head -c 9000000 /dev/zero | tr '\0' 'x'; printf '\n__b__=2\n'; } >long.log
{ echo $good; printf '__c__="'; head -c 9000000 /dev/zero | tr '\0' 'x'; printf '"\n__b__=2\n'; } >value.log
{ printf '%s\n__b__=2\n' $good | gzip -c | head -c 30; } >cut.log.gz
printf '%s\r\n50%%\r60%%\r__b__=2\r__c' $good >cr.log
printf '{"data": [{"a": 1, "b": 2}, {"a"' >half.json
: >empty.log
for f in *.log *.gz *.json; do
    prony parse $f -o out.js.json 2>err >/dev/null || echo "status $?"
    echo "$f: $(tr -d ' \n' <out.js.json) $(head -1 err | cut -c -60)"
    rm out.js.json
done
