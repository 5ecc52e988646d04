#!/usr/bin/env python3
"""Compares the expression evaluator with Python's own eval.

usage: expr_vs_python.py EXPR_TOOL [COUNT]

EXPR_TOOL is the program made from tests/unit/expr_tool.c. Some hundred
expressions picked by hand and COUNT random ones (the same every time) are
evaluated by both; str() of the results must agree, and where Python raises an
exception there must be an error. Left out by rule: expressions in which
Python meets a whole number of more than 64 bits, and those over our limits.
"""
import ast
import json
import math
import os
import random
import re
import subprocess
import sys
import uuid
import warnings

warnings.simplefilter("ignore")

GLOBALS = {"os": os, "sys": sys, "re": re, "uuid": uuid, "json": json,
           "math": math}

PICKED = r"""
1
-1
+1
--1
- -1
~5
007
00
0
0x1F
0XfF
0o17
0b1010
0b2
0o8
0xg
1_000
1__0
1_
_1
0x_f
1_000.5
1e3
1E-3
1.5e+10
1.
.5
1.e5
1e
1e400
-1e400
1j
1if 1else 2
1 if True else 2
1.real
9223372036854775807
-9223372036854775807
9223372036854775807+0
1e16
1e15
123456789012345678.0
0.1+0.2
1e-5
0.0001
1e22
5e-324
2.2250738585072014e-308
1.7976931348623157e308
-0.0
0.0
3.0
100.0
1/3
2/3
10/2
7//2
-7//2
7//-2
-7//-2
7%4
-7%4
7%-4
-7%-4
7.5//2
-7.5//2
7.5%2
-7.5%2
7.5%-2
-0.0%5
0.0//-5
5%0
5//0
5/0
5.0/0
5.0%0.0
5.0//0.0
1e308*10
1e308*10-1e308*10
2**10
2**-1
2**0.5
2.0**3
(-8)**2
-2**2
(-2)**2
2**3**2
2**-2**2
0**0
0**-1
0.0**-1
(-8)**0.5
10.0**400
1<<10
1<<62
-1>>70
5>>1
1<<-1
-5>>1
5&3
5|3
5^3
5&True
True&False
True|False
True^True
5.0&3
'a'&3
True+True
True*3
-True
~True
True/2
True//1
True==1
False==0
1.0==1
'1'==1
1!=2
1<2
2<=2
1<2<3
1<3<2
1<2>0
1==1==1
1<2==True
'a'<'b'
'a'<1
'a'=='a'!='b'
[1,2]<[1,3]
[1,2]<[1,2,3]
[1,'a']<[2,1]
[1,'a']<[1,1]
(1,2)<(1,3)
(1,2)<[1,3]
None==None
None<1
None is None
None is not None
True is True
True is False
1 is True
'a' in 'abc'
'd' in 'abc'
'' in ''
1 in [1,2]
3 in (1,2)
3 not in (1,2)
'a' in {'a':1}
1 in 'abc'
1 in 5
not 1
not not 1
not 0 and 1
not (0 and 1)
1 and 2
0 and 2
1 or 2
0 or 2
'' or 'x'
[] or 'empty'
0 or '' or None
1 and 0 or 3
1 or 1/0
0 and 1/0
1/0 if False else 3
3 if True else 1/0
1 if 0 else 2 if 0 else 3
1 if 1 else 2 if 1 else 3
(1 if 1 else 2) if 0 else 3
1 if (0 if 1 else 1) else 2
1 + 2 if 1 else 3
not 1 if 0 else 2
1 == 1 and 2 == 2
not 1 == 2
1 + not 2
1 == not 2
1 if 2
if 1 else 2
1 else 2
1 2
1 'a'
'a' 1
()
(1,)
(1)
(1,2)
(1,2,)
1,
1,2
,
(,)
[]
[1]
[1,]
[1,2,3]
[1,[2,[3]]]
[,]
[1 2]
{}
{'a':1}
{'a':1,'b':[1]}
{'a':1,'a':2}
{1:'x',True:'y'}
{[1]:2}
{'a'}
{'a':1}['a']
{'a':1}['b']
{'a':1}.get('a')
{'a':1}.get('b')
{'a':1}.get('b', 5)
{'a':1}.keys()
{'a':1}.values()
{'a':1}.items()
{}.keys()
list({'a':1,'b':2})
sorted({'b':1,'a':2}.items())
len({'a':1})
set()
{1}
len({1,2,1})
sorted({3,1,2})
sorted(set('hello'))
1 in {1,2}
{1,2}=={2,1}
sorted({1,2}|{2,3})
sorted({1,2}&{2,3})
sorted({1,2}-{2,3})
sorted({1,2}^{2,3})
[1,2]+[3]
(1,)+(2,)
[1]+(2,)
[1]*3
3*[1]
(1,2)*2
[1]*0
[1]*-1
'ab'*3
3*'ab'
'ab'*0
'ab'*-1
'ab'*1.5
'a'+'b'
'a'+1
1+'a'
'a'-'b'
'a'*'b'
[1]-[1]
None+1
-'a'
~1.5
+'a'
-[]
not []
'abc'[0]
'abc'[-1]
'abc'[3]
'abc'[-4]
'abc'['a']
'abc'[1.0]
'abc'[True]
'abc'[1:]
'abc'[:1]
'abc'[:]
'abc'[::2]
'abc'[::-1]
'abc'[2:0:-1]
'abc'[10:]
'abc'[:10]
'abc'[-2:]
'abc'[:-1]
'abc'[::0]
'abc'[1:2:1]
'abc'[None:2]
'abc'['a':]
'abc'[]
'abc'[1,2]
[1,2,3][1]
[1,2,3][-1]
[1,2,3][3]
[1,2,3][1:]
[1,2,3][::-1]
[1,2,3][::2]
(1,2,3)[:2]
(1,2,3)[::-1]
[[1,2],[3]][0][1]
5[0]
5[0:1]
None[0]
range(5)[2]
range(5)[-1]
range(5)[9]
'héllo'
len('héllo')
'héllo'[1]
'héllo'[::-1]
'héllo'[1:3]
'日本語'[1]
len('日本語')
'日本語'.find('語')
'日本語'.center(7,'*')
'é' 'a'
'abc' "def"
'a''b'
'it\'s'
"it's"
'say "hi"'
'a\tb'
'a\\b'
'a\nb'
'\x41\u00e9\101'
'\$LD'
'\d\w\.'
'\0'
'\x4'
'\u12'
'\U0001F600'
'\8'
r'\n'
R'\d'
r'\''
u'x'
b'x'
f'x'
'''abc'''
'''a'b'''
'''a''b'''
'abc
"abc
'''abc
'
'a' 'b' 'c'.upper()
['it\'s']
["a\"b'c"]
['a\\b']
['a\nb\t\r']
['\x00\x1f\x7f']
['é']
['\x80\xa0\xad']
['\u2028','\u200b','\u3000','\ufeff']
repr('a')
repr('a\'b')
repr(1.0)
repr(None)
repr([1,'a'])
str(1)
str(1.0)
str('a')
str(None)
str([1,'a'])
str((1,))
str({})
str()
int()
float()
bool()
list()
tuple()
int(3.7)
int(-3.7)
int('12')
int(' 12 ')
int('-12')
int('+12')
int('1_000')
int('_1')
int('1__0')
int('')
int('a')
int('1.5')
int('ff',16)
int('0xff',16)
int('0xff',0)
int('0b11',0)
int('0o17',0)
int('010',0)
int('0',0)
int('00',0)
int('z',36)
int('12',2)
int('12',1)
int('12',37)
int(12,10)
int('12',base=8)
int(True)
int(None)
int([])
int(1e30)
int(float('nan'))
int(float('inf'))
int('9223372036854775807')
int('-9223372036854775808')
float('1.5')
float(' 1.5 ')
float('1_0.5')
float('1e5')
float('.5')
float('5.')
float('.')
float('')
float('e5')
float('1e')
float('inf')
float('-Infinity')
float('NaN')
float('0x10')
float('nan(1)')
float(5)
float(True)
float('abc')
float(None)
bool('')
bool('False')
bool(0.0)
bool([0])
abs(-5)
abs(-5.5)
abs(True)
abs('a')
max(1,2)
max([1,2,3])
max('abc')
max([])
max([], default=5)
max(1)
max(1,2.0)
max(2,2.0)
max('a',1)
max(['a','bbb','cc'], key=len)
min(1,2)
min([3,1,2])
min('b','a')
min(['ccc','a','bb'], key=len)
max(1,2,foo=1)
sum([1,2,3])
sum([1.5,2])
sum([])
sum([1],10)
sum([[1],[2]],[])
sum(['a'])
sum(['a'],'')
sum(range(10))
round(2.5)
round(3.5)
round(-2.5)
round(0.5)
round(1.5)
round(2.675,2)
round(1.005,2)
round(0.125,2)
round(0.375,2)
round(1234.5678,-2)
round(1250.0,-2)
round(1350.0,-2)
round(25,-1)
round(35,-1)
round(-25,-1)
round(1234,-2)
round(1234,2)
round(5,-1)
round(15,-1)
round(49,-2)
round(50,-2)
round(51,-2)
round(0.5,0)
round(1e20)
round(1e18)
round(1e300,2)
round(1.5,1000)
round(1.5,-1000)
round(5,-1000)
round(float('inf'))
round(float('nan'))
round(float('inf'),2)
round('a')
round(1.5,'a')
round(1.5,None)
round(number=2.567,ndigits=1)
round(55555.5,-5)
round(50000.0,-5)
round(4.0,-1)
round(6.0,-1)
round(-6.0,-1)
round(99.5,-2)
sorted([3,1,2])
sorted('hello')
sorted([3,1,2],reverse=True)
sorted(['bb','a','ccc'],key=len)
sorted(['bb','aa','c'],key=len,reverse=True)
sorted([1,'a'])
sorted([(1,'b'),(1,'a')])
sorted([True,0,2])
sorted([])
list('abc')
list((1,2))
list(range(3))
tuple([1,2])
tuple('ab')
list(5)
range(3)
range(1,5)
range(1,10,3)
range(5,0,-2)
range(0)
list(range(5,0,-2))
list(range(0))
len(range(10**15))
3 in range(5)
5 in range(5)
4 in range(0,10,2)
5 in range(0,10,2)
4 in range(10,0,-2)
3.0 in range(5)
3.5 in range(5)
'a' in range(5)
range(3)==range(3)
range(0)==range(5,5)
range(0,3,2)==range(0,4,2)
range(1,2,0)
range()
range('a')
range(1.5)
any([0,1])
any([])
all([1,0])
all([])
any(5)
chr(65)
chr(233)
chr(-1)
chr(0x110000)
ord('A')
ord('é')
ord('ab')
ord('')
divmod(7,2)
divmod(-7,2)
divmod(7.5,2)
divmod(1,0)
pow(2,10)
pow(2,-1)
pow(2,10,1000)
pow(-3,3,7)
pow(3,5,-7)
pow(2,3,0)
pow(2.0,3,5)
hex(255)
hex(-255)
oct(8)
bin(5)
hex(0)
hex(1.5)
len('abc')
len([1,2])
len((1,))
len(5)
len()
len('a','b')
list(enumerate(['a','b']))
list(enumerate('ab',1))
list(enumerate('ab',start=5))
list(zip([1,2],'ab'))
list(zip([1,2],'abc',[3]))
list(zip())
dict(zip('ab',[1,2]))
dict(a=1,b=2)
dict([('a',1)])
dict()
dict(5)
list(map(int,'123'))
list(map(str,[1,2]))
sum(map(int,'1,2,3'.split(',')))
list(filter(None,[0,1,'',2]))
list(reversed([1,2,3]))
''.join(reversed('abc'))
isinstance(1,int)
isinstance(True,int)
isinstance('a',(int,str))
isinstance(1.0,int)
format(3.14159,'.2f')
format(5)
format('a','>5')
[x for x in [1,2,3]]
[x*2 for x in range(5) if x%2]
[x+y for x in [1,2] for y in [10,20]]
[x for x in range(20) if x%2 if x%3]
[(i,c) for i,c in enumerate('ab')]
[a for (a,b) in [(1,2)]]
[k for k in {'a':1}]
[k+str(v) for k,v in {'a':1,'b':2}.items()]
[[y for y in range(x)] for x in range(3)]
[x for x in 'abc']
[x for x, in [(1,)]]
[x for x in 5]
[x for x,y in [(1,2,3)]]
[x for x in]
[x for]
[for x in y]
[x for x in [1] else]
[y for x in [1]]
sum(x for x in [1,2])
sum(x*x for x in range(4))
','.join(str(x) for x in range(3))
','.join([str(x) for x in range(3)])
max(len(s) for s in 'a bb ccc'.split())
sorted(x for x in [2,1])
sorted({x%3 for x in range(9)})
any(x>2 for x in [1,2,3])
all(x>2 for x in [1,2,3])
list(x for x in [1])
(x for x in [1],)
f(x for x in [1])
max(*[1,2,3])
max(*[1],*[2])
[*[1,2],3]
(*[1],2)
*[1]
*[1],2
'%s' % 'a'
'%s %s' % ('a','b')
'%s' % ('a','b')
'%s %s' % 'a'
'%s' % 5
'%s' % 1.5
'%s' % None
'%s' % [1,2]
'%s' % (1,)
'%s' % ((1,2),)
'%r' % 'a'
'%a' % 'a'
'%d' % 5
'%d' % 5.9
'%d' % -5.9
'%d' % True
'%d' % 'a'
'%i' % 5
'%u' % 5
'%5d|' % 5
'%-5d|' % 5
'%05d' % 5
'%05d' % -5
'%+d' % 5
'% d' % 5
'%+d' % -5
'%.3d' % 5
'%8.3d' % 5
'%-8.3d|' % 5
'%08.3d' % 5
'%x' % 255
'%X' % 255
'%#x' % 255
'%#X' % 255
'%o' % 8
'%#o' % 8
'%x' % -255
'%x' % 1.5
'%08x' % 255
'%#08x' % 255
'%f' % 1.5
'%.2f' % 3.14159
'%.0f' % 2.5
'%.0f' % 3.5
'%#.0f' % 3.5
'%10.2f|' % 3.14159
'%-10.2f|' % 3.14159
'%010.2f' % -3.14159
'%+.1f' % 2
'%f' % 5
'%f' % 'a'
'%f' % float('inf')
'%f' % float('-inf')
'%F' % float('inf')
'%f' % float('nan')
'%05f' % float('inf')
'%e' % 12345.678
'%.2e' % 12345.678
'%E' % 12345.678
'%g' % 12345.678
'%g' % 1234567.0
'%g' % 0.00001
'%#g' % 1.0
'%G' % 1e-10
'%.3g' % 3.14159
'%c' % 'a'
'%c' % 65
'%c' % 'ab'
'%5c|' % 'a'
'%%'
'%%' % ()
'100%%' % ()
'100%' % ()
'%' % 5
'%z' % 5
'%5s|' % 'a'
'%-5s|' % 'a'
'%.2s' % 'abc'
'%5.1s|' % 'abc'
'%05s' % 'a'
'%(a)s' % {'a':1}
'%(a)s %(b)d' % {'a':1,'b':2}
'%(a)s' % {}
'%(a)s' % 5
'%(a' % {'a':1}
'%*d' % (5,3)
'%-*d|' % (5,3)
'%*d' % (-5,3)
'%.*f' % (2,3.14159)
'%*d' % ('a',3)
'%ld' % 5
'abc' % 5
'abc' % ()
'abc' % {}
'abc' % []
'abc' % 'a'
'%s' % {'a':1}
'%s%%' % 50
'{}'.format(1)
'{} {}'.format(1,2)
'{0} {1} {0}'.format(1,2)
'{a}'.format(a=1)
'{a} {}'.format(1,a=2)
'{} {0}'.format(1)
'{0} {}'.format(1)
'{}'.format()
'{1}'.format(1)
'{a}'.format(b=1)
'{{}}'.format()
'{{{}}}'.format(1)
'{'.format()
'}'.format()
'{}}'.format(1)
'{{}'.format(1)
'{!r}'.format('a')
'{!s}'.format('a')
'{!r:>5}'.format('a')
'{!x}'.format('a')
'{!}'.format('a')
'{:>5}'.format('a')
'{:<5}|'.format('a')
'{:^5}|'.format('a')
'{:^6}|'.format('a')
'{:*^5}'.format('a')
'{:é>5}'.format('a')
'{:5}|'.format('a')
'{:5}|'.format(1)
'{:05}'.format('ab')
'{:05}'.format(5)
'{:05d}'.format(-5)
'{:+d}'.format(5)
'{: d}'.format(5)
'{:-d}'.format(5)
'{:=+5d}'.format(5)
'{:x=5d}'.format(-5)
'{:=5}'.format('a')
'{:+}'.format('a')
'{:.2}'.format('abc')
'{:.2f}'.format(3.14159)
'{:.2f}'.format(3)
'{:8.2f}|'.format(3.14159)
'{:<8.2f}|'.format(3.14159)
'{:08.2f}'.format(-3.14159)
'{:.0f}'.format(2.5)
'{:e}'.format(12345.678)
'{:g}'.format(12345.678)
'{:g}'.format(1e10)
'{:.3}'.format(3.14159)
'{:.3}'.format(3.0)
'{:.3}'.format(123.0)
'{:.3}'.format(1234.0)
'{:.3}'.format(0.00001)
'{:.1}'.format(5.0)
'{:}'.format(1e16)
'{:5}|'.format(1.5)
'{:%}'.format(0.5)
'{:.1%}'.format(0.123)
'{:d}'.format(1.5)
'{:d}'.format('a')
'{:s}'.format(1)
'{:s}'.format('a')
'{:x}'.format(255)
'{:X}'.format(255)
'{:#x}'.format(255)
'{:#X}'.format(255)
'{:b}'.format(5)
'{:#b}'.format(5)
'{:o}'.format(8)
'{:08b}'.format(5)
'{:#010x}'.format(255)
'{:c}'.format(65)
'{:5c}|'.format(65)
'{:n}'.format(5)
'{:,}'.format(1234567)
'{:_}'.format(1234567)
'{:,.2f}'.format(1234567.891)
'{:_x}'.format(0xabcdef12)
'{:,x}'.format(255)
'{:010,}'.format(1234)
'{:06,}'.format(123)
'{:05,}'.format(123)
'{:04,}'.format(123)
'{:,}'.format('a')
'{:.2d}'.format(5)
'{:f}'.format(float('inf'))
'{:05}'.format(float('inf'))
'{:+}'.format(float('nan'))
'{:F}'.format(float('nan'))
'{}'.format(True)
'{:5}|'.format(True)
'{:d}'.format(True)
'{}'.format(None)
'{:5}'.format(None)
'{}'.format([1])
'{:>5}'.format([1])
'{:{}}|'.format('a',5)
'{:{w}}|'.format('a',w=5)
'{:{}.{}f}'.format(3.14159,8,2)
'{0[0]}'.format([7])
'{0[a]}'.format({'a':1})
'{a[0]}'.format(a=[1])
'{0.x}'.format(1)
'{0[}'.format([1])
'{:z}'.format(1)
'{:>}'.format(1)
'{:.}'.format(1.0)
'{:.f}'.format(1.0)
'{: }'.format(1)
'{ }'.format(1)
'{:10.3}|'.format('abcdef')
'a,b'.split(',')
'a,b,c'.split(',',1)
'a,b,c'.split(',',0)
'a,b,c'.split(',',-1)
'a,,b'.split(',')
''.split(',')
''.split()
' a  b '.split()
' a  b  c '.split(None,1)
' a  b  c '.split(maxsplit=1)
'a,b'.split(sep=',')
'a,b'.split('')
'a,b'.split(1)
'aXXbXXc'.split('XX')
'aXXXb'.split('XX')
'a,b,c'.rsplit(',',1)
'a,b,c'.rsplit(',')
' a b c '.rsplit(None,1)
' a b c '.rsplit()
'aXXXb'.rsplit('XX')
'aXXXb'.rsplit('XX',1)
' a '.strip()
'xxaxx'.strip('x')
'xyaxy'.strip('xy')
'xxaxx'.lstrip('x')
'xxaxx'.rstrip('x')
' a '.lstrip()
' a '.rstrip()
'abc'.strip('')
'abc'.strip(None)
'abc'.strip(1)
'éaé'.strip('é')
'\u2003a\xa0'.strip()
'a\u2003b'.split()
'abc'.replace('b','x')
'aaa'.replace('a','b',2)
'aaa'.replace('a','b',0)
'aaa'.replace('a','b',-1)
'abc'.replace('','-')
'abc'.replace('','-',2)
'aé'.replace('','-')
''.replace('','x')
'abc'.replace('b','')
'aaa'.replace('aa','b')
'abc'.replace('b')
'abc'.replace(1,2)
'ABC'.lower()
'abc'.upper()
'ÉÀ'.lower()
'éàž'.upper()
'hello world'.title()
"it's a dog's".title()
'HELLO wORLD'.capitalize()
'aBc'.swapcase()
''.capitalize()
'abc'.startswith('a')
'abc'.startswith('')
'abc'.startswith('abcd')
'abc'.startswith(('x','a'))
'abc'.startswith(())
'abc'.startswith(['a'])
'abc'.startswith(1)
'abc'.startswith('b',1)
'abc'.startswith('b',1,2)
'abc'.startswith('',4)
'abc'.startswith('',3)
'abc'.endswith('c')
'abc'.endswith(('x','c'))
'abc'.endswith('b',0,2)
'abc'.endswith(('a',1))
'abc'.endswith(('c',1))
'abcabc'.find('c')
'abcabc'.rfind('c')
'abc'.find('x')
'abc'.find('')
'abc'.rfind('')
'abc'.find('',3)
'abc'.find('',4)
'abc'.find('b',2)
'abc'.find('b',-2)
'abcabc'.find('c',3)
'abc'.find('c',0,2)
'abc'.index('c')
'abc'.index('x')
'abc'.rindex('x')
'abcabc'.rindex('b')
'ababab'.count('ab')
'aaaa'.count('aa')
'abc'.count('')
'abc'.count('x')
'abc'.count('b',2)
''.count('')
'abc'.count('',4)
'abc'.join(['1','2'])
','.join([])
','.join('abc')
','.join([1])
','.join({'a':1})
''.join(['a','b'])
','.join(5)
'123'.isdigit()
''.isdigit()
'12a'.isdigit()
'abc'.isalpha()
'ab1'.isalpha()
'é'.isalpha()
'ab1'.isalnum()
' \t'.isspace()
'ABC'.isupper()
'ABc'.isupper()
'abc'.islower()
'12'.isupper()
'5'.zfill(3)
'-5'.zfill(4)
'+5'.zfill(4)
'abc'.zfill(2)
'é'.zfill(3)
'a'.rjust(3)
'a'.ljust(3)+'|'
'a'.center(4)+'|'
'ab'.center(5,'*')
'abc'.center(6,'*')
'a'.rjust(3,'xy')
'a'.rjust(3,'é')
'a'.rjust('b')
'a\nb\r\nc'.splitlines()
'a\nb\n'.splitlines()
'a\nb\n'.splitlines(True)
'a\n\nb'.splitlines(keepends=True)
''.splitlines()
'a=b=c'.partition('=')
'a=b=c'.rpartition('=')
'abc'.partition('=')
'abc'.rpartition('=')
'abc'.partition('')
'abc'.removeprefix('a')
'abc'.removesuffix('c')
'abc'.removeprefix('x')
'abc'.__str__()
(5).__str__()
5 .__str__()
1.5.__str__()
[1,2].__len__()
'abc'.__len__()
[1,2,1].count(1)
[1,2].index(2)
[1,2].index(3)
(1,2).index(2)
(1,1).count(1)
'abc'.foo()
'abc'.foo
(5).foo
[1].append(2).x
foo
foo()
foo.bar
'a'()
5()
len(x=1)
re.sub('[:,]',' ','0:1,2')
re.sub('a','b','banana')
re.sub('a','b','banana',1)
re.sub('a','b','banana',count=2)
re.sub('(a)(n)','\\2\\1','banana')
re.sub(r'(a)(n)',r'\2\1','banana')
re.sub(r'(?P<x>a)',r'<\g<x>>','banana')
re.sub(r'(a)',r'<\g<1>>','banana')
re.sub(r'a',r'<\g<0>>','banana')
re.sub('x*','-','abxd')
re.sub('','-','abc')
re.sub('','-','aé日')
re.sub('b*','-','abc')
re.sub(r'\d+','#','a12b3')
re.sub(r'\s','_','a b\tc')
re.sub(r'(a)|b',r'[\1]','ab')
re.sub('a',r'\n','a')
re.sub('a',r'\\','a')
re.sub('a',r'\q','a')
re.sub('a',r'\1','a')
re.sub('a',r'\1','b')
re.sub('a',r'\g<x>','a')
re.sub('a',r'\g','a')
re.sub('a','\\','a')
re.sub('(','x','a')
re.sub('[','x','a')
re.sub('*','x','a')
re.sub('a**','x','a')
re.sub(')','x','a')
re.sub('a{2}','x','aaa')
re.sub('a{,2}','x','aaa')
re.sub('a{1,2}?','x','aaa')
re.sub('[]a]','x',']a')
re.sub('[^a]','x','abc')
re.sub('[[]','x','[a')
re.sub('[a-c]','x','abcd')
re.sub('[:a:]','x','a:b')
re.sub('[[:alpha:]]','x','a:]b')
re.sub(r'a\Z','x','aa')
re.sub('a$','x','aa')
re.sub('^a','x','aa')
re.sub('(?i)A','x','aA')
re.sub('A','x','aA',flags=re.IGNORECASE)
re.sub('A','x','aA',flags=re.I)
re.sub('^a','x','a\na',flags=re.M)
re.sub('a.b','x','a\nb',flags=re.S)
re.sub('a.b','x','a\nb')
re.sub('É','x','é',flags=re.I)
re.sub(r'\w','x','é-a')
re.sub(r'(?:ab)+','x','ababc')
re.sub(r'(?=b)','x','abab')
re.sub(r'(?<=a)b','x','abcb')
re.sub(r'(?<!a)b','x','abcb')
re.sub(r'\bfoo\b','x','foo food')
re.sub(r'(?R)','x','a')
re.sub(r'(*UTF)a','x','a')
re.sub(r'\Qa','x','a')
re.sub(r'\K','x','a')
re.sub(r'\h','x','a')
re.sub(r'\v','x','a\vb\nc')
re.sub(r'\x41','x','AB')
re.sub(r'\u0041','x','AB')
re.sub(r'a(?#hi)b','x','ab')
re.sub('a','b',5)
re.sub('a','b')
re.sub(r'\.','-','a.b')
re.sub('\.','-','a.b')
re.sub(r'(\w+)@(\w+)',r'\2 at \1','me@host')
re.match('a','abc').group()
re.match('a','abc').group(0)
re.match('(a)(b)','abc').group(1,2)
re.match('(a)(x)?','abc').groups()
re.match('(a)(x)?','abc').groups('-')
re.match('(?P<n>a)','abc').group('n')
re.match('(?P<n>a)','abc')['n']
re.match('(a)','abc')[1]
re.match('a','abc').group(1)
re.match('a','abc').group('x')
re.match('b','abc') is None
re.match('b','abc').group()
bool(re.match('a','abc'))
bool(re.search('c','abc'))
re.search('c','abc').start()
re.search('é','aé').span()
re.search('(x)?a','a').span(1)
re.search(r'(\d+)','gpu12x').group(1)
'y' if re.match('a','abc') else 'n'
re.findall('a','banana')
re.findall('(a)n','banana')
re.findall('(a)(n)','banana')
re.findall('(a)|n','ban')
re.findall(r'\d+','1 22 333')
re.findall('x*','ax')
re.findall('','ab')
re.split(',','a,b')
re.split('(,)','a,b')
re.split('(,)|x','a,bxc')
re.split('[,:]','a,b:c')
re.split(',','a,b,c',1)
re.split(',','a,b,c',maxsplit=1)
re.split(r'\s+',' a b ')
re.split('x*','axbc')
re.split('','abc')
re.escape('a.b*c')
re.foo('a')
os.path.dirname('/a/b/c')
os.path.dirname('/a')
os.path.dirname('a')
os.path.dirname('')
os.path.dirname('/')
os.path.dirname('//')
os.path.dirname('//a')
os.path.dirname('/a//b')
os.path.dirname('a/')
os.path.basename('/a/b')
os.path.basename('/a/')
os.path.basename('a')
os.path.basename('')
os.path.splitext('a.txt')
os.path.splitext('a.tar.gz')
os.path.splitext('.bashrc')
os.path.splitext('a')
os.path.splitext('a.')
os.path.splitext('/a.b/c')
os.path.splitext('..a')
os.path.splitext('..a.b')
os.path.splitext('')
os.path.join('a','b')
os.path.join('a','/b')
os.path.join('a/','b')
os.path.join('','b')
os.path.join('a','')
os.path.join('a')
os.path.join('a','','b')
os.path.join()
os.path.join('a',1)
os.path.split('/a/b')
os.path.split('a')
os.path.normpath('a/../b')
os.path.normpath('/../a')
os.path.normpath('../../a')
os.path.normpath('a//b/./c')
os.path.normpath('')
os.path.normpath('//a')
os.path.normpath('///a')
os.path.normpath('a/..')
os.path.normpath('a/../..')
os.path.normpath('/')
os.path.normpath('a/b/../../..')
os.path.abspath('/a/../b')
os.path.abspath('/a/b/')
os.path.abspath('x')
os.path.abspath('')
os.path.abspath('..')
os.path.isabs('/a')
os.path.isabs('a')
os.path.dirname(os.path.abspath('/data/mean.bin'))
os.path.dirname(1)
os.path.nope('a')
os.sep
os.path.sep
os.getcwd()
os.environ['HOME']
os.environ['NO_SUCH_VARIABLE_X']
os.environ.get('HOME')
os.environ.get('NO_SUCH_VARIABLE_X')
os.environ.get('NO_SUCH_VARIABLE_X','d')
os.getenv('NO_SUCH_VARIABLE_X','d')
os.getenv('HOME')
'HOME' in os.environ
'NO_SUCH_VARIABLE_X' in os.environ
os.environ[1]
len(uuid.uuid4().hex)
len(str(uuid.uuid4()))
len(uuid.uuid4().__str__().replace('-',''))
uuid.uuid4().hex[12]
uuid.uuid5()
json.dumps({'a':[1,2.5,None,True],'b':'x'})
json.dumps([])
json.dumps({})
json.dumps('é"\\\n')
json.dumps('\U0001F600')
json.dumps('é',ensure_ascii=False)
json.dumps({1:2,None:3,True:4,1.5:5})
json.dumps({'b':1,'a':2},sort_keys=True)
json.dumps([1,2],indent=2)
json.dumps({'a':[1,{'b':2}]},indent=4)
json.dumps({(1,):2})
json.dumps({1})
json.dumps((1,2))
json.loads('{"a": [1, 2.5, null, true]}')
json.loads('[1,2')
json.loads('"a"')
json.loads('1')['a']
json.loads('{"a":1}')['a']
json.loads('')
json.loads(5)
math.ceil(1.2)
math.floor(-1.2)
math.ceil(5)
math.trunc(-1.7)
math.sqrt(16)
math.sqrt(-1)
math.log(8,2)
math.log(math.e)
math.log2(8)
math.log10(1000)
math.log(0)
math.log(5,1)
math.pi
math.e
math.exp(0)
math.exp(1000)
math.pow(2,3)
math.fabs(-2)
math.gcd(12,18)
math.isnan(math.nan)
math.isinf(math.inf)
math.ceil(math.inf)
math.ceil('a')
math.nope
(1).__class__
''.__class__.__mro__
lambda: 1
lambda x: x
x = 1
x := 1
(x := 1)
print(1
1)
(1
[1
{1
{'a':
(1]
1 # comment
1 + # comment
# comment
$
?
!
1 ! 2
1 <> 2
a b
a.
.a
a..b
a.1
1 +
+ 1
* 1
1 * * 2
1 ** 2
1 *** 2
1 // 2
1 /// 2
== 1
1 = 1
1 === 1
in 1
is
is not
not
not in
1 not 2
1 is not
and
or 1
if
else
for
True
False
None
true
none
Truee
True = 1
del x
import os
pass
yield 1
await x
'a' if 'b' in ('b',) else 'c'
'float16' in ('float','float16')
'FLOAT' if 'float32' in ('float32', 'mixed') else 'FLOAT16'
len('0,1,2'.replace(',', ' ').split()) if 'gpu' == 'gpu' else 1
'/w/{}.xml'.format('a/b'.split('/')[0])
'--volume=%s:/w' % 'file:///x'[7:] if 'file:///x'.startswith('file://') and True else ''
':tail'.strip(' \t:')
'${x}:\$LD'.strip(' \t:')
'' if not '' else '--data_dir=' if False is False else '--data_dir=/w'
4*16 if 'gpu' == 'gpu' else 1 * 16
"0,1".replace(",",".")
"docker" if True else "host"
256//8
256/8
len(re.sub('[:,]', ' ', '0:1,2:3').split())
'layer_wise_reduce: True'.lower() if 'bvlc' == 'bvlc' else ''
os.path.splitext(os.path.basename('/a/b.onnx'))[0]
[1,2,3][len('ab')]
{'a':{'b':2}}['a']['b']
((((((1))))))
[[[[]]]]
- - - 1
not not not 1
1if 1 else 2
'a'if 1 else'b'
(1)if(1)else(2)
[1][0]if 1 else 2
"a"in"abc"
1or 2
1and 2
0or 2
1<2and 3
1in[1]
0x1for x in [1]
1,2if 1 else 3
len('a')if 1 else 0
(1,2)==(1,2)
[1,2]==[1,2.0]
[1]==(1,)
{'a':1}=={'a':1.0}
{'a':1,'b':2}=={'b':2,'a':1}
{'a':1}!={'a':2}
{'a':1,'b':2}|{'a':3}
{'a':1}|{1}
9007199254740993==9007199254740992.0
9007199254740993>9007199254740992.0
9007199254740993/1
9223372036854775807/3
1e400==float('inf')
float('nan')==float('nan')
float('nan')<1
float('inf')>10**18
max(float('nan'),1)
sorted([2,1.5,True])
1e3 == 1000
'a' * True
[0]*True
'%d' % 1e18
'%.10f' % 0.1
'%.20f' % 0.1
'%.3f' % 1e20
'{:.15g}'.format(0.1)
'{:.17g}'.format(0.1)
str(0.1)
str(1e100)
str(123456.789)
str(1.0e-7)
1.1*3
4.35*100
0.1*3
1e23
9.5367431640625e-07
2.0**-44
1.5e-320
"""


