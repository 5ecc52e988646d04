# A start that was killed before it had a plan is no obstacle; a folder of the
# user's is not removed when a start fails.
mkdir -p out/experiments mine
touch out/events.ndjson out/.new-plan.json.1.0
prony run -q -P exp.command=true -o out > /dev/null
prony run -q -V 'a=[]' -o mine || echo "status $?"
test -d mine
