"""`python -m benchmarks.shape`: how the package is built, counted from its syntax trees; a table, no judgement.

Ideas are recognised by names, so every count is followed by what was found: a reader sees at once what is not meant.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import TypeVar

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "diskret"

IDEAS = {
    "forms of a demand": re.compile(r"Demand|Needs|Targets|Task"),
    "types of a move": re.compile(r"Move|Kept|Cuboid(?!s$)"),
}
"""Classes and aliases whose names say that they are one of these (``Cuboids`` is a method with its options)."""
SEARCHES, IN_CUBOIDS = re.compile(r"walk|search|cuboids|widest"), re.compile(r"cuboid|complete|moves")
"""Compiled functions that go through cuboids, and the paths of their files: other files search other things."""
TABLES = {"Pool", "Table", "System"}
CLOCKS = {"time", "perf_counter", "monotonic"}
MOST_PARAMETERS, MOST_COMPLEX, MOST_LINES = 8, 10, 500
Node = TypeVar("Node", bound=ast.AST)
Trees = dict[str, ast.Module]
Found = list[str]


def trees_of(folder: Path) -> Trees:
    """Every module below a folder by its path."""
    files = sorted(folder.rglob("*.py"))
    return {f.relative_to(folder).as_posix(): ast.parse(f.read_text(encoding="utf-8")) for f in files}


def every(trees: Trees, kind: type[Node]) -> Iterator[tuple[str, Node]]:
    """Nodes of one kind with their modules."""
    return ((path, node) for path, tree in trees.items() for node in ast.walk(tree) if isinstance(node, kind))


def functions(trees: Trees) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """All functions and methods with their modules."""
    yield from every(trees, ast.FunctionDef)
    yield from every(trees, ast.AsyncFunctionDef)


def named(node: ast.AST) -> str:
    """The last word of a name: ``c`` of ``a.b.c``."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def words(*nodes: ast.AST) -> set[str]:
    """All names in some expressions."""
    return {named(n) for node in nodes for n in ast.walk(node)} - {""}


def assigned(trees: Trees) -> Iterator[tuple[str, str, ast.expr]]:
    """What modules give a name to at their top level: module, name, value."""
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                yield path, node.targets[0].id, node.value
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
                yield path, node.target.id, node.value


def imports(tree: ast.AST) -> set[str]:
    """Modules and names that a module imports, at its top or inside of a function."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{a.name}" for a in node.names)}
    return found


def module_of(path: str) -> str:
    """How a file is imported."""
    return "diskret." + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def room_of(path: str) -> str:
    """The room a module belongs to."""
    return path.split("/")[0] if "/" in path else "diskret"


# --- one type per idea -----------------------------------------------------------------------------------------------


def types_named(trees: Trees, pattern: re.Pattern[str]) -> Found:
    """Classes, and aliases of types, whose name matches."""
    found = [(node.name, path) for path, node in every(trees, ast.ClassDef)]
    found += [(n, p) for p, n, value in assigned(trees) if isinstance(value, ast.Subscript) and not n.isupper()]
    return [f"{name} ({path})" for name, path in found if pattern.search(name)]


def cuboid_searches(trees: Trees) -> Found:
    """Compiled functions that search cuboids."""
    chosen = {p: t for p, t in trees.items() if IN_CUBOIDS.search(p)}
    compiled = [(p, f) for p, f in functions(chosen) if "njit" in words(*f.decorator_list)]
    return [f"{f.name} ({path})" for path, f in compiled if SEARCHES.search(f.name)]


def type_tests(trees: Trees) -> Counter[str]:
    """How often modules outside of ``model`` ask which kind of cells they have."""
    asked = ((p, call) for p, call in every(trees, ast.Call) if named(call.func) == "isinstance")
    return Counter(p for p, call in asked if room_of(p) != "model" and words(call.args[1]) & TABLES)


def wide_functions(trees: Trees) -> Found:
    """Functions that ``diskret`` or a room offers by name, with too many parameters (``**older`` is none)."""
    doors = [f for ending in ("py", "pyi") for f in SOURCE.rglob(f"__init__.{ending}")]
    offered = set().union(*(imports(ast.parse(f.read_text(encoding="utf-8"))) for f in doors))
    public = [(p, f) for p, f in functions(trees) if f"{module_of(p)}.{f.name}" in offered]
    wide = {f"{f.name} ({p})": len(f.args.posonlyargs + f.args.args + f.args.kwonlyargs) for p, f in public}
    return [f"{name}: {number}" for name, number in wide.items() if number > MOST_PARAMETERS]


def long_constructions(trees: Trees) -> Found:
    """Objects made with too many arguments without their names."""
    made = [
        (p, named(c.func), len(c.args)) for p, c in every(trees, ast.Call) if re.match("_?[A-Z]|cls$", named(c.func))
    ]
    return [f"{name} ({path}): {count}" for path, name, count in made if count >= MOST_PARAMETERS]


# --- constants, questions and names said again -----------------------------------------------------------------------


def array_aliases(trees: Trees) -> Found:
    """Names for kinds of arrays outside of their home."""
    arrays = [(p, n) for p, n, v in assigned(trees) if isinstance(v, ast.Subscript) and named(v.value) == "NDArray"]
    return [f"{name} ({path})" for path, name in arrays if path != "model/arrays.py"]


def tolerances(trees: Trees) -> Found:
    """Small numbers with a name, outside of their home."""
    numbers = [(p, n, getattr(v, "value", None)) for p, n, v in assigned(trees) if p != "model/tolerances.py"]
    return [f"{n} {v:g} ({path})" for path, n, v in numbers if isinstance(v, float) and 1e-13 <= v <= 1e-2]


def sign_tests(trees: Trees) -> Found:
    """Modules that work out whether no value is negative: ``positive or not (value < 0).any()``."""
    return [p for p, n in every(trees, ast.BoolOp) if isinstance(n.op, ast.Or) and {"positive", "any"} <= words(n)]


def homonyms(names: Iterable[tuple[str, str]]) -> Found:
    """Names that more than one room uses, from (name, path)."""
    rooms: dict[str, list[str]] = defaultdict(list)
    for name, path in names:
        rooms[name].append(room_of(path))
    return [f"{name} ({', '.join(found)})" for name, found in sorted(rooms.items()) if len(set(found)) > 1]


def untested_kernels(trees: Trees, tests: Trees) -> Found:
    """Kernel files that no test imports."""
    imported = set().union(*map(imports, tests.values()))
    return [p for p in trees if re.search(r"/_\w*kernels\.py$", p) and module_of(p) not in imported]


def clock_tests(tests: Trees) -> Found:
    """Assertions on the time of day, or on what was worked out from it in the same function."""
    found = []
    for path, function in functions(tests):
        told: set[str] = set()
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and _reads_clock(node.value):
                told |= {named(t) for t in node.targets}
            elif isinstance(node, ast.Assert) and (_reads_clock(node.test) or words(node.test) & told):
                found.append(f"{path}:{node.lineno}")
    return found


def _reads_clock(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Call) and named(n.func) in CLOCKS for n in ast.walk(node))


def complexity(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """McCabe's number as radon counts it: decisions plus one, without functions inside."""
    count, waiting = 1, list[ast.AST](function.body)
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            count += _decisions(node)
            waiting += [] if isinstance(node, ast.Assert) else ast.iter_child_nodes(node)
    return count


