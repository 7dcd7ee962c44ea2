#!/usr/bin/env python3
"""Check a certificate of diskret without diskret: python check_certificate.py TABLE.json CERTIFICATE.json

Written from docs/certificate.md, which explains every step; Python 3.10 or later, nothing but its standard library.
TABLE.json is the plain form of a working file (``diskret plain``). With ``--promise PROMISE.json`` the certificate must
prove that promise, otherwise the one it names. Exit code 0: holds, 1: does not, 2: a file cannot be read.
Numbers are whole or fractions and compared exactly; INF is compared only. What is printed is confidential: it names
the ranges of the promise, which are secret, so that whoever runs it inside the office sees what was proven.
"""

# fmt: off
import argparse, hashlib, json, re, sys
from fractions import Fraction
from math import floor, gcd, inf as INF, prod

# --- what files look like: predicates, words, choices (tuples), lists of one form, objects ---------------------------
LONGEST = 1000
DECIMAL = re.compile(r"(?!-0\Z)-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?", re.ASCII)
PARAMETER = re.compile(r"[0-9]+(\.[0-9]+|/[1-9][0-9]*)?", re.ASCII)
TEXT, FLAG = lambda x: type(x) is str, lambda x: type(x) is bool
OBJECT, WHOLE, NATURAL = lambda x: type(x) is dict, lambda x: type(x) is int, lambda x: type(x) is int and x >= 0
EACH = lambda form: lambda x: OBJECT(x) and all(fits(each, form) for each in x.values())
INDEX = lambda x: type(x) is int and x >= -1
NUMBER = lambda x: type(x) is str and len(x) <= LONGEST and DECIMAL.fullmatch(x) is not None
AMOUNT = lambda x: NUMBER(x) and x[0] != "-"
PROMISED = lambda x: AMOUNT(x) and len(x) <= 300 and Fraction(repr(float(x))) == Fraction(x)
PERCENT = lambda x: type(x) is str and len(x) <= LONGEST and PARAMETER.fullmatch(x) is not None
HIDDEN = ("primary", "secondary")
BY, COUNTS, AMOUNTS = {"counted_by": ("respondent", "holding")}, (None, [NATURAL]), (None, [AMOUNT])
TOGETHER, PERCENTS = ({}, {"n": lambda x: NATURAL(x) and x > 1}), ({"kind": "PPercent"}, {"kind": "PQ", "q": PERCENT})
PEOPLE = {"count": [NATURAL], "largest": (None, [[AMOUNT]]), "absolute": AMOUNTS, "owner": (None, [INDEX]),
          "protected_count": COUNTS, "protected_largest": AMOUNTS, "public_count": COUNTS, "public_value": AMOUNTS}
ASKED = PEOPLE | {"asked": [[AMOUNT]]}
TABLE = {
    "response": TEXT, "frequency": FLAG, "positive": FLAG, "weighted": FLAG, "value": [NUMBER],
    "classifications": [{"name": TEXT, "codes": [TEXT], "groupings": [[INDEX]]}], "cells": (None, [[NATURAL]]),
    "equations": (None, [{"sum": NATURAL, "cells": [NATURAL], "times": [WHOLE]}]),
    "status": [("open", "never", "published", "structural zero", "zero", *HIDDEN)],
    "below": AMOUNTS, "above": AMOUNTS, "lower": (None, [(None, NUMBER)]), "upper": (None, [(None, NUMBER)]),
    "respondents": (None, PEOPLE, ASKED), "holdings": (None, PEOPLE, ASKED), "rules": [(
        {"kind": "Request", "percents": [PERCENT], "fewest": NATURAL, **BY},
        {"kind": "MinCount", "n": NATURAL, "zeros": FLAG, **BY}, {"kind": "Dominance", "n": NATURAL, "k": PERCENT, **BY},
        *({"p": PERCENT, **kind, **n, **BY} for n in TOGETHER for kind in PERCENTS))]}