def strings(rng):
    return rng.choice(["''", "'a'", "'abc'", "'gpu'", "'0,1,2'", "'a b c'",
                       "' x '", "'Hello World'", "'12'", "'-3.5'", "'é日x'",
                       "'a/b.c'", "'%s'", "'x=1;y=2'", "'aXbXc'", "'0:1,2'",
                       "\"it's\"", "r'\\d'", "'tab\\there'"])


def ints(rng):
    return rng.choice(["0", "1", "2", "3", "7", "10", "16", "255", "-1", "-5",
                       "100", "True", "False", "1000000", "0x1f"])


def floats(rng):
    return rng.choice(["0.0", "1.0", "0.5", "2.5", "-1.5", "3.14159", "1e3",
                       "1e-7", "1e16", "0.1", "-0.0", "1234.5678"])


def lists(rng, depth):
    n = rng.randrange(4)
    inner = ", ".join(expr(rng, depth - 1) for _ in range(n))
    kind = rng.randrange(3)
    if kind == 0:
        return "[" + inner + "]"
    if kind == 1:
        return "(" + inner + ("," if n == 1 else "") + ")"
    return "list(range(%d))" % n


BINARY = ["+", "-", "*", "/", "//", "%", "==", "!=", "<", ">", "<=", ">=",
          "and", "or", "in", "not in", "&", "|", "^", "+", "+", "*", "**"]