def _decisions(node: ast.AST) -> int:
    match node:
        case ast.If() | ast.IfExp() | ast.Assert():
            return 1
        case ast.For() | ast.While() | ast.AsyncFor():
            return 1 + bool(node.orelse)
        case ast.Try():
            return len(node.handlers) + bool(node.orelse)
        case ast.BoolOp():
            return len(node.values) - 1
        case ast.comprehension():
            return 1 + len(node.ifs)
        case ast.Match():
            return len(node.cases) - any(getattr(c.pattern, "pattern", False) is None for c in node.cases)
    return 0


def report(trees: Trees, tests: Trees) -> Iterator[tuple[str, object, Found]]:
    """Rows: what is counted, how many (otherwise as many as were found), what was found."""
    for idea, pattern in IDEAS.items():
        yield idea, None, types_named(trees, pattern)
    yield "searches of cuboids", None, cuboid_searches(trees)
    yield "modules that import highspy", None, [p for p, tree in trees.items() if "highspy" in imports(tree)]
    asked = type_tests(trees)
    yield "isinstance of tables outside model", f"{asked.total()} in {len(asked)}", sorted(asked)
    yield f"public functions with more than {MOST_PARAMETERS} parameters", None, wide_functions(trees)
    yield f"constructors called with {MOST_PARAMETERS} or more positions", None, long_constructions(trees)
    yield "array aliases outside model/arrays.py", None, array_aliases(trees)
    yield "tolerances outside model/tolerances.py", None, tolerances(trees)
    yield "tests for no negative value", None, sign_tests(trees)
    yield "module names in several rooms", None, homonyms((Path(p).stem, p) for p in trees if "__init__" not in p)
    yield "class names in several rooms", None, homonyms((n.name, p) for p, n in every(trees, ast.ClassDef))
    yield "kernel files imported by no test", None, untested_kernels(trees, tests)
    yield "assertions on wall-clock time", None, clock_tests(tests)
    lines = {p: len((SOURCE / p).read_text(encoding="utf-8").splitlines()) for p in trees}
    yield "median lines of a module", median(lines.values()), [f"{p} {n}" for p, n in lines.items() if n > MOST_LINES]
    by_room = Counter(room_of(p) for p, _ in functions(trees))
    hard = Counter(room_of(p) for p, f in functions(trees) if complexity(f) > MOST_COMPLEX)
    share = f"{hard.total()} of {by_room.total()} ({hard.total() / by_room.total():.1%})"
    yield (
        f"functions with a complexity above {MOST_COMPLEX}",
        share,
        [f"{r} {n} of {by_room[r]}" for r, n in hard.most_common()],
    )
    rooms: Counter[str] = Counter()
    for path, count in lines.items():
        rooms[room_of(path)] += count
    yield "lines", rooms.total(), [f"{r} {n}" for r, n in rooms.most_common()]


if __name__ == "__main__":
    for what, count, found in report(trees_of(SOURCE), trees_of(ROOT / "tests")):
        print(f"{what:<58}{len(found) if count is None else count:>20}")
        print(*(f"    {each}\n" for each in found), sep="", end="")
