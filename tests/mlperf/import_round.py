#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""import_round.py - makes the folder of an MLPerf round from a checkout of mlcommons/logging.

    python3 tests/mlperf/import_round.py v5.1 5.1.0-rc4 CHECKOUT [--later CHECKOUT_OF_A_LATER_TAG] [--rounds DIR] [--like ROUND]

A round of MLPerf HPC is named hpc-v3.0. CHECKOUT may also be a folder that holds the files below alone, each at its path. It reads mlperf_logging/compliance_checker/training_X/*.yaml, rcp_checker/training_X/rcps_*.json, benchmark_meta.py and
system_desc_checker/system_desc_checker.py, and writes DIR/v5.1 (DIR: workloads/convergence/rounds). Conditions are
Python; they are translated by its own parser. Files whose content is code (how the checkers work: edition.csv; where the
convergence point is: some columns of benchmarks.csv) are taken from the round before, or from the one that --like names. Whatever it cannot know it lists
on stderr as "by hand: ...", and ends with 1. It needs Python 3.9 and python3-yaml.
"""
import argparse
import ast
import csv
import json
import pathlib
import re
import sys

import yaml

RULES = ["layer", "key", "occurs", "check", "check_text", "once", "once_text", "action", "severity", "source"]
TERMS = ["benchmark", "allowed", "runs", "dropped", "may_fail", "reference_convergence", "unit", "point_of", "point", "where", "take",
         "train_samples", "allowance", "source"]
POINTS = ["benchmark", "record", "optimizer", "batch_size", "unit", "to_converge", "edition", "hyperparameters", "source"]
MEMBERS = {"KEY": ("NAME", "REQ", "CHECK", "ATLEAST_ONE_CHECK", "FIRST_CHECK", "POST"), "BEGIN": ("CODE",), "END": ("CODE", "CHECK")}
COMPARE = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
FUNCTIONS = {"min", "max", "abs", "ceil", "floor", "int", "sqrt", "log2", "round"}

by_hand = []


class Untranslated(Exception):
    pass


# ---- Python to the language of rules ----------------------------------------------------------------------------

def constant(x):
    if isinstance(x, bool):
        return "true" if x else "false"
    if x is None:
        return "null"
    return '"%s"' % x if isinstance(x, str) else repr(x).replace("e+", "e")


def member(node):
    """v['value'] is v, v['metadata']['K'] is m.K, v['value']['K'] is v.K, s['K'] is st.K."""
    names = []
    while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        names.insert(0, str(node.slice.value))
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in ("v", "s"):
        raise Untranslated(ast.unparse(node))
    if node.id == "s":
        return "st." + ".".join(names)
    root = {"value": "v", "metadata": "m"}.get(names[0] if names else "value")
    if root is None:
        raise Untranslated(ast.unparse(node))
    return ".".join([root] + names[1:])


def operand(node):
    text = expression(node)
    is_compound = isinstance(node, ast.Compare) or (isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Pow))
    return "(%s)" % text if is_compound else text


def comparison(node):
    if len(node.ops) == 1 and isinstance(node.ops[0], ast.In):
        left, right = node.left, node.comparators[0]
        if isinstance(right, (ast.List, ast.Tuple, ast.Set)):
            return "%s in {%s}" % (operand(left), ",".join(expression(x) for x in right.elts))
        if isinstance(left, ast.Constant) and isinstance(right, ast.Name) and right.id == "v":
            return "has(v)"
        if isinstance(left, ast.Constant):
            return "has(%s.%s)" % (member(right), left.value)
    if any(type(op) not in COMPARE for op in node.ops):
        raise Untranslated(ast.unparse(node))
    if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq) and ast.unparse(node.comparators[0]) == "int(%s)" % ast.unparse(node.left):
        return "integer(%s)" % expression(node.left)
    text = operand(node.left)
    for op, right in zip(node.ops, node.comparators):
        text += COMPARE[type(op)] + operand(right)
    return text


def call(node):
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "float" and ast.unparse(node.args[0]) in ("'inf'", "'Infinity'"):
        return "inf"
    if name == "isclose" and len(node.args) == 2 and isinstance(node.args[1], ast.Constant):
        return "abs(%s-%s)<=1e-09*%s" % (expression(node.args[0]), constant(node.args[1].value), constant(node.args[1].value))
    if name == "len":
        return "count(%s)" % expression(node.args[0])
    if name == "isinstance" and ast.unparse(node.args[1]) == "int":
        return "is_int(%s)" % expression(node.args[0])
    if name not in FUNCTIONS:
        raise Untranslated(ast.unparse(node))
    return "%s(%s)" % (name, ",".join(expression(x) for x in node.args))


def expression(node):
    if isinstance(node, ast.Constant):
        return constant(node.value)
    if isinstance(node, ast.BoolOp):
        return (" & " if isinstance(node.op, ast.And) else " | ").join(
            "(%s)" % expression(x) if isinstance(x, ast.BoolOp) else expression(x) for x in node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return "not " + operand(node.operand)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return "-" + operand(node.operand)
    if isinstance(node, ast.Compare):
        return comparison(node)
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        return operand(node.left) + ARITHMETIC[type(node.op)] + operand(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and ast.unparse(node.right) in ("0.5", "1 / 2"):
        return "sqrt(%s)" % expression(node.left)
    if isinstance(node, ast.IfExp):
        text = "if %s then %s" % (expression(node.test), expression(node.body))
        return text if ast.unparse(node.orelse) == "True" else text + " else " + expression(node.orelse)
    if isinstance(node, ast.Attribute) and ast.unparse(node) == "ll.timestamp":
        return "t_ms"
    if isinstance(node, ast.Call):
        return call(node)
    if isinstance(node, ast.Subscript):
        return member(node)
    raise Untranslated(ast.unparse(node))


def statement(node):
    """The parts of an action that a statement stands for."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return ["%s:=%s" % (member(node.targets[0]), expression(node.value))]
    if isinstance(node, ast.If) and not node.orelse and len(node.body) == 1:
        value = re.match(r"v\['value'\] == '([^']*)'$", ast.unparse(node.test))
        layer = re.match(r"enqueue_config\('(?:(?:training|hpc)_[^/]*/)?([^'{}]*)\.yaml'\)$", ast.unparse(node.body[0]))
        if value and layer:
            return ['apply "%s" for "%s"' % (layer.group(1), value.group(1))]
    if isinstance(node, ast.If) and not node.orelse and all(isinstance(x, ast.Assign) for x in node.body):
        kept = [part.split(":=") for x in node.body for part in statement(x)]
        return ["%s:=if %s then %s else %s" % (name, expression(node.test), value, name) for name, value in kept]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, (ast.Attribute, ast.Name)):
        c, text = node.value, ast.unparse(node.value)
        layer = re.match(r"enqueue_config\('(?:(?:training|hpc)_[^/]*/)?([^']*)\.yaml'\.format\(v\['value'\](?:\.lower\(\))?\)\)$", text)
        if layer:
            return ['apply "%s"' % layer.group(1)]
        if text.startswith("s.update(") and isinstance(c.args[0], ast.Dict):
            return ["st.%s:=%s" % (k.value, expression(x)) for k, x in zip(c.args[0].keys, c.args[0].values)]
        if isinstance(c.func, ast.Attribute) and c.func.attr == "append":
            return ["append %s to %s" % (expression(c.args[0]), member(c.func.value))]
    raise Untranslated(ast.unparse(node))