METHODS = ["upper()", "lower()", "strip()", "title()", "capitalize()",
           "split()", "split(',')", "split(',', 1)", "rsplit(None, 1)",
           "replace('a', 'b')", "replace('', '-')", "startswith('a')",
           "endswith(('c', 'x'))", "find('b')", "rfind('X')", "count('a')",
           "zfill(6)", "rjust(5, '*')", "ljust(5, '.')", "center(8)",
           "isdigit()", "isalpha()", "partition('=')", "rpartition(',')",
           "splitlines()", "swapcase()", "join(['p', 'q'])", "lstrip('a0')",
           "format(1, 2)", "index('a')", "__str__()", "isupper()",
           "strip('abc ')", "removeprefix('a')", "get('a', 1)", "group(0)"]
FUNCTIONS = ["len", "str", "int", "float", "bool", "abs", "round", "repr",
             "sum", "sorted", "list", "tuple", "max", "min", "any", "all",
             "hex", "bin", "ord", "chr"]
PERCENTS = ["%s", "%d", "%5d", "%-6s|", "%05d", "%.2f", "%8.3f", "%x", "%r",
            "%e", "%g", "%+d", "%%", "%5.1f|", "%i", "%o", "%c", "%.3g",
            "% d", "%#x", "%.2s"]
