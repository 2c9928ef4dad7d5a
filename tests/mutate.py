#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""mutate.py - finds changes of the code that no test notices: one operator, constant or bound is changed at a time.

usage: mutate.py [--count N] [--seed S] [--budget S] [--work DIR] [--again] [--report] [ROOM...]        'make mutate' runs it

One build of a copy of the tree holds all mutants: each drawn expression asks the number in the environment's MUTANT whether to compute its
change. The unchanged program runs each test once. That tells what the test costs, and which mutants it reaches: those whose expression it
evaluates. A changed bound counts as reached only where both sides were equal, as it computes the same elsewhere. Each mutant then meets the
tests that reach it, those of its room and short ones first, until one fails or takes three times its usual time. --budget limits the
processor seconds of the tests of one mutant. What longer tests might have killed counts as a survivor too.

Rooms are judged one after the other, small ones first. DIR keeps the draw and the verdicts, so the next call goes on. It copies the tests again;
with --again it asks the changed tests and a larger budget about the survivors. --report only prints, and --record FILE also writes the table of
rooms at the end of the page FILE. Without DIR, mutants are drawn anew: N of each room by the seed S. --quick asks the programs of tests alone.

tests/equivalent_mutants.csv argues why a change computes the same: such a mutant is no survivor, and is not asked.
A mutant whose line has been changed since it was drawn, and that no test killed before, is no longer counted.