# ---- one YAML file --------------------------------------------------------------------------------------------

def parts(value):
    return [value] if isinstance(value, str) else list(value or [])


def translated(where, texts, translate):
    out = []
    for text in texts:
        try:
            out += translate(text.strip())
        except (Untranslated, SyntaxError) as e:
            by_hand.append("%s: %s (%s)" % (where, " ".join(text.split()), e))
    return out


def conditions(where, value):
    return translated(where, parts(value), lambda text: [expression(ast.parse(text, mode="eval").body)])


def actions(where, value):
    return translated(where, parts(value), lambda text: [x for node in ast.parse(text).body for x in statement(node)])


def occurs(where, key, text):
    group = re.match(r"AT_LEAST_ONE_OR\((.*)\)$", text)
    number = re.match(r"AT_LEAST\((\d+)\)$", text)
    if group:
        return "1+ of " + " ".join(sorted({key, *re.split(r"[ ,]+", group.group(1))}))
    words = {"EXACTLY_ONE": "1", "AT_LEAST_ONE": "1+", "OPTIONAL": ""}
    if not number and text not in words:
        by_hand.append("%s: REQ: %s" % (where, text))
    return number.group(1) + "+" if number else words.get(text, "")


def rules_of(path):
    rows = []
    for item in yaml.load(path.read_text(), Loader=yaml.BaseLoader) or []:
        (kind, body), where = next(iter(item.items())), "%s: %s" % (path.name, item.get("KEY", {}).get("NAME", next(iter(item))))
        key = body.get("NAME", "").strip()
        by_hand.extend("%s: %s: %s" % (where, member, body[member]) for member in body if member not in MEMBERS.get(kind, ()))
        row = dict.fromkeys(RULES, "")
        row.update(layer=path.stem, key=key, severity="error", source="mlcommons/logging mlp_compliance " + path.name)
        row["occurs"] = occurs(where, key, body.get("REQ", "OPTIONAL").strip()) if kind == "KEY" else kind.lower()
        row["check"] = " ;; ".join(conditions(where, body.get("CHECK")))
        row["once"] = " ;; ".join(conditions(where, body.get("ATLEAST_ONE_CHECK")))
        row["action"] = "; ".join(actions(where, body.get("CODE" if kind != "KEY" else "POST")))
        first = conditions(where, body.get("FIRST_CHECK"))
        if first:
            row["check"] = " ;; ".join(filter(None, [row["check"]] + ["st.evaluated | " + x for x in first]))
            row["action"] = "; ".join(filter(None, [row["action"], "st.evaluated:=true"]))
            rows.insert(0, dict(row, key="", occurs="begin", check="", once="", action="st.evaluated:=false"))
        rows.append(row)
    return without_unread_states(rows)