SPECS = ["", ":5", ":>6", ":<6", ":^7", ":*^7", ":.2f", ":d", ":05d", ":x",
         ":b", ":,", ":.3", ":e", ":g", ":+", ":%", ":.1%", ":08.2f", "!r",
         "!s:>8", ":s", ":#x", ":_", ":010,", ":=+8", ":n", ":c", ":.0f"]
PATTERNS = ["a", "[a-c]", r"\\d+", r"\\s", "(a)(b)?", "x*", "[:,]", "b|c",
            "^a", "c$", "(.)", r"\\w+", ".", "(?:a|b)+", "[^a]", r"\\b",
            "(", "a{2}", "a+?", r"\\W", "é"]
REPLACEMENTS = ["", "-", r"\\1", r"<\\g<0>>", "xy", r"\\2\\1", r"\\n"]


def call(rng, depth):
    kind = rng.randrange(12)
    if kind < 4:
        return "%s(%s)" % (rng.choice(FUNCTIONS), expr(rng, depth - 1))
    if kind < 8:
        return "(%s).%s" % (expr(rng, depth - 1), rng.choice(METHODS))
    if kind == 8:
        return "re.sub('%s', '%s', %s)" % (
            rng.choice(PATTERNS), rng.choice(REPLACEMENTS), strings(rng))
    if kind == 9:
        return "re.%s('%s', %s)" % (rng.choice(["findall", "split"]),
                                    rng.choice(PATTERNS), strings(rng))
    if kind == 10:
        return "'%s' %% (%s,)" % (rng.choice(PERCENTS), expr(rng, depth - 1))
    return "'{%s}'.format(%s)" % (rng.choice(SPECS), expr(rng, depth - 1))


