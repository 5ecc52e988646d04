prony plan --no-defaults $(for i in 1 2 3 4 5 6 7 8 9 10; do echo "-V v$i=[1,2,3,4,5,6,7,8,9,0]"; done)
