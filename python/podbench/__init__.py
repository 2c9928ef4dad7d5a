# SPDX-License-Identifier: GPL-3.0-or-later
"""podbench predicts how machine-learning models run on Graphcore IPU systems.

>>> import podbench
>>> run = podbench.run("mlperf-v2.0-closed-bow-pod64-bert-large")
>>> run.ipus, run.fits
(64, True)
>>> podbench.sweep("mlperf-v2.0-closed-bow-pod64-bert-large", {"parallel.micro_batch": [1, 2, 3]})    # a pandas frame

Every answer is what the program's JSON has (docs/formats.md): a mapping whose keys are also attributes. What the program refuses raises
PodbenchError; what it warns of is a PodbenchWarning. The functions here share one simulator for each thread; class Podbench is a simulator of
your own, with other data.
"""

from __future__ import annotations

import ctypes
import inspect
import json
import os
import threading
import warnings
from functools import partial
from typing import Any, Callable, Concatenate, Dict, Iterable, Iterator, List, Mapping, Optional, ParamSpec, Type, TypeVar, Union

from . import _display, _frames
from ._errors import PodbenchError
from ._frames import plot, style
from ._library import answer as _answer, bundled_root as _bundled_root, library as _library, numbers_type as _numbers_type, text as _text, texts as _texts

__all__ = ["Podbench", "Answer", "Run", "PodbenchError", "PodbenchWarning", "ask", "run", "numbers", "explain", "fit", "diff", "timeline", "sweep", "sweep_rows",
           "search", "validate", "recipes", "keys", "command", "reload", "measured", "style", "plot", "__version__"]
__version__: str = _library.podbench_version().decode()

Value = Union[str, int, float, bool]
Sets = Optional[Mapping[str, Value]]


class PodbenchWarning(UserWarning):
    """The program answers, and says that something has no effect, was assumed, or does not fit."""


def _wrapped(value: Any) -> Any:
    return Answer(value) if isinstance(value, dict) else [_wrapped(item) for item in value] if isinstance(value, list) else value


