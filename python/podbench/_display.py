# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers as HTML for notebooks: tables, and the bar of a step's time. Colours follow the notebook's own, light or dark."""

from __future__ import annotations

import html
from typing import Any, List, Mapping, Tuple

PALETTE = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e", "#9498a0")
LEAST_SHARE = 0.01
RUN_ROWS = (("throughput_samples_per_s", "samples/s"), ("step_time_s", "s per step"), ("latency_s", "s latency"), ("time_to_train_s", "s to train"),
            ("mfu", "MFU"), ("fits_probability", "chance to fit"), ("energy_per_step_j", "J per step"))


def _cell(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "not known"}[value]
    if isinstance(value, float):
        return f"{value:,.5g}"
    if isinstance(value, Mapping):
        return table(value)
    if isinstance(value, list):
        return f"{len(value)} items" if value and isinstance(value[0], Mapping) else html.escape(", ".join(map(str, value)))
    return html.escape(str(value))


def table(fields: Mapping[str, Any]) -> str:
    """Two columns: key and value; objects inside become tables inside."""
    rows = "".join(f"<tr><th style='text-align:left'>{html.escape(key)}</th><td style='text-align:left'>{_cell(value)}</td></tr>"
                   for key, value in fields.items())
    return f"<table>{rows}</table>"


def _parts(breakdown: Mapping[str, float]) -> List[Tuple[str, float]]:
    """Names and shares, the largest first; those below LEAST_SHARE as one."""
    whole = sum(breakdown.values()) or 1
    shares = sorted(((name, seconds / whole) for name, seconds in breakdown.items()), key=lambda part: -part[1])
    shown = [part for part in shares if part[1] >= LEAST_SHARE]
    rest = 1 - sum(share for _, share in shown)
    return shown + ([("rest", rest)] if rest > 1e-9 else [])


def bar(breakdown: Mapping[str, float]) -> str:
    """The parts of a step as one bar with a legend; the pointer over a part names it."""
    at, pieces, legend = 0.0, [], []
    for i, (name, share) in enumerate(_parts(breakdown)):
        colour, label = PALETTE[i % len(PALETTE)], f"{html.escape(name)} {100 * share:.1f} %"
        pieces.append(f"<rect x='{1000 * at:.2f}' width='{1000 * share:.2f}' height='30' fill='{colour}'><title>{label}</title></rect>")
        legend.append(f"<span style='white-space:nowrap'><span style='color:{colour}'>&#9632;</span> {label}</span>")
        at += share
    return ("<svg viewBox='0 0 1000 30' width='100%' height='30' preserveAspectRatio='none' role='img' aria-label='where the time of a step goes'>"
            + "".join(pieces) + "</svg><div style='display:flex;flex-wrap:wrap;gap:0 1em'>" + "".join(legend) + "</div>")


def run(fields: Mapping[str, Any]) -> str:
    """The numbers that answer first, the interval, and where the time goes."""
    shown = {unit: fields.get(key) for key, unit in RUN_ROWS if fields.get(key) is not None}
    validity = fields.get("validity") or {}
    low, high = validity.get("interval_low"), validity.get("interval_high")
    if low is not None and high is not None:
        guess = ", a guess" if validity.get("guess") else ""
        shown[f"{100 * validity['level']:.0f} % interval, samples/s{guess}"] = f"{low:,.4g} to {high:,.4g}"
    head = f"<b>{html.escape(fields['id'])}</b>: {html.escape(fields['workload'])} on {fields['ipus']} IPUs of {html.escape(fields['system'])}"
    doubt = "" if fields.get("fits", True) else "<p><b>It does not fit:</b> this is the time it would take if it did.</p>"
    return f"<div>{head}{doubt}{table(shown)}{bar(fields.get('breakdown') or {})}</div>"