def subscript(rng, depth):
    base = expr(rng, depth - 1)
    if rng.randrange(2):
        return "(%s)[%s]" % (base, rng.choice(["0", "1", "-1", "2", "5"]))
    part = ["", "", "0", "1", "2", "-1", "-2", "5"]
    text = rng.choice(part) + ":" + rng.choice(part)
    if rng.randrange(3) == 0:
        text += ":" + rng.choice(["", "1", "2", "-1", "-2", "0"])
    return "(%s)[%s]" % (base, text)


def expr(rng, depth):
    kind = rng.randrange(13) if depth > 0 else rng.randrange(4)
    if kind == 0:
        return ints(rng)
    if kind == 1:
        return strings(rng)
    if kind == 2:
        return floats(rng)
    if kind == 3:
        return rng.choice(["None", "True", "False", "[]", "()", "{'a': 1}"])
    if kind == 4:
        return lists(rng, depth)
    if kind < 8:
        left, right = expr(rng, depth - 1), expr(rng, depth - 1)
        text = "%s %s %s" % (left, rng.choice(BINARY), right)
        return text if rng.randrange(3) else "(%s)" % text
    if kind == 8:
        return "%s%s" % (rng.choice(["-", "not ", "+", "~", "not not "]),
                         expr(rng, depth - 1))
    if kind == 9:
        return "(%s if %s else %s)" % tuple(
            expr(rng, depth - 1) for _ in range(3))
    if kind == 10:
        return subscript(rng, depth)
    if kind == 11 and rng.randrange(4) == 0:
        return "[%s for x in %s]" % (
            rng.choice(["x", "x * 2", "str(x)", "(x, 1)", "len(x)"]),
            expr(rng, depth - 1))
    return call(rng, depth)


