# SPDX-License-Identifier: GPL-3.0-or-later
"""The shared library libpodbench, by ctypes: where it is, what its functions take, and the struct of a run's numbers."""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import pathlib
from typing import Optional, Sequence, Tuple

HERE = pathlib.Path(__file__).resolve().parent


def _candidates():
    """Paths and names of the library, the best first: named, in the wheel, in the source tree, installed."""
    if os.environ.get("PODBENCH_LIBRARY"):
        yield os.environ["PODBENCH_LIBRARY"]
        return
    yield from sorted((HERE / "lib").glob("libpodbench.so*"))
    yield HERE.parents[1] / "build" / "libpodbench.so"
    installed = ctypes.util.find_library("podbench")
    if installed:
        yield installed


def _load() -> ctypes.CDLL:
    reasons = []
    for path in _candidates():
        try:
            return ctypes.CDLL(str(path))
        except OSError as reason:
            reasons.append(str(reason))
    raise ImportError("libpodbench was not found: install podbench (make install), install the wheel, or name the library by "
                      "PODBENCH_LIBRARY" + "".join("\n  " + reason for reason in reasons))


def bundled_root() -> Optional[str]:
    """The folder of data inside the wheel, or None where the library finds its own."""
    data = HERE / "data"
    return str(data) if data.is_dir() else None


library = _load()
_handle, _text, _texts = ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p)
for _name, _result, _arguments in (
        ("podbench_version", _text, []),
        ("podbench_open", _handle, [_text]),
        ("podbench_close", None, [_handle]),
        ("podbench_message", _text, [_handle]),
        ("podbench_notes", _text, [_handle]),
        ("podbench_run", ctypes.c_int, [_handle, _text, _texts, ctypes.c_size_t, ctypes.c_void_p]),
        ("podbench_answer", ctypes.c_void_p, [_handle, _texts, ctypes.c_size_t, ctypes.POINTER(ctypes.c_int)])):
    _function = getattr(library, _name)
    _function.restype, _function.argtypes = _result, _arguments
_free = ctypes.CDLL(None).free
_free.argtypes = [ctypes.c_void_p]


def text(word: str) -> bytes:
    """A word as the library takes it. A NUL would end it there, without a sign."""
    if not isinstance(word, str):
        raise TypeError(f"want a text, not {word!r}")
    if "\0" in word:
        raise ValueError(f"a NUL character in {word!r}; leave it out")
    return word.encode()


def texts(words: Sequence[str]):
    """The words as a C array of strings."""
    return (ctypes.c_char_p * max(1, len(words)))(*map(text, words))


def answer(handle: int, words: Sequence[str]) -> Tuple[str, int]:
    """What the program prints for these words, and its exit status."""
    status = ctypes.c_int()
    at = library.podbench_answer(handle, texts(words), len(words), ctypes.byref(status))
    try:
        return ctypes.string_at(at).decode(), status.value
    finally:
        _free(at)


def numbers_type(handle: int):
    """struct podbench_result as ctypes has it, from the library's own table of metrics."""
    kinds = {"count": ctypes.c_uint64, "number": ctypes.c_double, "flag": ctypes.c_int}
    metrics = json.loads(answer(handle, ["list", "metrics", "--format", "json"])[0])
    fields = [(m["name"], kinds[m["type"]]) for m in metrics if m["type"] in kinds]
    return type("Numbers", (ctypes.Structure,), {"_fields_": fields})