class Answer(Mapping[str, Any]):
    """An object of the program's JSON. Its keys are attributes too, and so are those of the objects in it."""

    def __init__(self, fields: Mapping[str, Any], print_text: Optional[Callable[[], str]] = None) -> None:
        self._fields, self._print_text = fields, print_text

    @property
    def text(self) -> str:
        """The answer as the program prints it in a terminal."""
        return self._print_text() if self._print_text else json.dumps(self._fields, indent=2)

    def __getitem__(self, key: str) -> Any:
        return _wrapped(self._fields[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_"):
            raise AttributeError(key)           # also while a copy has no fields yet
        if key not in self._fields:
            raise AttributeError(f"the answer has no {key!r}; it has {', '.join(self._fields)}")
        return self[key]

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._fields]

    def __repr__(self) -> str:
        return self.text

    def __reduce__(self) -> Any:
        """For copy and pickle, as between processes: the text goes along."""
        return type(self), (self._fields, partial(str, self.text))

    def to_dict(self) -> Dict[str, Any]:
        """The JSON object as plain dicts and lists."""
        return dict(self._fields)

    def _repr_html_(self) -> str:
        return _display.table(self._fields)


AnyAnswer = TypeVar("AnyAnswer", bound=Answer)


class Run(Answer):
    """The result of one recipe, with the figure of where its time goes in a notebook."""

    def _repr_html_(self) -> str:
        return _display.run(self._fields)


def _value(value: Value) -> str:
    value = value.item() if hasattr(value, "item") else value          # a number of numpy or of a frame
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else repr(value) if isinstance(value, float) else str(value)


def _values(values: Union[Value, Iterable[Value]]) -> str:
    if isinstance(values, (str, int, float)) or not hasattr(values, "__iter__"):
        return _value(values)
    listed = [_value(value) for value in values]
    return (";" if any("," in value for value in listed) else ",").join(listed)


def _options(name: str, items: Optional[Mapping[str, Any]], text=_value) -> List[str]:
    if items is not None and not isinstance(items, Mapping):
        raise PodbenchError(f'want a mapping of keys to values, as in {{"parallel.micro_batch": 4}}, not {items!r}')
    words: List[str] = []
    for key, value in (items or {}).items():
        words += ["--" + name, f"{key}={text(value)}"]
    return words


class Podbench:
    """A simulator. Close it, or use it in a with statement; it serves one thread at a time.

    root is the folder with system-model, workloads and results, or None for the one that was installed. Files are read once."""

    def __init__(self, root: Union[str, os.PathLike, None] = None) -> None:
        found = os.fspath(root) if root is not None else None if os.environ.get("PODBENCH_ROOT") else _bundled_root()
        self._handle: Optional[int] = _library.podbench_open(_text(found) if found else None)
        message = _library.podbench_message(self._handle).decode()
        if message:
            self.close()
            raise PodbenchError(message)
        self._numbers_type = _numbers_type(self._handle)
        self._seen: Dict[str, Any] = {}

    def close(self) -> None:
        """Frees the simulator; closing twice does no harm."""
        if self._handle:
            _library.podbench_close(self._handle)
        self._handle = None

    def __enter__(self) -> "Podbench":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def _open(self) -> int:
        if not self._handle:
            raise PodbenchError("this simulator is closed")
        return self._handle

    def command(self, *words: Union[str, os.PathLike]) -> str:
        """What `podbench WORDS...` prints. Its messages become warnings; what it refuses raises PodbenchError.

        A command that judges (check, lint) and finds something wrong has said so in its text: that raises nothing."""
        handle = self._open()
        text, status = _answer(handle, [os.fspath(word) for word in words])
        for line in _library.podbench_notes(handle).decode().splitlines():
            if words[0] == "sweep" and line.endswith(" refused"):
                continue                # the count of configurations, whose rows say it one by one
            warnings.warn(line.replace("podbench: ", "", 1), PodbenchWarning, stacklevel=3)
        if status == 2:
            raise PodbenchError(_library.podbench_message(handle).decode() or text)
        return text

    def _json(self, name: str, *words: str) -> Any:
        return json.loads(self.command(name, "--format=json", *words))

    def _ask(self, kind: Type[AnyAnswer], name: str, words: List[str]) -> AnyAnswer:
        fields = self._json(name, *words)

        def print_text() -> str:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PodbenchWarning)        # the JSON came with them
                return self.command(name, *words)
        return kind(fields[0] if isinstance(fields, list) else fields, print_text)

    def run(self, recipe: Union[str, os.PathLike], sets: Sets = None) -> Run:
        """Simulates a recipe, by id or path; sets changes its keys: {"parallel.micro_batch": 8, "machine.clock_hz": 1.5e9}."""
        return self._ask(Run, "run", [*_options("set", sets), "--", os.fspath(recipe)])

    def numbers(self, recipe: Union[str, os.PathLike], sets: Sets = None) -> Dict[str, float]:
        """The numbers of a run alone, without interval and text: for loops of many thousand configurations. 0 is also what is not known."""
        words, out = [f"{key}={_value(value)}" for key, value in (sets or {}).items()], self._numbers_type()
        handle = self._open()
        if _library.podbench_run(handle, _text(os.fspath(recipe)), _texts(words), len(words), ctypes.byref(out)) != 0:
            raise PodbenchError(_library.podbench_message(handle).decode())
        return {name: getattr(out, name) for name, _ in out._fields_}

    def explain(self, recipe: Union[str, os.PathLike], sets: Sets = None) -> Answer:
        """Where the time of a run goes, what bounds it, and what would help."""
        return self._ask(Answer, "explain", [*_options("set", sets), "--", os.fspath(recipe)])

    def fit(self, recipe: Union[str, os.PathLike], sets: Sets = None, size: Optional[int] = None) -> Answer:
        """The largest sizes that fit, what fills the memory, and what would make more fit."""
        return self._ask(Answer, "fit", [*_options("set", sets), *(["--size", str(size)] if size else []), "--", os.fspath(recipe)])

    def diff(self, a: Union[str, os.PathLike], b: Union[str, os.PathLike], sets: Sets = None) -> Answer:
        """Why two runs differ, cause by cause. Keys that begin with "a:" are set in a, others in b."""
        return self._ask(Answer, "diff", [*_options("set", sets), "--", os.fspath(a), os.fspath(b)])

    def validate(self) -> Answer:
        """How far predictions are from what was published, by role and kind."""
        return self._ask(Answer, "validate", [])

    def sweep(self, recipe: Union[str, os.PathLike], over: Mapping[str, Union[str, Iterable[Value]]], sets: Sets = None, jobs: Optional[int] = None,
              columns: Union[str, Iterable[str], None] = None):
        """A pandas frame with a row for each combination of values: sweep(recipe, {"parallel.micro_batch": [1, 2, 4]}).

        Its first columns are the swept keys, under the names given, as numbers where all values of a key are. columns names the others; None is a
        choice of speed, memory, time to train and energy, "all" everything that a row has. What JSON has inside another object has a name with a
        point: "validity.interval_low". Values are a list, or text as --over takes it: "1..64*2"."""
        return _frames.of_sweep(self.sweep_rows(recipe, over, sets, jobs), list(over), columns)

    def sweep_rows(self, recipe: Union[str, os.PathLike], over: Mapping[str, Union[str, Iterable[Value]]], sets: Sets = None,
                   jobs: Optional[int] = None) -> List[Dict[str, Any]]:
        """The rows of sweep() as dicts."""
        lines = self.command("sweep", "--format=json", *_options("over", over, _values), *_options("set", sets),
                             *(["--jobs", str(jobs)] if jobs else []), "--", os.fspath(recipe))
        return [json.loads(line) for line in lines.splitlines()]

    def search(self, recipe: Union[str, os.PathLike], sets: Sets = None, limits: Optional[Mapping[str, str]] = None,
               over: Optional[Mapping[str, Union[str, Iterable[Value]]]] = None, minimise: Optional[str] = None) -> Answer:
        """The best configuration of a recipe: search(recipe, limits={"ipus": "16"}, minimise="time-to-train")."""
        return self._ask(Answer, "search", [*_options("set", sets), *_options("limit", limits), *_options("over", over, _values),
                                     *(["--minimise", minimise] if minimise else []), "--", os.fspath(recipe)])

    def ask(self, model: Union[str, os.PathLike, List[str]], machine: Union[str, List[str]], *words: str, out: Union[str, os.PathLike, None] = None,
            seconds: Optional[float] = None):
        """What to run of a model on a machine: ask("bert-large", "bow-pod16", "train", "at least 10000/s"). Writes the recipe to out, or to a file of the
        current folder that the answer names. Lists of models or machines give a frame with a row for each pair, and a folder as out."""
        if isinstance(model, list) or isinstance(machine, list):
            models, machines = ([x] if isinstance(x, (str, os.PathLike)) else x for x in (model, machine))
            return _frames.of_asked([(os.fspath(x), y, self.ask(x, y, *words, seconds=seconds, out=out and os.path.join(out, f"{os.path.basename(x)}-{y.replace(' ', '-')}.ini")))
                                     for x in models for y in machines])
        options = [*(["--out", os.fspath(out)] if out else []), *(["--seconds", _value(seconds)] if seconds else [])]
        said = [word for text in (machine, *words) for word in text.split()]
        return self._ask(Answer, "ask", [*options, os.fspath(model), "on", *said])

    def timeline(self, recipe: Union[str, os.PathLike], sets: Sets = None):
        """One step as a frame: what each IPU does when, a row for each span."""
        return _frames.of_csv(self.command("timeline", "--format=csv", *_options("set", sets), "--", os.fspath(recipe)))

    def measured(self, recipe: Union[str, os.PathLike], step: Union[str, float, None] = None, sets: Sets = None):
        """Keeps a run that was measured on a machine of one's own, in the project that is the current folder (podbench init). step: the time of a step,
        "1.4s", or a rate, "7260/s"; a table recipe,step has its own. A frame of what was kept, with what was predicted at first sight."""
        return _frames.of_csv(self.command("measured", "--format=csv", *(["--step", _value(step)] if step else []), *_options("set", sets), "--", os.fspath(recipe)))

    def recipes(self) -> Any:
        """The published runs that can be simulated: id, model, machine, ipus, framework, published, predicted, error."""
        return self._json("list", "recipes")

    def keys(self) -> Any:
        """The keys of recipes, with the values they take."""
        return self._json("list", "keys")