def numeric(rng, depth):
    """Arithmetic that mostly succeeds, to get past the type errors."""
    if depth == 0 or rng.randrange(6) == 0:
        return rng.choice([ints, floats])(rng)
    if rng.randrange(8) == 0:
        return "round(%s, %d)" % (numeric(rng, depth - 1), rng.randrange(-3, 5))
    return "(%s %s %s)" % (numeric(rng, depth - 1),
                           rng.choice(["+", "-", "*", "/", "//", "%"]),
                           numeric(rng, depth - 1))


def mutate(rng, text):
    """A slip of the keyboard: mostly syntax errors."""
    at = rng.randrange(len(text) + 1)
    what = rng.randrange(3)
    if what == 0 and at < len(text):
        return text[:at] + text[at + 1:]
    if what == 1:
        return text[:at] + rng.choice("()[]'\",.:+-*/%= 01aif") + text[at:]
    return text[:at] + text[at + rng.randrange(4):]


def too_big(value):
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return not -2**63 <= value < 2**63
    if isinstance(value, (list, tuple, set)):
        return len(value) > 100000 or any(too_big(v) for v in value)
    if isinstance(value, dict):
        return any(too_big(v) for v in value.values())
    return isinstance(value, str) and len(value) > 2**20


def dangerous(text):
    """Powers and repetitions that would take Python minutes."""
    return re.search(r"\*\*.*\*\*|\*\* *\(*['\d]{4}|<< *\d{4}", text)