def without_unread_states(rows):
    """States that the file starts with and no condition or value reads are left out."""
    read = set()
    for row in rows:
        read.update(re.findall(r"st\.(\w+)", row["check"] + " " + row["once"]))
        read.update(name for part in row["action"].split("; ") for name in re.findall(r"st\.(\w+)", part.split(":=")[-1]))
    started = {name for row in rows if row["occurs"] == "begin" for name in re.findall(r"st\.(\w+):=", row["action"])}
    for row in rows:
        kept = [p for p in row["action"].split("; ") if not re.match(r"st\.(\w+):=", p) or re.match(r"st\.(\w+)", p).group(1) not in started - read]
        row["action"] = "; ".join(kept)
    return [row for row in rows if row["occurs"] != "begin" or row["action"]]


# ---- sentences: another round's for the same condition, else made from a simple one -------------------------------

def list_of(words):
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


def plain(text):
    text = text.strip('"')
    return text[:-2] if re.fullmatch(r"-?\d+\.0", text) else text


def simple_sentence(check):
    words = {">=": "at least %s", "<=": "at most %s", ">": "above %s", "<": "below %s", "==": "%s"}
    found = [re.fullmatch(r'v(>=|<=|==|>|<)("[^"]*"|[-+.\w]+)', part) for part in check.split(" & ")]
    if all(found):
        return "must be " + " and ".join(words[m.group(1)] % plain(m.group(2)) for m in found)
    one_of = re.fullmatch(r"v in \{(.*)\}", check)
    if one_of:
        names = [plain(x) for x in one_of.group(1).split(",")]
        return "must be %s%s" % ("one of " if len(names) > 2 else "", list_of(names))
    has = [re.fullmatch(r"has\(m\.(\w+)\)", part) for part in check.split(" | ")]
    if all(has):
        return "must have %s in its metadata" % list_of([m.group(1) for m in has])
    between = re.fullmatch(r"([-.\d]+)<=v<=([-.\d]+)", check)
    if between:
        return "must be from %s to %s" % (plain(between.group(1)), plain(between.group(2)))
    whole = {"integer(v)": "must be a whole number", "is_int(v)": "must be a whole number, without a decimal point"}
    return {**whole, 'v!=""': "must not be empty", "has(v)": "must have a value"}.get(check)


