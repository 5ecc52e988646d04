printf 'two\nlines\n' > text
prony plan --no-defaults --set-file a.text=text --format json
