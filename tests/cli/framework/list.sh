# The frameworks there are, and one of them as a page and as JSON.
# tags: valgrind
prony help --frameworks | cut -c 1-57 | sed 's/ *$//'
prony help --frameworks jax | sed '/found here/,/phases/d; /file:/d'
prony help --frameworks --format json onnxruntime jax | grep -v '"detail"\|"file"\|"state"'
prony help --frameworks --format json | grep -c '"kind"'
prony help --frameworks jaxx || echo "status $?"
prony help jax --frameworks | head -1
