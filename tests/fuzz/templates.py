"""What expressions look like, as text with holes, by the type of their value.

`$int` is a hole for an expression of that type, `$int!` for a name or a constant; `{+ - *}` is one of these words (`_` stands for nothing, `~` for a space).
Integers stay below 2**31, so that CPython's do not grow past 64 bits; floats use operations only that both compute exactly. Values that NumPy would
give as scalars of its own are made Python numbers at once: those differ by design. So does NaN in containers, which Python compares by identity
first: what compares containers of floats leaves NaN out.
"""

SCALARS = ["int", "float", "bool", "str", "complex", "opt", "optf"]
TUPLES = ["pair", "triple", "itup", "box", "point", "nested"]
LISTS = ["ilist", "flist", "slist", "llist", "plist", "olist", "alist"]

# What a list, and what a loop over something, gives.
ELEMENTS = {"ilist": "int", "flist": "float", "slist": "str", "llist": "ilist", "plist": "pair", "olist": "opt", "str": "str", "itup": "int", "alist": "f8_1"}
# What the members of a tuple are.
MEMBERS = {"pair": ["int", "float"], "triple": ["str", "pair", "bool"], "itup": ["int", "int", "int"], "box": ["str", "ilist", "f8_1"], "point": ["int", "float"],
           "nested": ["point", "flist"]}

LEAVES = {
    "small": ["0", "1", "2", "5", "100"],
    "int": ["0", "1", "2", "3", "5", "7", "-1", "-4", "100", "2147483647", "-2147483648", "65536"],
    "float": ["0.0", "1.0", "0.5", "-2.25", "3.0", "1e-3", "1e300", "5e-324", "float('inf')", "float('nan')", "-0.0", "-7.75", "4503599627370497.5"],
    "bool": ["True", "False"],
    "str": ["''", "'a'", "'xyz'", "'é€'", "'Ab c'", "'12'", "'a,b'", "'𝄞x'"],
    "complex": ["1j", "(1.5-2j)", "(-0.0+0j)", "complex(2.0, -0.0)", "0j"],
    "opt": ["None", "(3 if True else None)"],
    "optf": ["None"],
    "pair": ["(1, 2.5)", "(-3, 0.0)", "(0, -1.0)"],
    "triple": ["('a', (1, 2.0), True)", "('', (0, -0.5), False)"],
    "itup": ["(1, 2, 3)", "(0, -5, 7)"],
    "box": ["('q', [1, 2], np.arange(3.0))"],
    "point": ["Point(1, 2.0)", "Point(y=-1.5, x=4)"],
    "nested": ["(Point(0, 0.5), [1.0, 2.0])"],
    "ilist": ["[1, 2, 3]", "[0]", "[5, -1, 5, 2]", "[7, 7]"],
    "flist": ["[1.5]", "[0.5, -2.0, 3.0]", "[-0.0, 0.0, float('inf')]"],
    "slist": ["['a', 'b']", "['', 'xyz', 'Ab']", "['é']"],
    "llist": ["[[1, 2], [3]]", "[[0]]", "[[5, -1, 2], [7, 7], [0, 0]]"],
    "plist": ["[(1, 2.0), (0, -1.0)]", "[(3, 0.5)]", "[(2, 1.0), (1, 5.0), (2, 0.5)]"],
    "olist": ["[None, 1, 2]", "[3, None]"],
    "alist": ["[np.arange(3.0), np.ones(2)]", "[np.zeros(2)]"],
}