def beyond_limits(text):
    """Whether a part of the expression is over 64 bits or our sizes."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return bool(re.search(r"\d{19}", text))
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr) or isinstance(node, ast.Starred):
            continue
        try:
            code = compile(ast.Expression(node), "<part>", "eval")
            if too_big(eval(code, dict(GLOBALS))):
                return True
        except OverflowError:
            return True
        except Exception:
            continue
    return False


def python_says(text):
    try:
        value = eval(text, dict(GLOBALS))
        result = str(value)
        result.encode()
        return True, result
    except Exception as e:
        return False, "%s: %s" % (type(e).__name__, e)


def excused(text, ok, result, our_ok, ours):
    """What we refuse on purpose: objects without a text of their own, complex
    numbers, other kinds of literals, functions, and all over our limits."""
    if "64 bits" in ours or "too large" in ours or "too much work" in ours:
        return beyond_limits(text)
    if ok and not our_ok:
        if re.search(r"<(built-in|class|generator|zip|map|re\.Match|method|"
                     r"module|function|enumerate|reversed|filter|bound|"
                     r"slot|str_|list_|tuple_|dict_key)", result):
            return True
        if re.search(r"^\(?[-+\d.e]+j|^[-\d.e+]+j|\d+j\b", result):
            return True
        if re.search(r"(^|[^\w'])[bBfFrR]{1,2}['\"]", text) or \
                re.search(r"lambda|:=|__class__|__mro__|\bprint\b|\btype\b",
                          text):
            return True
        if re.search(r"\*\*\{|Ellipsis|\.\.\.", text + result):
            return True
        if "no order" in ours or "complex" in ours:
            return True
    return False


def unescape(text):
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "r": "\r"}.get(
        m.group(1), m.group(1)), text)


def ask(tool, texts):
    r = subprocess.run([tool], input="\n".join(texts) + "\n", text=True,
                       stdout=subprocess.PIPE, check=True, encoding="utf-8",
                       errors="surrogateescape")
    # Not splitlines(): a result may hold other line separators.
    answers = r.stdout.split("\n")[:-1]
    if len(answers) != len(texts):
        sys.exit("asked %d, got %d answers" % (len(texts), len(answers)))
    return answers


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 8000
    rng = random.Random(20240229)
    texts = [t for t in PICKED.split("\n") if t]
    while count > 0:
        choice = rng.randrange(10)
        text = numeric(rng, 3) if choice < 2 else expr(rng, 3)
        if choice == 9:
            text = mutate(rng, text)
        if "\n" in text or not text.strip() or dangerous(text):
            continue
        texts.append(text)
        count -= 1
    compared = skipped = both_fail = 0
    wrong = []
    for text, answer in zip(texts, ask(sys.argv[1], texts)):
        ok, result = python_says(text)
        our_ok = answer.startswith("ok ")
        ours = unescape(answer.split(" ", 1)[1])
        if ok == our_ok and (not ok or result == ours):
            compared += 1
            both_fail += not ok
        elif excused(text, ok, result, our_ok, ours):
            skipped += 1
        else:
            wrong.append((text, result, answer))
    for text, result, answer in wrong[:60]:
        print("expression: %s\n  python: %s\n  ours:   %s"
              % (text, result[:300], answer[:300]))
    print("%d compared (%d of them errors in both), %d skipped by rule, "
          "%d differ" % (compared, both_fail, skipped, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