Never drawn: sizes of allocations, orders of two values in a choice between these two, comparing functions for qsort, assertions, and constants that
C needs at compile time (tables, enumerators, sizes of arrays).
"""
import argparse
import collections
import csv
import glob
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from clang.cindex import CursorKind, Index, StorageClass, TypeKind

OPERATORS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
             "+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+="}
CALLS = {"fmax": "fmin", "fmin": "fmax", "ceil": "floor", "floor": "ceil", "max_u64": "min_u64", "min_u64": "max_u64",
         "max_u32": "min_u32", "min_u32": "max_u32"}
MAKES_ROOM = re.compile(r"arena_\w+|malloc|calloc|realloc|ends_new|qsort|memcpy|memset")
NAMES_ROOM = re.compile(r"\b(cap|room|ROOM)\b.* = ")
NUMBER = re.compile(r"(\d+(?:\.\d*)?(?:e[-+]?\d+)?)([uUlLfF]*)")
# What the build made of schemas is read from the tree's own build.
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-DARENA_GUARDS", "-I.", "-I" + os.path.abspath("build"), "-Iresults/simulate"]
BUILD = "-O1 -DARENA_GUARDS -fsanitize=bounds -fsanitize-undefined-trap-on-error -w"
# These tests run no program of this build, build for themselves, need git, or run as another user.
ARGUED = "tests/equivalent_mutants.csv"
NOT_ASKED = "docs layers needs install killed killed_writers anywhere shared circles words ledger".split()

HEAD = ("#ifndef MUTANTS\n#define MUTANTS\nextern int mutant; extern unsigned char *mutant_hits; "
        "static inline int mutant_is(int i) { mutant_hits[i] = 1; return mutant == i; } "
        "static inline int mutant_at(int i, int equal) { if (equal) mutant_hits[i] = 1; return mutant == i; }\n#endif\n#line 1\n")
# The hits are a shared mapping, so that those of a killed process count too.
CHOOSER = """#include <stdlib.h>
#include <fcntl.h>
#include <sys/mman.h>
int mutant = 0;
static unsigned char unread[%d];
unsigned char *mutant_hits = unread;
__attribute__((constructor)) static void mutant_chosen(void)
{
    const char *number = getenv("MUTANT"), *hits = getenv("MUTANT_HITS");
    mutant = number ? atoi(number) : 0;
    int file = hits ? open(hits, O_RDWR) : -1;
    void *shared = file < 0 ? MAP_FAILED : mmap(NULL, sizeof unread, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared != MAP_FAILED)
        mutant_hits = shared;
}
"""


def room_of(path):
    return os.path.basename(os.path.dirname(path))


def changed_number(text):
    """A whole number plus one, a fraction and a tenth; a thousand times as much where the number only guards a division or a rounding."""
    number, suffix = NUMBER.fullmatch(text).groups()
    if "e-" in number and float(number) < 1e-5:
        return repr(float(number) * 1e3) + suffix
    return (repr(float(number) * 1.1) if re.search(r"[.e]", number) else str(int(number) + 1)) + suffix


class Source:
    """The text of a file, and the sites where a mutant may stand. A site's edits are (offset, order, end, text): closings of order 0 come before
    openings of order 1 at the same offset, and order 2 replaces the text up to its end. '@' stands for the number of the mutant."""

    def __init__(self, path):
        self.path, self.bytes, self.sites = path, open(path, "rb").read(), []
        for c in Index.create().parse(path, FLAGS).cursor.get_children():
            if c.kind == CursorKind.FUNCTION_DECL and c.is_definition() and c.location.file.name == path:
                self.compares = [a.type.spelling for a in c.get_arguments()] == ["const void *"] * 2
                for child in c.get_children():
                    if child.kind == CursorKind.COMPOUND_STMT:
                        self.walk(child, False)

    def text(self, start, end):
        return self.bytes[start:end].decode()

    def of(self, c):
        return self.text(c.extent.start.offset, c.extent.end.offset)

    def line(self, offset):
        return self.bytes.count(b"\n", 0, offset) + 1

    def add(self, offset, old, new, edits):
        line = self.line(offset)
        start, whole = self.bytes.rfind(b"\n", 0, offset) + 1, self.bytes.split(b"\n")[line - 1].decode()
        changed = self.text(start, offset) + new + whole[len(self.text(start, offset)) + len(old):]
        if not NAMES_ROOM.search(whole):
            self.sites.append({"file": self.path, "line": line, "offset": offset, "old": old, "new": new, "text": whole.strip(),
                               "changed": changed.strip(), "edits": edits})

    def walk(self, c, either):
        """either: of equal operands either may be taken."""
        children = list(c.get_children())
        if c.kind == CursorKind.CALL_EXPR and MAKES_ROOM.fullmatch(c.spelling or ""):
            return
        if c.kind == CursorKind.CASE_STMT:
            children = children[1:]
        if c.kind == CursorKind.VAR_DECL and c.storage_class == StorageClass.STATIC:
            return
        if c.kind == CursorKind.VAR_DECL and c.type.kind in (TypeKind.CONSTANTARRAY, TypeKind.VARIABLEARRAY):
            children = [x for x in children if x.kind == CursorKind.INIT_LIST_EXPR]
        if c.kind in (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR) and len(children) == 2:
            self.add_operator(c, *children, either)
        elif c.kind == CursorKind.UNARY_OPERATOR:
            self.add_step(c, children[0])
        elif c.kind == CursorKind.CALL_EXPR and c.spelling in CALLS:
            self.add_call(c)
        elif c.kind in (CursorKind.INTEGER_LITERAL, CursorKind.FLOATING_LITERAL):
            self.add_number(c)
        for i, child in enumerate(children):
            self.walk(child, i == 0 and self.takes_either(c, children))

    def takes_either(self, c, children):
        """a < b ? b : a, or if (a < b) a = b."""
        if c.kind not in (CursorKind.CONDITIONAL_OPERATOR, CursorKind.IF_STMT) or len(children) < 2:
            return False
        sides = [self.of(x).strip("()") for x in children[0].get_children()]
        taken = list(children[1].get_children()) if c.kind == CursorKind.IF_STMT else children[1:]
        return len(children) == (2 if c.kind == CursorKind.IF_STMT else 3) and [self.of(x).strip("()") for x in taken] in (sides, sides[::-1])

    def add_operator(self, c, a, b, either):
        start, end, after_a, before_b = c.extent.start.offset, c.extent.end.offset, a.extent.end.offset, b.extent.start.offset
        gap = self.text(after_a, before_b) if after_a <= before_b else ""
        old = re.sub(r"/\*.*?\*/", "", gap, flags=re.S).strip()         # what a macro hides is no operator
        if old not in OPERATORS or old in ("<", "<=", ">", ">=") and (either or self.compares):
            return
        new, lines = OPERATORS[old], "\n" * gap.count("\n")
        if old in ("+=", "-="):
            changed = f"{self.of(a)} {new} {self.of(b)}".replace("\n", " ")
            edits = [(start, 1, end, f"(mutant_is(@) ? ({changed}) : ("), (end, 0, start, "))")]
        elif old in ("&&", "||"):
            edits = [(start, 1, end, "({ _Bool x@_ = ("),
                     (after_a, 2, before_b, f");{lines} x@_ {'==' if old == '&&' else '!='} mutant_is(@) ? (int)x@_ : !!("), (end, 0, start, "); })")]
        else:
            asks = "mutant_at(@, x@_ == y@_)" if old in ("<", "<=", ">", ">=") else "mutant_is(@)"
            edits = [(start, 1, end, "({ __auto_type x@_ = ("), (after_a, 2, before_b, f");{lines} __auto_type y@_ = ("),
                     (end, 0, start, f"); {asks} ? x@_ {new} y@_ : x@_ {old} y@_; }})")]
        self.add(after_a + gap.index(old), old, new, edits)

    def add_step(self, c, operand):
        start, end = c.extent.start.offset, c.extent.end.offset
        if self.of(c).replace(self.of(operand), "", 1).strip() == "++":
            self.add(start, "++", "--", [(start, 1, end, f"(mutant_is(@) ? {self.of(c).replace('++', '--')} : "), (end, 0, start, ")")])

    def add_call(self, c):
        start, name = c.extent.start.offset, c.spelling
        end = start + len(name)
        if self.text(start, end + 1) == name + "(":
            self.add(start, name, CALLS[name], [(start, 2, end, f"(mutant_is(@) ? {CALLS[name]} : {name})")])

    def add_number(self, c):
        start, end = c.extent.start.offset, c.extent.end.offset
        old = self.text(start, end)
        if NUMBER.fullmatch(old):
            self.add(start, old, changed_number(old), [(start, 2, end, f"(mutant_is(@) ? {changed_number(old)} : {old})")])

    def with_mutants(self, sites):
        """The text with all these changes, on the same lines. Of closings at one offset the innermost is first, of openings the outermost."""
        edits = sorted((at, order, -end, text.replace("@", str(s["number"]))) for s in sites for at, order, end, text in s["edits"])
        parts, here = [], 0
        for at, order, end, text in edits:
            parts += [self.text(here, at), text]
            here = max(here, -end if order == 2 else at)
        return HEAD + "".join(parts) + self.text(here, len(self.bytes))


class Tree:
    """A copy of the tree, whose build holds all mutants."""

    def __init__(self, work):
        self.work, self.folder = work, work + "/tree"
        self.hits, self.scratch, self.log = os.path.abspath(work + "/hits"), os.path.abspath(work + "/scratch"), work + "/log"

    def copy(self, under):
        listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard", under], capture_output=True, check=True).stdout.decode()
        for path in filter(os.path.lexists, listed.split("\0")):
            to = f"{self.folder}/{path}"
            if os.path.lexists(to) and (os.path.islink(path) or open(path, "rb").read() == open(to, "rb").read()):
                continue
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy(path, to, follow_symlinks=False)

    def write(self, source, sites):
        """Writes a changed file. Sites on lines that do not compile are dropped; the others are returned."""
        while True:
            with open(f"{self.folder}/{source.path}", "w") as f:
                f.write(source.with_mutants(sites))
            said = subprocess.run(["gcc", *FLAGS, "-Werror=int-conversion", "-fsyntax-only", source.path], cwd=self.folder, capture_output=True, text=True).stderr
            bad = {int(n) for n in re.findall(rf"^{re.escape(source.path)}:(\d+):\d+: error", said, re.M)}
            left = [s for s in sites if s["line"] not in bad]
            if "error" in said and len(left) == len(sites):
                sys.exit(f"mutate.py: {source.path} does not compile:\n{said}")
            sites = left
            if not bad:
                return sites

    def make(self):
        """Builds, and returns the tests to ask: programs, shell tests, and the gate over all predictions."""
        tests = [t[len(self.folder) + 1:-2] for t in sorted(glob.glob(self.folder + "/tests/*/t_*.c"))]
        subprocess.run(["make", "-s", "-j2", "CC=" + os.environ.get("CC", "gcc"), "CFLAGS=" + BUILD, "build/podbench", "build/libpodbench.so",
                        *("build/" + t for t in tests)], cwd=self.folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shell = [t[len(self.folder) + 1:] for t in sorted(glob.glob(self.folder + "/tests/cli/t_*.sh"))]
        return tests + [t for t in shell if os.path.basename(t)[2:-3] not in NOT_ASKED] + ["tests/gate"]

    def run(self, test, mutant, allowed_s, hits=""):
        """Whether the test passes, and the processor seconds it took."""
        def limits():
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (int(allowed_s) + 1, int(allowed_s) + 2))
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        shutil.rmtree(self.scratch, ignore_errors=True)
        os.makedirs(self.scratch)
        podbench = os.path.abspath(self.folder + "/build/podbench")
        env = dict(os.environ, LC_ALL="C", MUTANT=str(mutant), MUTANT_HITS=hits, TMPDIR=self.scratch, HOME=self.scratch,
                   XDG_CACHE_HOME=self.scratch + "/cache", CMOCKA_TEST_ABORT="1", PODBENCH=podbench)
        gate = f"'{podbench}' bench --out '{self.scratch}/gate' && '{podbench}' compare results/baselines '{self.scratch}/gate'"
        command = ["sh", "-c", gate] if test == "tests/gate" else ["sh", test] if test.endswith(".sh") else ["build/" + test]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(self.log, "w") as log:
            child = subprocess.Popen(command, cwd=self.folder, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=limits)
            try:
                status = child.wait(timeout=60 + 60 * allowed_s)     # a busy machine is no verdict: the limit of processor time comes first
            except subprocess.TimeoutExpired:
                status = -1
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return status == 0, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def digest(self, test):
        path = f"{self.folder}/{test}" + ("" if test.endswith(".sh") else ".c")
        return hashlib.md5(open(path, "rb").read()).hexdigest() if os.path.exists(path) else ""


def draw(o, tree):
    """Draws the mutants and writes them into the copy."""
    files = [f for pattern in ("harness/*.c", "system-model/*/*.c", "workloads/*/*.c", "results/*/*.c") for f in sorted(glob.glob(pattern))]
    sources = {f: Source(f) for f in files if not o.rooms or room_of(f) in o.rooms}
    by_room, drawn = collections.defaultdict(list), []
    for f, source in sources.items():
        by_room[room_of(f)] += source.sites
    for sites in by_room.values():
        random.Random(o.seed).shuffle(sites)
        drawn += sites[:o.count]
    for i, site in enumerate(drawn):
        site["number"] = i + 1
    kept = [s for f, source in sources.items() for s in tree.write(source, [s for s in drawn if s["file"] == f])]
    with open(tree.folder + "/system-model/base/mutant.c", "w") as f:
        f.write(CHOOSER % (len(drawn) + 1))
    print(f"{len(drawn)} of {sum(map(len, by_room.values()))} drawn; {len(drawn) - len(kept)} left out, on lines that do not compile with them", flush=True)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    sizes = {room: len(sites) for room, sites in by_room.items()}
    return {"n": len(drawn), "seed": o.seed, "commit": commit, "sizes": sizes, "tests": {}, "verdicts": {},
            "sites": [{k: v for k, v in s.items() if k != "edits"} for s in kept]}


def reach(tree, tests, state, save):
    """Runs the unchanged program under each test that is new or changed; a test that fails is not asked."""
    for test in tests:
        digest = tree.digest(test)
        if state["tests"].get(test, {}).get("digest") == digest:
            continue
        with open(tree.hits, "wb") as f:
            f.write(bytes(state["n"] + 1))
        passed, seconds = tree.run(test, 0, 900, tree.hits)
        if passed:
            with open(tree.hits, "rb") as f:
                state["tests"][test] = {"digest": digest, "seconds": round(seconds, 2), "reaches": [i for i, hit in enumerate(f.read()) if hit]}
            save()
        else:
            state["tests"].pop(test, None)
            shutil.copy(tree.log, f"{tree.work}/{os.path.basename(test)}.failed")
            print(f"{test} fails before anything is changed, and is not asked: see {tree.work}/{os.path.basename(test)}.failed", flush=True)


def verdict(tree, site, tests, budget, kills, asks):
    """The test that kills the mutant, or how many tests it survived, or "not run"; and the seconds it took. tests: (usual seconds, name). The first to be
    asked are cheap, of the room, and killed other mutants of the file."""
    near, file = f"tests/{room_of(site['file'])}/", site["file"]

    def cost_of_a_kill(t):
        return (t[0] + 0.02) * (asks[file, t[1]] + 1) / (kills[file, t[1]] + (0.5 if t[1].startswith(near) else 0.1))

    taken, asked = 0, 0
    for usual, test in sorted(tests, key=cost_of_a_kill):
        if taken + usual > budget:
            continue
        passed, seconds = tree.run(test, site["number"], 1 + 3 * usual)
        taken, asked = taken + seconds, asked + 1
        asks[file, test] += 1
        if not passed:
            kills[file, test] += 1
            return test, taken
    if not tests:
        return "not run", taken
    return f"survived all {asked} tests" if asked == len(tests) else f"survived {asked} of {len(tests)} tests within {budget:g} s", taken


def argued():
    with open(ARGUED, newline="") as f:
        return {(row["file"], row["changed"]) for row in csv.DictReader(f)}


def judge(o, tree, state, save):
    reaching = collections.defaultdict(list)
    for test, x in state["tests"].items():
        for number in x["reaches"]:
            reaching[number].append((x["seconds"], test))
    equivalent, sizes = argued(), state["sizes"]
    asked = [s for s in state["sites"] if (not o.rooms or room_of(s["file"]) in o.rooms) and (s["file"], s["changed"]) not in equivalent and
             (str(s["number"]) not in state["verdicts"] or o.again and not state["verdicts"][str(s["number"])].startswith("tests/"))]
    spent, said, kills, asks = 0, time.time(), collections.Counter(), collections.Counter()
    for i, site in enumerate(sorted(asked, key=lambda s: sizes[room_of(s["file"])])):
        state["verdicts"][str(site["number"])], seconds = verdict(tree, site, reaching[site["number"]], o.budget, kills, asks)
        spent += seconds
        if time.time() - said > 60:
            save()
            said = time.time()
            print(f"{i + 1} of {len(asked)} judged, {spent / (i + 1):.2f} s of processor each, now {room_of(site['file'])}", flush=True)
    save()


def outcome(site, said, equivalent):
    if said.startswith("tests/"):
        return "killed"
    if not os.path.exists(site["file"]) or site["text"] not in open(site["file"]).read():
        return "gone"
    return "argued" if (site["file"], site["changed"]) in equivalent else "not run" if said == "not run" else "survived"


def table_row(name, n):
    judged, left = sum(n.values()) - n["gone"], n["survived"] + n["not run"]
    return [name, judged, n["killed"], n["argued"], n["survived"], n["not run"], n["gone"], f"{100 * left / max(judged, 1):.1f} %"]


def report(state, record):
    """Exit status 1 when 3 % or more survive."""
    by_room, equivalent = collections.defaultdict(collections.Counter), argued()
    for site in state["sites"]:
        said = state["verdicts"].get(str(site["number"]), "not run" if (site["file"], site["changed"]) in equivalent else "")
        if said:
            became = outcome(site, said, equivalent)
            by_room[room_of(site["file"])][became] += 1
            if became in ("survived", "not run"):
                print(f"{site['number']}: {said}: {site['file']}:{site['line']}: '{site['old']}' -> '{site['new']}': {site['text']}")
    rows = [table_row(room, by_room[room]) for room in sorted(by_room, key=lambda r: state["sizes"][r])]
    rows.append(table_row("all", sum(by_room.values(), collections.Counter())))
    lines = ["| room | judged | killed | equivalent, argued | survived | reached by no test | line gone since | left |", "|---|---|---|---|---|---|---|---|"]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    print("\n".join(lines))
    if record:
        text = open(record).read().split("Drawn by the seed ")[0]
        with open(record, "w") as f:
            f.write(f"{text}Drawn by the seed {state['seed']} on {state['commit']}.\n\n" + "\n".join(lines) + "\n")
    return 1 if rows[-1][4] + rows[-1][5] >= 0.03 * rows[-1][1] else 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--count", type=int, default=300)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--budget", type=float, default=20)
    p.add_argument("--work", default="build/mutate")
    p.add_argument("--again", action="store_true")
    p.add_argument("--report", action="store_true")
    p.add_argument("--record")
    p.add_argument("--quick", action="store_true")
    p.add_argument("rooms", nargs="*")
    o = p.parse_args()
    tree, kept = Tree(o.work), o.work + "/state.json"
    goes_on = os.path.exists(kept)
    if not o.report:
        tree.copy("tests" if goes_on else ".")
    state = json.load(open(kept)) if goes_on else draw(o, tree)

    def save():
        with open(kept + ".new", "w") as f:
            json.dump(state, f)
        os.replace(kept + ".new", kept)
    if not o.report:
        save()
        reach(tree, [t for t in tree.make() if not o.quick or not t.endswith(".sh") and t != "tests/gate"], state, save)
        judge(o, tree, state, save)
    return report(state, o.record)


if __name__ == "__main__":
    sys.exit(main())
