# Nothing found is an answer: none, and a word on stderr.
prony help --params '^no_such'
prony help --params exp --text 'no such words' -q
prony help --params '^no_such' --format json
