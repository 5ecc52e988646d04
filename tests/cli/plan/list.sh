prony plan --list
