#!/usr/bin/env python3
"""Sums Poplar's profile.pop into the table that `podbench explain RECIPE --profile FILE.csv` reads.

    python3 profile.py profile.pop > profile.csv

Where Graphcore's SDK is, its libpva reads the file (report.execution.runs, report.compilation.tiles). Elsewhere the file is read as the SQLite database
that it is; its tables are not documented, so this refuses a file in which one is missing. Only the last run counts: earlier ones load weights.
--steps N says how many steps of training, or batches, that run makes."""
import argparse
import collections
import csv
import sqlite3
import sys


def sums_by_pva(pva, path):
    report = pva.openReport(path)
    cycles = collections.Counter()
    for step in report.execution.runs[-1].steps:
        for number, ipu in enumerate(step.ipus):
            cycles[str(step.program.type).split(".")[-1], step.program.name, number] += ipu.cycles
    tiles, n_ipus = report.compilation.tiles, report.compilation.target.numIPUs
    per_ipu = len(tiles) // n_ipus
    memory = {number: max(tile.memory.total.includingGaps for tile in tiles[number * per_ipu:(number + 1) * per_ipu]) for number in range(n_ipus)}
    return cycles, memory


def sums_by_sqlite(path):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    cycles = collections.Counter()
    number_of_ipu = next((f"i.{row[1]}" for row in database.execute("pragma table_info(steps_by_ipu)") if row[1].startswith("ipu")), "0")
    rows = database.execute(f"""select s.type, coalesce(c.name, p.name, ''), {number_of_ipu}, i.cycles from steps s join steps_by_ipu i on s.id = i.step_id
                               left join programs p on s.program = p.id left join compute_sets c on s.compute_set = c.compute_set""")
    for kind, name, number, count in rows:
        cycles[kind, name, number] += count
    memory = {0: database.execute("select max(total) from memory_by_tile").fetchone()[0]}
    return cycles, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profile")
    parser.add_argument("--steps", type=int)
    asked = parser.parse_args()
    try:
        import pva
        cycles, memory = sums_by_pva(pva, asked.profile)
    except ImportError:
        try:
            cycles, memory = sums_by_sqlite(asked.profile)
        except sqlite3.Error as reason:
            sys.exit(f"profile.py: {asked.profile}: {reason}; run this where the SDK's libpva is (import pva)")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["kind", "name", "ipu", "value", "unit"])
    if asked.steps:
        out.writerow(["steps", "", "", asked.steps, ""])
    out.writerows([kind, name, number, count, "cycles"] for (kind, name, number), count in sorted(cycles.items()))
    out.writerows(["memory", "fullest tile", number, size, "B"] for number, size in memory.items())


if __name__ == "__main__":
    main()