def known_sentences(rounds, but):
    known = {}
    for path in sorted(rounds.glob("v*/rules.csv")):
        for row in csv.DictReader(path.open()) if path.parent.name != but else []:
            for checks, texts in (("check", "check_text"), ("once", "once_text")):
                for check, text in zip(row[checks].split(" ;; "), row[texts].split(" ;; ")):
                    known[row["key"], check] = text
    return known


def add_sentences(rows, known):
    for row in rows:
        for checks, texts in (("check", "check_text"), ("once", "once_text")):
            sentences = []
            for check in row[checks].split(" ;; ") if row[checks] else []:
                text = simple_sentence(check) or known.get((row["key"], check))
                if not text:
                    by_hand.append("rules.csv: %s %s: a sentence for %s" % (row["layer"], row["key"], check))
                sentences.append(text or "must fulfil " + check)
            row[texts] = " ;; ".join(sentences)


# ---- the other tables ------------------------------------------------------------------------------------------------

def tables_of(path, usage):
    """The literals of training or hpc in a Python file: lists by version, and numbers by benchmark."""
    allowed, counts = {}, {}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            try:
                table = ast.literal_eval(node.value).get(usage, {})
            except ValueError:
                continue
            if isinstance(table, dict):
                allowed.update({k: x for k, x in table.items() if isinstance(x, list)})
                counts.update({k: x for k, x in table.items() if isinstance(x, int)})
    return allowed, counts


def longest_list(path, holding):
    lists = [[x.value for x in node.elts if isinstance(x, ast.Constant)] for node in ast.walk(ast.parse(path.read_text()))
             if isinstance(node, (ast.List, ast.Tuple, ast.Set))]
    return max([x for x in lists if holding in x], key=len, default=[])


def terms_of(benchmark, runs, rules, before, source):
    """A benchmark of the round before keeps its convergence point; that of a new one is where its accuracy is logged."""
    row = dict(before.get(benchmark, {}))
    if not row:
        check = " ".join(r["check"] for r in rules if r["layer"] == "closed_" + benchmark and r["key"] == "eval_accuracy")
        unit, point = ("samples", "m.samples_count") if "samples_count" in check else ("epochs", "m.epoch_num")
        row = dict.fromkeys(TERMS, "")
        row.update(dropped="1", may_fail="1", reference_convergence="yes", unit=unit, point_of="eval_accuracy", point=point, take="last",
                   train_samples="no")
        print("benchmarks.csv: %s is new: compare its convergence point (%s) with rcp_checker.py" % (benchmark, point), file=sys.stderr)
    row.update(benchmark=benchmark, allowed="yes", runs=str(runs), source=source)
    return row


def point_rows(folder, benchmarks, terms):
    rows = {}
    for benchmark in benchmarks:
        path = folder / ("rcps_%s.json" % benchmark)
        for name, record in (json.loads(path.read_text()) if path.exists() else {}).items():
            values = next(record[k] for k in record if k.lower() in ("epochs to converge", "samples to converge"))
            settings = record.get("Hyperparams", {})
            row = dict.fromkeys(POINTS, "")
            row.update(benchmark=benchmark, record=name, optimizer=settings.get("opt_name", ""), batch_size=str(record["BS"]), unit=terms[benchmark]["unit"],
                       to_converge=" ".join(str(x) for x in values),
                       hyperparameters="{%s}" % ";".join("%s:%s" % (k, settings[k]) for k in sorted(settings)),
                       source="mlcommons/logging rcp_checker/%s/%s" % (folder.name, path.name))
            rows[benchmark, name, row["to_converge"], row["hyperparameters"]] = row
    return rows