PROMISE = {
    "guard": ("public", "single", "largest"), "coalitions": [lambda x: fits(x, [[TEXT]]) and len(x) > 0],
    "levels": FLAG, "sliding": FLAG, "min_relative_range": PROMISED, "min_range": (None, PROMISED), "unions": FLAG,
    "knowledge": ({"kind": ("usual", "none", "positive", "intervals"), "error": "0", "absolute": PROMISED},
                  {"kind": "relative", "error": lambda x: PROMISED(x) and x != "0", "absolute": PROMISED})}
USUAL = {"guard": "single", "coalitions": [], "levels": True, "sliding": False, "min_relative_range": "0",
         "min_range": None, "knowledge": {"kind": "usual", "error": "0", "absolute": "0"}, "unions": True}
LEAF = lambda x: type(x) is list and len(x) == 3 and NATURAL(x[0]) and fits(x[1:], [[WHOLE]])
SPLIT = lambda x: fits(x, [WHOLE]) and len(x) == 2
CERTIFICATE = {
    "table": TEXT, "promise": PROMISE, "moves": [{"cells": [WHOLE], "steps": [WHOLE]}], "versions": EACH(TEXT),
    "proofs": [{"cell": WHOLE, "by": TEXT, "side": (1, -1), "tree": [(LEAF, SPLIT)]}]}

class Unreadable(Exception): """A file that is not what it should be."""
class Impossible(Exception): """A promise that cannot be made about the table."""

def fits(x, form):
    """Whether content has a form."""
    if callable(form): return form(x)
    if type(form) is tuple: return any(fits(x, each) for each in form)
    if type(form) is list: return type(x) is list and all(fits(each, form[0]) for each in x)
    if type(form) is not dict: return type(x) is type(form) and x == form
    return type(x) is dict and x.keys() == form.keys() and all(fits(x[key], each) for key, each in form.items())

def need(condition, what, given=None):
    if not condition: raise Unreadable(what)
    return given

def load(path):
    number = lambda digits: need(len(digits) <= LONGEST, "a number with too many digits") or int(digits)
    no_number = lambda digits: need(False, "a number that is neither whole nor a decimal in quotes")
    once = lambda pairs: need(len(dict(pairs)) == len(pairs), "a key that comes twice", dict(pairs))
    hooks = {"object_pairs_hook": once, "parse_int": number, "parse_float": no_number, "parse_constant": no_number}
    try:
        with open(path, "rb") as file:
            return json.loads(file.read().decode("utf-8"), **hooks)
    except (OSError, ValueError, RecursionError, MemoryError) as e:
        raise Unreadable(f"it cannot be read ({type(e).__name__})") from None

def tables_in(content, kind, form):
    need(fits(content, {"format": kind, "note": TEXT, "tables": EACH(form)}) and content["tables"], f"it is no {kind}")
    return content["tables"]

def promise_in(content):
    promise = need(OBJECT(content), "a promise without its form") or USUAL | content
    return need(fits(promise, PROMISE), "a promise without its form", promise)

def exact(column): return column and [None if x is None else Fraction(x) for x in column]

