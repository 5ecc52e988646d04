prony plan a.b=1,2
