prony build --discard-default-config -P a=1
prony validate -P exp.command=true | tail -1