class Table:
    """A table: its cells, the sums directly above a cell, and the equations restricted to hidden cells."""

    def __init__(self, plain):
        need(fits(plain, TABLE), "a table without its form")
        self.hash = hashlib.sha256(json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
        self.frequency, self.positive, self.weighted, self.rules, self.status, self.classes = (
            plain[key] for key in ("frequency", "positive", "weighted", "rules", "status", "classifications"))
        self.n = len(plain["value"])
        self.people = {level: dict(plain[level + "s"]) for level in BY["counted_by"] if plain[level + "s"]}
        numbers, counted = ("value", "below", "above", "lower", "upper"), self.people.values()
        columns = [plain[key] for key in (*numbers, "status", "cells")] + [x for each in counted for x in each.values()]
        need(all(x is None or len(x) == self.n > 0 for x in columns), "columns of different lengths")
        self.value, self.below, self.above, self.lower, self.upper = (exact(plain[key]) for key in numbers)
        for each in counted:
            each |= {key: exact(each[key]) for key in ("absolute", "protected_largest", "public_value")}
            each["largest"] = [exact(x) for x in each["largest"] or [[]] * self.n]
            each["others"] = [max(a - b, 0) for a, b in zip(each["count"], each["public_count"] or [0] * self.n)]
            if "asked" in each: each["asked"] = [exact(x) for x in each["asked"]]
            for many in ("largest", "asked"):
                need(len(set(map(len, each.get(many, [[]])))) == 1, "different numbers of largest contributions")
            need(all(each.get("asked", [[0]])), "no kind of request")
        need(all(r.get("n", 1) > 0 and Fraction(r.get("q", 1)) > 0 for r in self.rules), "a rule with a zero")
        need(all(len(set(k["codes"])) == len(k["codes"]) for k in self.classes) and self.classes, "codes come twice")
        (self.from_trees if plain["equations"] is None else self.from_equations)(plain)
        self.hidden, self.rows = {c for c, status in enumerate(self.status) if status in HIDDEN}, {}
        for c, row, times in ((c, *entry) for c in sorted(self.hidden) for entry in self.entries(c)):
            self.rows.setdefault(row, {})[c] = times

    def from_trees(self, plain):
        sizes = [len(k["codes"]) for k in self.classes]
        strides = [prod(sizes[i + 1 :]) for i in range(len(sizes))]
        need(plain["cells"] is None and prod(sizes) == self.n and all(k["groupings"] for k in self.classes), "no trees")
        trees = [(i, k["groupings"][0]) for i, k in enumerate(self.classes)]
        trees += [(i, parents) for i, k in enumerate(self.classes) for parents in k["groupings"][1:]]
        axes = [(a * self.n, sizes[i], strides[i], p, set(p)) for a, (i, p) in enumerate(trees)]
        need(all(len(p) == n and all(i != x < n for i, x in enumerate(p)) for _, n, _, p, _ in axes), "a broken tree")
        def entries(cell):
            for number, size, stride, parents, sums in axes:
                code = cell // stride % size
                if parents[code] >= 0:
                    yield number + cell + (parents[code] - code) * stride, 1
                if code in sums:
                    yield number + cell, -1
        self.entries, self.sum_of = entries, lambda row: row % self.n
        self.sums = lambda cell: [row % self.n for row, sign in entries(cell) if sign > 0]
        self.codes = lambda cell: [cell // stride % size for stride, size in zip(strides, sizes)]
        self.find = lambda codes: sum(code * stride for code, stride in zip(codes, strides))

    def from_equations(self, plain):
        at, sums, equations = [[] for _ in self.value], [[] for _ in self.value], plain["equations"]
        for row, each in enumerate(equations):
            cells, times = each["cells"], each["times"]
            need(len(set(cells)) == len(cells) == len(times) and each["sum"] in cells and all(times), "an equation")
            need(max(cells) < self.n, "an equation with a cell that is not there")
            negative = [c for c, t in zip(cells, times) if t < 0]
            for c, t in zip(cells, times):
                at[c].append((row, t))
                sums[c] += negative if len(negative) == 1 and t > 0 else []
        cells, sizes = plain["cells"] or [], [len(k["codes"]) for k in self.classes]
        numbers = {tuple(codes): c for c, codes in enumerate(cells)}
        need(len(numbers) == self.n and not any(k["groupings"] for k in self.classes), "cells without own codes")
        need(all(len(x) == len(sizes) and all(i < n for i, n in zip(x, sizes)) for x in cells), "cells without codes")
        self.entries, self.sums, self.sum_of = at.__getitem__, sums.__getitem__, lambda row: equations[row]["sum"]
        self.codes, self.find = cells.__getitem__, lambda codes: numbers.get(tuple(codes))

    def name(self, cell):
        return ascii(", ".join(f"{k['name']}={k['codes'][i]}" for k, i in zip(self.classes, self.codes(cell))))[1:-1]

    def cell_by(self, codes):
        numbers = [k["codes"].index(code) for code, k in zip(codes, self.classes) if code in k["codes"]]
        cell = self.find(numbers) if len(numbers) == len(codes) == len(self.classes) else None
        if cell is None: raise Impossible("a coalition knows a cell that is not there")
        return cell

# --- what the promise asks -------------------------------------------------------------------------------------------
def rooms(table, known):
    """How far above and below its value everybody thinks each cell possible."""
    value, up, down = table.value, [INF] * table.n, [INF] * table.n
    if known["kind"] == "relative":
        up = down = [max(Fraction(known["error"]) * abs(v), Fraction(known["absolute"])) for v in value]
    elif known["kind"] == "intervals":
        if table.lower is table.upper is None: raise Impossible("the table has no prior intervals")
        up = [INF if end is None else end - v for end, v in zip(table.upper or [None] * table.n, value)]
        down = [INF if end is None else v - end for end, v in zip(table.lower or [None] * table.n, value)]
    signs = known["kind"] == "positive" or table.positive or (known["kind"] == "usual" and min(value) >= 0)
    down = list(map(min, down, value)) if signs else down
    people = table.people.get("respondent", {})
    if people.get("public_count"):
        share = people["public_value"] or (people["public_count"] if table.frequency and not table.weighted else None)
        if signs and share and not people["absolute"]:
            down = [min(d, max(v - public, 0)) for d, v, public in zip(down, value, share)]
        known = [count > 0 and others == 0 for count, others in zip(people["count"], people["others"])]
        up, down = ([0 if k else room for k, room in zip(known, side)] for side in (up, down))
    if min(up + down) < 0: raise Impossible("what is said to be known beforehand is not true")
    whole = (lambda room: room if room == INF else floor(room)) if table.frequency else lambda room: room
    return list(map(whole, up)), list(map(whole, down))

def insiders(table, promise):
    """Per insider: the rooms of the cells he knows something about, and the cells of which nothing is asked of him."""
    found, own, groups, everywhere = {}, {}, {}, range(table.n)
    for i, members in enumerate(promise["coalitions"]):
        cells = {table.cell_by(codes) for codes in members}
        found[f"coalition {i + 1}"] = dict.fromkeys(cells, (0, 0)), cells
    if promise["guard"] == "public": return found
    knows = {c: (0, 0) for people in table.people.values() for c in everywhere if people["others"][c] == 1}
    if table.frequency and "respondent" not in table.people:
        knows |= {c: (0, 0) for c in everywhere if table.value[c] == 1}
    pairs = [(c, above) for c in knows for above in table.sums(c) if above in knows]
    owned = [people for people in map(table.people.get, ("holding", "respondent")) if people and people["owner"]]
    for people in owned:
        one, owner = {}, people["owner"]
        pairs += [(c, one.setdefault(owner[c], c)) for c in knows if owner[c] >= 0 and people["others"][c] == 1]
    leader = {c: c for c in knows}
    def first(c):
        while leader[c] != c: leader[c] = c = leader[leader[c]]
        return c
    for a, b in (sorted(map(first, pair)) for pair in pairs): leader[b] = a
    who, owner = {c: first(c) for c in knows}, owned[0]["owner"] if owned else [-1] * table.n
    for c in everywhere: groups.setdefault(owner[c] if owner[c] >= 0 else ("", c), []).append(c)
    for group in groups.values():
        lead = min((who[c] for c in group if c in knows), default=group[0])
        who |= {c: lead for c in group if c not in knows}
    if promise["guard"] == "largest":
        people = next((p for p in map(table.people.get, ("holding", "respondent")) if p and p["largest"][0]), None)
        if people is None: raise Impossible("largest contributors of a table without contributions")
        told = (table.people.get("respondent") or people)["public_value"] or people["public_value"]
        for c in (c for c in table.hidden - knows.keys() if people["others"][c] > 1):
            rest = max(abs(table.value[c]) - people["largest"][c][0] - (told[c] if told and not people["absolute"] else 0), 0)
            knows[c] = (rest, INF) if table.value[c] < 0 else (INF, rest)
    for c in everywhere: own.setdefault(who[c], []).append(c)
    for lead in {who[c] for c in knows}:
        behind, waiting = set(own[lead]), list(own[lead])
        while waiting:
            fresh = set(table.sums(waiting.pop())) - behind
            behind, waiting = behind | fresh, waiting + list(fresh)
        found[f"person {lead}"] = {c: knows[c] for c in own[lead] if c in knows}, behind
    return found

def demands(table, promise):
    """Per primary cell what its length must exceed and reach, and what its rise and fall must reach."""
    smallest = min((abs(v) for v, s in zip(table.value, table.status) if v and s != "primary"), default=0)
    share, length, found = Fraction(promise["min_relative_range"]), promise["min_range"], {}
    for c in (c for c in sorted(table.hidden) if table.status[c] == "primary"):
        longer = max(share * abs(table.value[c]), Fraction(length or 0))
        longer = smallest if length is None and share and not table.value[c] else longer
        a, b = (side[c] if side and promise["levels"] else 0 for side in (table.above, table.below))
        found[c] = (longer, a + b, 0, 0) if promise["sliding"] else (longer, 0, a, b)
    return found

def keeps(demand, rise, fall):
    longer, length, a, b = demand
    both = INF if INF in (rise, fall) else rise + fall
    return both > longer and both >= length and rise >= a and fall >= b

# --- moves, proofs, lines --------------------------------------------------------------------------------------------
def move_in(table, content):
    """A move as steps per cell without a common divisor; None if it is broken."""
    steps, off = dict(zip(content["cells"], content["steps"])), {}
    lengths = len(content["cells"]), len(content["steps"])
    if not steps or lengths != (len(steps),) * 2 or 0 in steps.values() or not steps.keys() <= table.hidden: return None
    for row, amount in ((row, times * step) for c, step in steps.items() for row, times in table.entries(c)):
        off[row] = off.get(row, 0) + amount
    common = gcd(*steps.values())
    return None if any(off.values()) else {c: step // common for c, step in steps.items()}

def often(steps, room, frequency):
    """How often a move can be made forward and backward, given the rooms above and below of its cells."""
    ends = [[(room(c)[step * sign < 0], abs(step)) for c, step in steps] for sign in (1, -1)]
    ways = [min((Fraction(end) / step for end, step in way if end != INF), default=INF) for way in ends]
    return [floor(times) if frequency and times != INF else times for times in ways]

def reached(through, who):
    """The largest rise and fall of a cell over the moves through it: its step, and how often each can be made."""
    rise = fall = 0
    for step, public, narrow in through:
        up, down = (n if n == INF else n * abs(step) for n in narrow.get(who, public)[:: 1 if step > 0 else -1])
        rise, fall = max(rise, up), max(fall, down)
    return rise, fall

def bound_of(table, proof, room):
    """How far the cell of a proof can go on its side at most; refuses a broken proof."""
    farthest, waiting = -1, [{}]
    need(proof["cell"] in table.hidden and len(proof["tree"]) <= 4001, "a proof about no hidden cell, or too long")
    for node in proof["tree"]:
        cut = need(waiting, "a tree with too many nodes") or waiting.pop()
        span = lambda c: cut[c] if c in cut else (-room(c)[1], room(c)[0])
        if len(node) == 2:
            c, at = node
            need(table.frequency and c in table.hidden, "a split that is not allowed")
            low, high = span(c)
            waiting += [{**cut, c: (max(low, at + 1), high)}, {**cut, c: (low, min(high, at))}]
            continue
        q, rows, times = node
        need(len(set(rows)) == len(rows) == len(times) and set(rows) <= table.rows.keys(), "equations of a leaf")
        z = {proof["cell"]: q * proof["side"]}
        for c, t in ((c, t * k) for row, t in zip(rows, times) for c, k in table.rows[row].items()):
            z[c] = z.get(c, 0) - t
        ends = [(t, span(c)[t > 0]) for c, t in z.items() if t]
        bound = INF if any(end in (INF, -INF) for _, end in ends) else sum(t * end for t, end in ends)
        if any(low > high for low, high in cut.values()) or (q == 0 and bound < 0): continue
        allowed = INF if q == 0 or bound == INF else Fraction(bound) / q
        farthest = max(farthest, floor(allowed) if table.frequency and allowed != INF else allowed)
    need(not waiting, "a tree with too few nodes")
    return farthest

def breaks(rule, cells, table):
    """Whether some cells, taken as one, break a rule."""
    people, ranked = table.people.get(rule["counted_by"]), rule.get("n", 1) * ("k" in rule or "p" in rule) + ("p" in rule)
    if people is None or ranked > len(people["largest"][0]) or "fewest" in rule and "asked" not in people: return False
    added = {key: sum(people[key][c] for c in cells) for key in people if people[key] and key not in ("largest", "asked")}
    absolute, gave = added.get("absolute", sum(abs(table.value[c]) for c in cells)), {}
    for c in cells:
        who = people["owner"][c] if people["owner"] and people["owner"][c] >= 0 else ("", c)
        gave[who] = gave.get(who, 0) + sum(people["largest"][c][:1])
    count, size = added["count"] - (len(cells) - len(gave)), absolute - added.get("public_value", 0)
    if rule["kind"] == "MinCount":
        few = 0 < count - added.get("public_count", 0) < rule["n"] and (rule["zeros"] or absolute > 0)
        return few and added.get("protected_count", count) > 0
    if "fewest" in rule:
        own, shares = [max(kind) for kind in zip(*(people["asked"][c] for c in cells))], exact(rule["percents"])
        shares = shares if len(shares) > 1 else shares * len(own)
        large = any(x == max(own) and y > 0 and 100 * x > y * size for x, y in zip(own, shares))
        return max(own) > 0 and (large or count < rule["fewest"])
    largest = sorted([*gave.values(), *(x for c in cells for x in people["largest"][c][1:])], reverse=True)[:ranked]
    target = max(people["protected_largest"][c] for c in cells) if people["protected_largest"] else largest[0]
    largest[-1] = min(largest[-1], target)
    share, of = (100, Fraction(rule["k"])) if "k" in rule else (1, 1)
    more = 0 if "k" in rule else Fraction(rule["p"]) / Fraction(rule.get("q", "100")) * target
    return share * sum(largest) + more > of * size and added.get("protected_count", count) > 0

def check(table, certificate, promise=None):
    """What a certificate proves about a table, by the numbers of cells and equations."""
    need(fits(certificate, CERTIFICATE), "a certificate without its form")
    found = {"promise": certificate["promise"] if promise is None else promise, "impossible": "", "cells": 0,
             "same table": certificate["table"] == table.hash, "open": [], "exposed": [], "broken moves": 0,
             "broken proofs": 0, "unions": [], "zeros": []}
    try:
        if found["same table"]: judge(table, certificate, found["promise"], found)
    except Impossible as e: found["impossible"] = str(e)
    wrong = any(each for key, each in found.items() if key not in ("promise", "same table", "cells"))
    return {**found, "holds": found["same table"] and not wrong}

def judge(table, certificate, promise, found):
    (up, down), people, asked = rooms(table, promise["knowledge"]), insiders(table, promise), demands(table, promise)
    knowing, through, bounds = {}, {}, {}
    for who, c in ((who, c) for who, (knows, _) in people.items() for c in knows):
        knowing.setdefault(c, []).append(who)
    def seen_by(who):
        knows = people[who][0] if who in people else {}
        return lambda c: tuple(map(min, (up[c], down[c]), knows.get(c, (INF, INF))))
    for each in certificate["moves"]:
        move = move_in(table, each)
        found["broken moves"] += move is None
        public, narrow = often((move or {}).items(), seen_by(""), table.frequency), {}
        for c, step in (move or {}).items():
            for who in knowing.get(c, ()):
                narrow[who] = list(map(min, narrow.get(who, public), often([(c, step)], seen_by(who), table.frequency)))
            through.setdefault(c, []).append((step, public, narrow))
    for proof in certificate["proofs"]:
        try:
            bound = bound_of(table, proof, seen_by(proof["by"]))
            ends = bounds.setdefault(proof["cell"], {}).setdefault(proof["by"], [INF, INF])
            ends[proof["side"] < 0] = min(ends[proof["side"] < 0], bound)
        except Unreadable: found["broken proofs"] += 1
    for c, demand in asked.items():
        moves, ends = through.get(c, []), bounds.get(c, {})
        enough = [set(each[2]) for each in moves if keeps(demand, *reached([each], ""))]
        suspects = set.intersection(*enough) if enough else set().union(*(each[2] for each in moves))
        kept = all(keeps(demand, *reached(moves, who)) for who in {"", *suspects} if not who or c not in people[who][1])
        public = ends.get("everybody", (INF, INF))
        by = [who for who, own in ends.items() if who == "everybody" or (who in people and c not in people[who][1])]
        by = [who for who in by if not keeps(demand, *map(min, ends[who], public))]
        found["exposed"] += [(c, who) for who in by]
        found["open"] += [] if kept or by else [c]
    found["cells"] = len(asked)
    for row, cells in table.rows.items():
        if promise["unions"] and len(cells) > 1 and len(set(cells.values())) == 1:
            found["unions"] += [row] * any(breaks(rule, cells, table) for rule in table.rules)
        parts = [c for c in cells if c != table.sum_of(row)]
        if table.frequency and len(parts) > 1 and not any(table.value[c] for c in parts):
            found["zeros"] += [row] * all(reached(through.get(c, []), "")[0] < 1 for c in parts)

def words(table, found):
    """What was promised, with its ranges, and what came of it: for the office, as confidential as the table."""
    kept = found["cells"] - len(found["open"]) - len({c for c, _ in found["exposed"]})
    yield "promised: " + json.dumps(found["promise"])
    yield f"{kept} of {found['cells']} primary cells keep it, against everybody and every insider"
    yield from (f"not proven: {table.name(c)}" for c in found["open"])
    yield from (f"exposed: {table.name(c)}, to {ascii(who)}" for c, who in found["exposed"])
    yield from (f"hidden parts of {table.name(table.sum_of(row))} together break a rule" for row in found["unions"])
    yield from (f"not proven: hidden zeros in {table.name(table.sum_of(row))} could be more" for row in found["zeros"])
    yield from (f"{key}: {found[key]}" for key in ("broken moves", "broken proofs", "impossible") if found[key])
    yield "" if found["same table"] else "the certificate belongs to another table, or the table was changed"
    yield "THE CERTIFICATE HOLDS" if found["holds"] else "the certificate does not hold"

def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("table", "certificate", "--promise"): parser.add_argument(name)
    given, holds = parser.parse_args(arguments), True
    try:
        tables = tables_in(load(given.table), "diskret plain table 1", OBJECT)
        certificates = tables_in(load(given.certificate), "diskret certificate 3", CERTIFICATE)
        need(tables.keys() <= certificates.keys(), "a table has no certificate")
        promise = None if given.promise is None else promise_in(load(given.promise))
        for name, plain in tables.items():
            table = Table(plain)
            found = check(table, certificates[name], promise)
            holds &= found["holds"]
            print(ascii(name)[1:-1], *filter(None, words(table, found)), sep="\n  ")
    except Unreadable as e:
        print(f"unreadable: {e}", file=sys.stderr)
        return 2
    return 0 if holds else 1

if __name__ == "__main__":
    sys.exit(main())