def all_points(now, later):
    rows = [dict(row, edition="both" if not later or k in later else "deadline") for k, row in now.items()]
    rows += [dict(row, edition="later") for k, row in later.items() if k not in now]
    return sorted(rows, key=lambda r: (r["benchmark"], float(r["batch_size"]), r["edition"]))


def write(path, columns, rows):
    with path.open("w", newline="") as f:
        out = csv.DictWriter(f, columns, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def round_before(rounds, name):
    number = lambda x: tuple(int(n) for n in x[1:].split("."))
    suite, _, version = name.rpartition("-")
    return max((p.name for p in rounds.glob(suite + "-v*" if suite else "v*") if number(p.name.rpartition("-")[2]) < number(version)),
               key=lambda x: number(x.rpartition("-")[2]))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("round", "tag", "checkout"):
        p.add_argument(name)
    p.add_argument("--later", help="checkout of a later tag, for reference points that were replaced since")
    p.add_argument("--rounds", default="workloads/convergence/rounds")
    p.add_argument("--like", help="the round to take the workings of the checkers from; default: the one before")
    a = p.parse_args()
    rounds, usage, version = pathlib.Path(a.rounds), a.round.rpartition("-")[0] or "training", a.round.rpartition("v")[2]
    ruleset, folder = version + ".0", "%s_%s.0" % (usage, version)
    source = lambda checkout, *names: pathlib.Path(checkout, "mlperf_logging", *names)
    before = rounds / (a.like or round_before(rounds, a.round))
    out = rounds / a.round
    out.mkdir()
    allowed, counts = tables_of(source(a.checkout, "benchmark_meta.py"), usage)
    names = sorted(allowed.get(version, allowed.get(ruleset, [])))
    paths = source(a.checkout, "compliance_checker", folder)
    layers = ["common"] + [x + "_common" for x in ("closed", "open")] + ["%s_%s" % (d, b) for d in ("closed", "open") for b in names]
    layers += sorted(p.stem for p in paths.glob("*_*_*.yaml") if p.stem not in layers and any(p.stem.startswith(x + "_") for x in layers[3:]))
    rules = [row for layer in layers if (paths / (layer + ".yaml")).exists() for row in rules_of(paths / (layer + ".yaml"))]
    add_sentences(rules, known_sentences(rounds, a.round))
    write(out / "rules.csv", RULES, rules)
    old = {r["benchmark"]: r for r in csv.DictReader((before / "benchmarks.csv").open())}
    terms = {b: terms_of(b, counts[b], rules, old, "mlcommons/logging %s: benchmark_meta, package_checker, rcp_checker" % a.tag) for b in names}
    write(out / "benchmarks.csv", TERMS, terms.values())
    points = lambda checkout: point_rows(source(checkout, "rcp_checker", folder), names, terms)
    write(out / "rcp.csv", POINTS, all_points(points(a.checkout), points(a.later) if a.later else {}))
    edition = list(csv.DictReader((before / "edition.csv").open()))
    for row in edition:
        row["value"] = {"ruleset": ruleset if usage == "training" else "%s-%s" % (usage, ruleset), "tag": a.tag}.get(row["key"], row["value"])
        row["source"] = "mlcommons/logging, last before the deadline" if row["key"] == "tag" else row["source"]
    write(out / "edition.csv", ["key", "value", "source"], edition)
    fields = longest_list(source(a.checkout, "system_desc_checker", "system_desc_checker.py"), "number_of_nodes")
    write(out / "system_fields.csv", ["field", "source"], [{"field": x, "source": "mlcommons/logging system_desc_checker " + a.tag} for x in fields])
    print("edition.csv is that of %s: read the checkers' code for what changed" % before.name, file=sys.stderr)
    for text in by_hand:
        print("by hand: " + text, file=sys.stderr)
    return 1 if by_hand else 0


if __name__ == "__main__":
    sys.exit(main())
