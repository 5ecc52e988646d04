prony plan --explain exp.modle