EXPRESSIONS = {
    "small": ["($int % 100)", "abs($int % 50)", "int($bool)"],
    "int": [
        "(($int {+ - *} $int) % {1009 65537 -97})", "($int {// %} $int)", "($int {& | ^} $int)", "(($int % 1000) << ($int % 8))", "($int >> ($int! % 40))", "(~$int)", "(-$int)", "abs($int)",
        "{min max}($int, $int)", "{min max}($int, $int, $int!)", "len($str)", "len($ilist)", "len($flist)", "len($llist)", "len($f8_1)", "len($itup)", "($int or $int)", "($int and $int)", "int($bool)",
        "(($int % 50) ** ($int! % 5))", "pow($int, $int! % 30, {7 1009 -13})", "divmod($int, $int)[{0 1}]", "(sum($ilist) % 1009)", "(sum($ilist, $int!) % 1009)", "int($float % 65536.0)",
        "round($float % 1000.0)", "math.{floor ceil trunc}($float % 1000.0)", "int($float {< <= > >= == !=} $float)", "$ilist[$index]", "$ilist[$int! % max(len($ilist!), 1)]", "$itup[$int! % 3]",
        "$itup[{0 1 2 -1}]", "$pair[0]", "$point.x", "$triple[1][0]", "$box[1][$index]", "$llist[$index][$index]", "sum([q * 2 % 101 for q in $ilist if q {< > !=} $int])",
        "(sum(q * 3 for q in $ilist) % 1013)", "{sum max min}([q % 89 for q in $ilist])", "max((q % 7 for q in $ilist), default=$int!)", "$ilist.count($int)", "$ilist.index($int!)",
        "sum([u * v % 97 for u, v in zip($ilist, $ilist)])", "sum([i * v % 97 for i, v in enumerate($ilist)])", "($bool + $bool)", "($bool * $int)", "ord(($str + 'q')[0])",
        "($str + $str!).{find count rfind}($str!)", "$str.{index rindex}($str!)", "math.gcd($int, $int)", "math.isqrt(abs($int))",
        "math.comb($int! % 12, $int! % 6)", "math.factorial($int! % 13)", "(lambda u, v=$int!: (u * 3 + v) % 1013)($int)", "int(str($int))", "($int if $bool else $int)", "sum(map(lambda q: q % 5, $ilist))",
        "len(list(filter(lambda q: q > $int!, $ilist)))", "($int).bit_length()", "len(range($int! % 9, $int! % 17, {1 2 -1 3}))", "sum(range($int! % 30))", "$plist[$index][0]", "(sum(q[0] for q in $plist) % 31)",
        "(isinstance($int, int) * 3)", "(0 if $opt is None else 1)", "len($str.split())", "len(sorted($slist))", "math.lcm($int! % 100, $int! % 100)", "math.perm($int! % 8, $int! % 4)",
        "len($alist)", "max($itup)", "(sum($itup) % 1009)", "min($ilist, key=lambda q: (q * 7 % 5, q))", "$f8_2.shape[{0 1 -1}]", "$f8_1.{size ndim}", "int(round($float % 99.0, 0))",
        "(int(np.{sum prod max min}($i8_1 % 100)) % 10007)", "int(np.arg{max min}($f8_1))", "int(np.count_nonzero($b1_1))", "(int($i8_1[$index]) % 65537)", "(int($i4_1[$index]) % 65537)", "int($u1_1[$index])",
        "(int($i8_2[$index, $index]) % 65537)", "int(float(np.sum($u1_1)))", "(int($i8_1.sum()) % 65537)", "int(np.sum($b1_1))", "(int(np.dot($i8_1 % 100, $i8_1 % 100)) % 10007)", "int($i4_1.max())",
        "int(np.searchsorted(np.arange(5.0), $float))", "int(($i8_2 % 10).trace())", "int(np.abs($i1_1).min())",
    ],
    "float": [
        "($float {+ - *} $float)", "($float / $float)", "($float {// %} $float)", "($int / $int)", "($int {+ - *} $float)", "($float {+ - * /} $int)", "(-$float)", "abs($float)", "float($int)", "float($bool)",
        "{min max}($float, $float)", "float({min max}($float, $int))", "(math.{floor fabs}($float % 77.0) * 1.0)", "math.sqrt(abs($float))", "math.sqrt($float)", "math.copysign($float, $float)",
        "math.fmod($float, $float)", "math.modf($float)[{0 1}]", "math.frexp($float)[0]", "math.ldexp($float, $int! % 9)", "round($float % 1000.0, {0 1 2 3 -1})", "($float ** 2)", "(abs($float) ** 0.5)",
        "divmod($float, $float)[{0 1}]", "float(sum($flist))", "float(sum([q * 0.5 for q in $flist]))", "float(sum(q - 1 for q in $flist))", "max($flist)", "min($flist)", "$flist[$index]", "$pair[1]", "$point.y",
        "$triple[1][1]", "$nested[1][$index]", "$nested[0].y", "($float or $float)", "($float and $float)", "($complex).{real imag}", "($float if $bool else $float)", "float($int if $bool else $float)",
        "math.fsum($flist)", "math.hypot(3.0 * $bool, 4.0)", "math.{degrees radians}($float)", "float(str($float))", "float($str)", "(lambda u: u * 0.5 - 1)($float)", "$plist[$index][1]", "abs($int / 7)",
        "math.remainder($float, $float)", "math.nextafter($float, $float)", "math.ulp($float)", "math.fabs($float)", "float(round($float % 50.0))",
        "float($f8_1[$index])", "float($f8_2[$index, $index])", "float($f4_1[$index])", "(float(np.{sum max min prod mean}($f8_1)) + 0)", "(float($f8_1.{sum max min mean std var}()) + 0)", "float($f8_2.sum())",
        "(float(np.{nansum nanmax nanmin}($f8_1)) + 0)", "float(np.sum($f4_1))", "float(np.median($f8_1))", "float($f8_2[$index].sum())", "(float($f8_2[:, $index].max()) + 0)", "float(np.mean($i8_1 % 1000))", "float(np.ptp($f8_1))",
        "float($f8_1[-1])", "float(np.dot(np.arange(4.0), np.ones(4)))", "float(np.prod($f8_1[:2]))", "float(np.{floor ceil trunc rint sqrt square}($float))",
        "(float(np.{maximum minimum fmax fmin}($float, $float)) + 0)", "float(np.{floor_divide fmod}($float, 2.0 + $bool))", "float(np.std($i8_1 % 100))",
    ],
    "bool": [
        "($int {< <= == != > >=} $int)", "($float {< <= == != > >=} $float)", "($int {< == >} $float)", "($str {< <= == != > >=} $str)", "(lambda u, v: u {== != < >=} v if u[1] == u[1] and v[1] == v[1] else True)($pair, $pair)", "($itup {== < >} $itup)", "(lambda u, v: u == v if u[1][1] == u[1][1] and v[1][1] == v[1][1] else True)($triple, $triple)", "(lambda u, v: u == v if u.y == u.y and v.y == v.y else True)($point, $point)",
        "(not $bool)", "(not $ilist)", "(not $str)", "(not $float)", "($bool {and or} $bool)", "($bool {& | ^} $bool)", "($int {in not~in} $ilist)", "(lambda u, v: u in v if u == u else False)($float, $flist)", "($str {in not~in} $str)", "($str in $slist)", "($int in $itup)",
        "($int < $int <= $int)", "($float >= $int != $int)", "($ilist {== != < >=} $ilist)", "(lambda u, v: u == v if all([q == q for q in u + v]) else False)($flist, $flist)", "($slist {== <} $slist)", "($llist {== !=} $llist)", "(lambda u, v: u {== !=} v if all([q[1] == q[1] for q in u + v]) else False)($plist, $plist)", "bool($int)", "bool($float)", "bool($str)", "bool($ilist)",
        "{any all}([q > $int for q in $ilist])", "{any all}(q {> <} $int for q in $ilist)", "{any all}($ilist)", "($opt is {None not~None})", "($opt {== !=} $int)", "($opt {== !=} $opt)", "($optf == $float)", "$str.{startswith endswith}($str!)",
        "$str.{isdigit isalpha isupper islower isspace isalnum}()", "isinstance($int, {int float (int,~str)})", "isinstance($float, {float int})", "math.{isnan isinf isfinite}($float)", "($complex {== !=} $complex)", "math.isclose($float, $float)",
        "($ilist == [])", "($bool == $int)", "($bool if $bool else $bool)", "(($int, $str) == ($int, $str))", "(lambda u, v: u in v if u[1] == u[1] else False)($pair, $plist)", "($float).is_integer()", "($itup[:2] == $itup[1:])", "($pair[0] > $pair[1])",
        "bool($b1_1[$index])", "bool(np.{any all}($b1_1))", "bool(np.{any all}($f8_1 {> < ==} $float))", "bool(np.array_equal($f8_1, $f8_1))", "bool(($f8_2 {> <} $float).{any all}())", "bool(np.{isnan isfinite signbit}($float))",
        "bool($b1_2[$index, $index])", "bool(np.allclose($f8_1, $f8_1!))", "bool($i8_1[$index] {< == >} $int)",
    ],
    "str": [
        "($str + $str)[:24]", "str($int)", "str($float)", "str($bool)", "$str[$int!:$int!]", "$str[$index:]", "$str[:$index]", "$str[::{-1 2 -2}]", "($str[:4] * ($int! % 4))", "$slist[$index]", "$str[$index]",
        "$str.{upper lower strip title swapcase capitalize lstrip rstrip}()", "{'' '-' ',~'}.join($slist)[:24]", "$str.replace($str!, $str!)[:24]", "f'{$name_int}:{$name_float:.{0 1 3}f}'", "f'{$name_int:{5d >6 <5 ^7 05 + x b o , e}}|'",
        "f'{$name_float:{g .3e 8.2f .0f +.2f %}}'", "f'{$name_str!r}{$name_str:>5}'", "f'{$name_bool}{$name_float}'", "$box[0]", "$triple[0]", "($str or $str)", "($str and $str)", "{max min}($str, $str)", "{max min}($slist)", "chr(97 + $int! % 20)",
        "repr($float)", "repr($str)", "repr($int)", "$str.{zfill ljust rjust center}($int! % 9)", "str($complex)", "($str if $bool else $str)", "''.join([q.upper() for q in $str])[:24]", "''.join(sorted($slist))[:24]", "str($pair)", "str($ilist)[:24]", "str($itup)",
        "str($triple)", "repr($slist)[:24]", "$str.{removeprefix removesuffix}($str!)", "$str.partition($str! + ',')[{0 1 2}]", "str($bool and $bool)", "str($point)", "repr($llist)[:24]", "str($flist)[:40]",
    ],
    "complex": [
        "complex($float, $float)", "($complex {+ - *} $complex)", "($complex {+ - *} $float)", "($int {+ *} $complex)", "(-$complex)", "($complex).conjugate()", "($complex / $complex)", "($complex / 2)", "complex($int)", "($complex if $bool else $complex)",
        "complex($c16_1[$index])", "complex(np.sum($c16_1))", "complex(sum([q * 1j for q in $ilist]))",
    ],
    "opt": ["($int if $bool else None)", "(None if $bool else $int)", "($opt if $bool else $opt)", "$olist[$index]"],
    "optf": ["($float if $bool else None)", "(None if $bool else $float)"],
    "pair": ["($int, $float)", "($pair if $bool else $pair)", "$triple[1]", "{max min}($pair, $pair, key=lambda q: q[0])", "$plist[$index]", "(($int!,) + ($float,))"],
    "triple": ["($str, $pair, $bool)", "($triple if $bool else $triple)"],
    "itup": ["($int, $int, $int)", "$itup[::-1]", "($itup[1:] + ($int,))", "($itup + $itup)[{1:4 2:5 :3 ::2}]", "(*$itup[:2], $int)", "(divmod($int, $int) + ($int!,))"],
    "box": ["($str, $ilist, $f8_1)"],
    "point": ["Point($int, $float)", "Point(y=$float, x=$int)", "Point(*$pair)", "($point if $bool else $point)"],
    "nested": ["($point, $flist)"],
    "ilist": [
        "[$int, $int]", "[$int, *$ilist]", "($ilist + $ilist)[:6]", "$ilist[$index:]", "$ilist[:$index]", "$ilist[::{-1 2 -2}]", "$ilist[$int!:$int!:{1 2 -1}]", "($ilist[:3] * ($int! % 3))", "sorted($ilist)", "sorted($ilist, reverse=$bool)", "$ilist.copy()", "list($ilist)",
        "list(reversed($ilist))", "[$int for q in range({0 1 3 4})]", "[(q * 3 + $int!) % 1009 for q in $ilist if q % 3]", "[u % 9 for v in $llist for u in v][:6]", "[ord(q) for q in $str]", "list($itup)",
        "$llist[$index]", "$box[1]", "[len(q) for q in $slist]", "[u + v & 255 for u in $ilist[:2] for v in $ilist[:2]]", "list(map(lambda q: q % 11, $ilist))", "list(filter(lambda q: q % 2, $ilist))", "[q[0] for q in $plist]", "[int(q) % 1009 for q in $i8_1]",
        "list(range($int! % 5))", "sorted($ilist, key=lambda q: (q % 3, -q))", "[i for i, q in enumerate($ilist) if q > $int!]", "[0 if q is None else q for q in $olist]", "[(q if q > 0 else -q) for q in $ilist]",
    ],
    "flist": [
        "[$float, $float]", "($flist + $flist)[:6]", "$flist[$index:]", "$flist[::-1]", "$flist.copy()", "[q * 0.5 for q in $flist]", "[$float for q in range({0 2 3})]", "[float(q) for q in $ilist]", "[float(q) for q in $f8_1][:8]", "$nested[1]", "sorted([q for q in $flist if q == q])",
        "[q / 2 for q in $ilist]", "[q[1] for q in $plist]", "($flist if $bool else $flist)", "$f8_1.tolist()[:8]", "list(reversed($flist))", "[max(q, 0.0) for q in $flist]",
    ],
    "slist": ["[$str, $str]", "($slist + $slist)[:5]", "sorted($slist)", "$slist[::-1]", "[q for q in $str]", "[q + 'z' for q in $slist][:5]", "$str.split()", "$str.split(',')", "[str(q) for q in $ilist]", "list($str)", "sorted($slist, key=len)", "[q.upper() for q in $slist]", "[f'{q}!' for q in $ilist]"],
    "llist": [
        "[$ilist, $ilist]", "[$ilist]", "($llist + $llist)[:5]", "$llist[::-1]", "[[q, $int] for q in range({1 2 3})]", "[q[:2] for q in $llist]", "$llist.copy()", "sorted($llist)", "[[u * v for u in range(3)] for v in range({1 2})]", "[sorted(q) for q in $llist]", "[q + [1] for q in $llist]",
    ],
    "plist": ["[$pair, $pair]", "sorted($plist, key=lambda q: q[0])", "list(zip($ilist, $flist))", "list(enumerate($flist))", "[(q, q * 0.5) for q in $ilist]", "$plist[::-1]", "($plist + [$pair])[:5]", "[(v, float(u)) for u, v in enumerate($ilist)]"],
    "olist": ["[$opt, $opt, 1]", "[q if q > $int! else None for q in $ilist]", "$olist[::-1]", "($olist + [$opt])[:5]"],
    "alist": ["[$f8_1.copy(), $f8_1.copy()]", "[q * 2 for q in $alist]", "[np.full({1 2 3}, float(q)) for q in $ilist]", "$alist[::-1]", "($alist + [$f8_1.copy()])[:4]"],
}

