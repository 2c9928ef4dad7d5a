# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers as pandas frames, styled and drawn."""

from __future__ import annotations

import difflib
import io
from typing import Any, Iterable, List, Mapping, Sequence, Tuple, Union

from ._errors import PodbenchError

# What most questions of a sweep are about; a row of inference has no time to train.
USUAL = ("throughput_samples_per_s", "validity.interval_low", "validity.interval_high", "validity.guess", "step_time_s", "latency_s", "fits", "fits_probability",
         "memory_peak_bytes_per_tile", "time_to_train_s", "energy_per_step_j", "ipus", "global_batch", "status", "reason")
ASKED = ("throughput_samples_per_s", "interval_low", "interval_high", "guess", "fits_probability", "time_to_train_s", "ipus", "recipe")


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as reason:
        raise PodbenchError("this gives a pandas frame: install pandas, or use sweep_rows() and command()") from reason
    return pandas


def _check_columns(frame: Any, wanted: Sequence[str]) -> List[str]:
    for name in wanted:
        if name not in frame.columns:
            near = difflib.get_close_matches(name, frame.columns, 3, 0.4) or list(frame.columns)
            raise PodbenchError(f"no column {name!r}; nearest: {', '.join(near)}; columns=\"all\" has them all")
    return list(wanted)


def of_sweep(rows: List[Mapping[str, Any]], keys: List[str], columns: Union[str, Iterable[str], None]) -> Any:
    """The swept keys first, under the names given."""
    pandas = _pandas()
    frame = pandas.json_normalize(rows).rename(columns={f"settings.{key}": key for key in keys})
    for key in keys:
        try:
            frame[key] = pandas.to_numeric(frame[key])
        except ValueError:
            pass                                # words, or numbers with a unit
    if isinstance(columns, str) and columns != "all":
        columns = [columns]
    others = [name for name in frame.columns if name not in keys] if columns == "all" \
        else [name for name in USUAL if name in frame.columns and frame[name].notna().any()] if columns is None \
        else _check_columns(frame, [name for name in columns if name not in keys])
    return frame[keys + others]


def of_asked(answers: Sequence[Tuple[str, str, Mapping[str, Any]]]) -> Any:
    """A row for each model and machine that was asked."""
    rows = [{"model": model, "machine": machine, **{name: {**x["result"], **x["validity"], "recipe": x["recipe"]}.get(name) for name in ASKED}}
            for model, machine, x in answers]
    return _pandas().DataFrame(rows)


def of_csv(text: str) -> Any:
    return _pandas().read_csv(io.StringIO(text))


def style(frame: Any) -> Any:
    """A pandas Styler for notebooks: numbers to four digits, rows that do not fit in grey, and guesses in italics."""
    numbers = {name: "{:,.4g}" for name in frame.select_dtypes("number").columns}

    def shade(row: Any) -> List[str]:
        guess = row.get("validity.guess", row.get("guess"))
        return ["; ".join(["color: gray"] * (row.get("fits", True) not in (True, None)) + ["font-style: italic"] * (guess in (True, "yes")))] * len(row)
    return frame.style.format(numbers, na_rep="").hide(axis="index").apply(shade, axis=1)


def plot(frame: Any, x: Union[str, None] = None, y: str = "throughput_samples_per_s", ax: Any = None) -> Any:
    """Draws y over x, the first column if it is not given, with the interval of throughput and hollow points where it does not fit; returns matplotlib's axes."""
    from matplotlib import pyplot
    x = x or frame.columns[0]
    _check_columns(frame, [x, y])
    ax = ax or pyplot.subplots()[1]
    rows = frame[frame[y].notna()].sort_values(x)
    ax.plot(rows[x], rows[y], color="C0", zorder=1)
    if y == "throughput_samples_per_s" and "validity.interval_low" in rows:
        ax.fill_between(rows[x], rows["validity.interval_low"].astype(float), rows["validity.interval_high"].astype(float), alpha=0.2, linewidth=0)
    fits = rows["fits"].astype(bool) if "fits" in rows else rows[y].notna()
    ax.scatter(rows[x], rows[y], facecolors=["C0" if fit else "white" for fit in fits], edgecolors="C0", zorder=2)
    guesses = "validity.guess" in rows and rows["validity.guess"].astype(bool).any()
    ax.set(xlabel=x, ylabel=f"{y}, some a guess: no published run is near" if guesses else y)
    return ax