_of_thread = threading.local()


def _shared() -> Podbench:
    if not getattr(_of_thread, "simulator", None):
        _of_thread.simulator = Podbench()
    return _of_thread.simulator


def reload() -> None:
    """Forgets what this thread's simulator has read, so that recipes, models and sheets that were edited are read again."""
    if getattr(_of_thread, "simulator", None):
        _of_thread.simulator.close()
        _of_thread.simulator = None


Taken = ParamSpec("Taken")
Given = TypeVar("Given")


def _of_shared(method: Callable[Concatenate[Podbench, Taken], Given]) -> Callable[Taken, Given]:
    """The method as a function of this thread's simulator."""
    def call(*arguments: Taken.args, **options: Taken.kwargs) -> Given:
        return method(_shared(), *arguments, **options)
    call.__name__ = call.__qualname__ = method.__name__
    call.__doc__ = method.__doc__
    signature = inspect.signature(method)
    call.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])      # type: ignore[attr-defined]
    return call


run, numbers, explain = _of_shared(Podbench.run), _of_shared(Podbench.numbers), _of_shared(Podbench.explain)
fit, diff, validate = _of_shared(Podbench.fit), _of_shared(Podbench.diff), _of_shared(Podbench.validate)
ask, timeline, measured = _of_shared(Podbench.ask), _of_shared(Podbench.timeline), _of_shared(Podbench.measured)
sweep, sweep_rows, search = _of_shared(Podbench.sweep), _of_shared(Podbench.sweep_rows), _of_shared(Podbench.search)
recipes, keys, command = _of_shared(Podbench.recipes), _of_shared(Podbench.keys), _of_shared(Podbench.command)