# Array kinds are a dtype and a number of dimensions: "f8_1".
DTYPES = {"f8": "np.float64", "i8": "np.int64", "b1": "np.bool_", "c16": "np.complex128", "f4": "np.float32", "i4": "np.int32", "i1": "np.int8", "u1": "np.uint8", "u8": "np.uint64", "i2": "np.int16", "c8": "np.complex64"}
ARRAYS = ["f8_1", "f8_1", "f8_1", "i8_1", "i8_1", "b1_1", "f8_2", "f8_2", "i8_2", "f4_1", "i4_1", "u1_1", "c16_1", "b1_2", "i1_1", "f4_2", "u8_1", "i2_1", "f8_3"]

# Of every dtype; `$same` is an array of this kind, `$N` a name of one (the same wherever it stands), `T` the dtype, `$vec` and `$mat` 1-d and 2-d arrays of the dtype.
ARRAY_ANY = ["$same.copy()", "np.where($mask, $same, $same)", "$same[...]", "np.{zeros_like ones_like}($same)", "($same if $bool else $same)", "np.flip($same)", "np.ascontiguousarray($same)", "np.roll($same, $int! % 5)"]
ARRAY_1 = [
    "$N[$N == $N]", "$same[$index:]", "$same[:$index]", "$same[::{-1 2 -2 3}]", "$same[$int!:$int!:{1 -1 2}]", "$mat[$index]", "$mat[:, $index]", "$mat.{ravel flatten}()", "$mat[$mask2!]", "$N[$i8_1! % max($N.size, 1)]", "$N[[0, -1]]", "$N[np.array([1, 0, 1])]",
    "np.concatenate(($same, $same))[:6]", "np.repeat($same, {1 2})[:6]", "np.tile($same, {1 2})[:6]", "np.append($same, $same)[:6]", "$mat.T[$index]", "$mat.diagonal().copy()", "np.array([$N[0], $N[-1]])", "$mat[$index, ::{1 -1}]", "$same.reshape(-1)",
]
ARRAY_2 = [
    "$same.T", "$same[::-1]", "$same[:, ::{-1 2}]", "$same[$int!:, :$int!]", "$vec.reshape({(2,~-1) (-1,~2) (1,~-1)})", "$vec[:, None]", "$vec[None, :]", "np.stack(($vec, $vec))", "np.vstack(($vec, $vec))", "np.hstack(($same, $same))[:, :4]",
    "np.swapaxes($same, 0, 1)", "np.broadcast_to($vec, ({2 3}, 4)).copy()", "np.expand_dims($vec, {0 1})", "$same[[0, -1]]", "$same[:, [0, 0]]", "np.concatenate(($same, $same), axis={0 1})[:4, :4]", "np.atleast_2d($vec)",
]
ARITHMETIC = ["($same {+ - *} $same)", "($same {+ *} $low)", "(np.{minimum maximum}($same, $same) + 0)", "(-$same)", "np.{abs sign square}($same)", "($same {- *} $scalar)", "($scalar {- +} $same)", "(np.sort($same) + 0)", "np.{add subtract multiply}($same, $same)"]
BY_DTYPE = {
    "int": [*ARITHMETIC, "($same {// %} $same)", "($same {// %} $scalar)", "($same {& | ^} $same)", "(~$same)", "($same << ($int! % 7))", "($same >> ($int! % 7))", "($same ** {2 3 0})", "np.{bitwise_and bitwise_xor left_shift}($same, $same % 7)", "$booleans.astype(T)", "$integers.astype(T)", "np.gcd($same, $same)"],
    "float": [*ARITHMETIC, "($same {/ // %} $same)", "($same {/ // %} $scalar)", "($float / $same)", "np.{floor ceil trunc rint sqrt}($same)", "np.{copysign fmod nextafter}($same, $same)", "(np.{fmax fmin}($same, $same) + 0)", "($same ** 2)", "np.clip($same, {-1.0 0.0}, 2.5)", "$same.clip(-1, 1)", "$booleans.astype(T)", "$integers.astype(T)", "$floats.astype(T)", "np.nan_to_num($same)", "np.round($same, {0 1})", "np.reciprocal($same)", "np.{spacing deg2rad}($same)"],
    "complex": ["($same {+ - *} $same)", "($same {+ *} $scalar)", "(-$same)", "np.conj($same)", "$booleans.astype(T)", "$floats.astype(T)", "($same * 1j)", "$same.conj()"],
    "bool": ["($f8 {< <= == != > >=} $f8)", "($i8 {< == >} $int!)", "($f8 {> <=} $float)", "(~$same)", "($same {& | ^} $same)", "np.logical_{and or xor}($same, $same)", "np.logical_not($f8)", "np.{isnan isinf isfinite signbit}($f8)", "$integers.astype(np.bool_)", "($i8 % 2 == 0)", "np.equal($i8, $i8)", "($booleans != $booleans)", "np.isclose($f8, $f8)"],
    "f8": ["($i8 / $i8)", "($f8 {+ - *} $i8)", "($i8 * $float)", "$c16.{real imag}", "($f8 {+ *} $b1)", "($f4 + $i8)", "np.sqrt(np.abs($i8))", "($u1 * $float)", "np.where($mask, $f8, 0.0)", "np.where($mask, $i8, $f8)", "np.true_divide($i8, 2)"],
    "i8": ["($i8 + $i4)", "($b1 + $i8)", "($i4 * $i8)", "np.where($mask, $i8, 1)", "np.floor_divide($i8, 3)", "($i8 + $u1)"],
    "c16": ["($f8 + 1j)", "($f8 * $complex)", "($c16 + $f8)"],
    "f8_1": ["np.{cumsum cumprod}($f8_1)", "np.diff($f8_1)", "np.array($flist)", "np.linspace(0.0, {1.0 3.0}, {3 4})", "np.arange({3.0 4.0})", "(np.{sum max min prod mean}($f8_2, axis={0 1 -1}) + 0)", "($f8_2.{sum mean max min}({0 1}) + 0)", "$box[2]", "$alist[$index]", "np.array([q * 0.5 for q in $ilist])", "np.nan_to_num($f8_1)", "np.diag($f8_2).copy()", "np.asarray($flist)", "np.{var std}($f8_2, axis={0 1})"],
    "i8_1": ["np.unique($i8_1)", "np.cumsum($i8_1)", "np.arange({3 4 5})", "np.array([1, *$ilist])", "np.argsort($f8_1, kind='stable')", "np.{sum max min}($i8_2, axis={0 1})", "np.argmax($i8_2, axis={0 1})", "np.nonzero($b1_1)[0]", "np.flatnonzero($b1_1)", "np.diff($i8_1)", "np.cumsum($b1_1)", "(($i8_2 % 10) @ ($i8_1 % 10))", "np.cumprod($i8_1)", "np.sum($i4_1.reshape(2, -1), axis=0)", "np.searchsorted(np.arange(4.0), $f8_1)", "np.array($itup)", "np.argsort($i8_1, kind='stable')", "np.count_nonzero($f8_2, axis=0)", "np.bincount($i8_1 % 5)"],
    "f8_2": ["($f8_1[:, None] {+ - *} $f8_1)", "np.zeros((2, 4))", "np.eye({2 3 4})", "np.ones(({1 3}, 4))", "np.arange(8.0).reshape({(2,~4) (4,~2)})", "($f8_2 {+ - *} $f8_1)", "np.cumsum($f8_2, axis={0 1})", "np.sum($f8_2, axis={0 1}, keepdims=True)", "np.diag($f8_1)", "np.{tril triu}($f8_2)", "np.array([$flist, $flist])", "np.outer($f8_1, $f8_1)", "np.diff($f8_2, axis={0 1})", "(np.sort($f8_2, axis={0 1}) + 0)", "$f8_3[$index]", "$f8_3[:, $index]", "(np.max($f8_3, axis={0 1 2}) + 0)", "($f8_2.mean(axis={0 1}, keepdims=True) + $f8_2)"],
    "i8_2": ["np.arange(8).reshape({(2,~4) (4,~2)})", "($i8_2 + $i8_1)", "np.outer($i8_1 % 100, $i8_1 % 100)", "(($i8_2 % 10) @ ($i8_2.T % 10))", "np.array([[1, *$ilist], [2, *$ilist]])", "np.array([[1, 2], [3, $int!]])", "np.argwhere($b1_1)", "np.indices((2, 2))[0]"],
    "f8_3": ["np.arange(12.0).reshape((2, 3, 2))", "$f8_2[:, :, None]", "$f8_2[None]", "np.transpose($f8_3, ({0,~2,~1 2,~0,~1}))", "np.moveaxis($f8_3, 0, {1 2})", "($f8_3 + $f8_2)", "$f8_3[:, ::-1]"],
    "b1_1": ["np.{any all}($b1_2, axis={0 1})", "np.array([q > 2 for q in [1, *$ilist]])", "np.isin($i8_1, [1, 2])", "np.isin($i8_1, $i8_1)"],
    "u1_1": ["np.unique($u1_1)", "np.arange(4).astype(np.uint8)"],
}
# Values that arrays start from.
ARRAY_VALUES = {
    "f8": ["1.0", "-2.5", "0.0", "-0.0", "np.nan", "np.inf", "3.75", "1e300", "0.5"], "f4": ["1.5", "-0.25", "0.0", "np.inf", "16777217.0", "3e38"], "c16": ["1j", "2.5", "-1-1j", "0.0"], "c8": ["1j", "0.5"],
    "b1": ["True", "False"], "i8": ["0", "1", "-1", "7", "-8", "9223372036854775807", "-9223372036854775808", "4294967296", "3"], "i4": ["0", "-1", "2147483647", "-2147483648", "5"], "i2": ["32767", "-32768", "0", "3"],
    "i1": ["127", "-128", "0", "-1", "5"], "u1": ["255", "0", "128", "7"], "u8": ["18446744073709551615", "0", "1", "9223372036854775808"],
}
