# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python package says what the program says, refuses as it does, leaks nothing, and its notebook runs."""

import copy
import json
import os
import pathlib
import pickle
import resource
import subprocess
import tempfile
import threading
import unittest
import warnings

import podbench

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("PODBENCH", str(ROOT / "build" / "podbench"))
BERT, RESNET = "mlperf-v2.0-closed-bow-pod64-bert-large", "vendor-c600-resnet50-b1-poprt"


def program(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, env={**os.environ, "PODBENCH_ROOT": str(ROOT)}).stdout


class SameAsTheProgram(unittest.TestCase):
    def test_run(self):
        for recipe, sets in ((BERT, None), (BERT, {"parallel.micro_batch": 2, "machine.clock_hz": 1.5e9}), (RESNET, {"parallel.micro_batch": 4})):
            options = [word for key, value in (sets or {}).items() for word in ("--set", f"{key}={value!r}")]
            run = podbench.run(recipe, sets)
            want = json.loads(program("run", recipe, "--format", "json", *options))
            self.assertEqual(run.to_dict(), want[0] if isinstance(want, list) else want)
            self.assertEqual(run.text, program("run", recipe, *options))
            self.assertEqual(repr(run), run.text)
            self.assertEqual(run.validity.nearest[0].distance, run["validity"]["nearest"][0]["distance"])

    def test_copies_keep_fields_and_text(self):
        run = podbench.run(RESNET)
        for copied in (copy.deepcopy(run), pickle.loads(pickle.dumps(run))):
            self.assertEqual((type(copied), copied.to_dict(), copied.text), (podbench.Run, run.to_dict(), run.text))

    def test_numbers_are_those_of_a_run(self):
        numbers, run = podbench.numbers(BERT), podbench.run(BERT)
        for name, value in numbers.items():
            if isinstance(run.get(name), (int, float)):
                self.assertAlmostEqual(value, run[name], delta=1e-12 * abs(run[name]), msg=name)
        self.assertGreater(numbers["throughput_samples_per_s"], 1000)

    def test_other_questions(self):
        self.assertEqual(podbench.explain(RESNET).text, program("explain", RESNET))
        self.assertEqual(podbench.fit(RESNET).text, program("fit", RESNET))
        self.assertEqual(podbench.diff(RESNET, RESNET, {"parallel.micro_batch": 4}).text,
                         program("diff", RESNET, RESNET, "--set", "parallel.micro_batch=4"))
        self.assertIn("calibrate", podbench.validate())
        self.assertEqual(len(podbench.recipes()), len(json.loads(program("list", "recipes", "--format", "json"))))

    def test_sweep(self):
        rows = podbench.sweep_rows(RESNET, {"parallel.micro_batch": [1, 2], "machine.clock_hz": "1.3e9,1.5e9"})
        self.assertEqual([row["settings"]["parallel.micro_batch"] for row in rows], ["1", "1", "2", "2"])
        self.assertEqual(rows[0]["throughput_samples_per_s"], podbench.run(RESNET, {"parallel.micro_batch": 1, "machine.clock_hz": "1.3e9"})
                         .throughput_samples_per_s)

    def test_frame(self):
        try:
            import pandas
        except ImportError:
            with self.assertRaisesRegex(podbench.PodbenchError, "install pandas"):
                podbench.sweep(RESNET, {"parallel.micro_batch": [1, 2]})
            return
        frame = podbench.sweep(RESNET, {"parallel.micro_batch": [1, 2], "precision.compute": ["fp16", "fp32"], "parallel.available_memory": "0.25"})
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(list(frame.columns[:3]), ["parallel.micro_batch", "precision.compute", "parallel.available_memory"])
        self.assertEqual(list(frame["parallel.micro_batch"]), [1, 1, 2, 2])
        self.assertEqual(list(frame["precision.compute"]), 2 * ["fp16", "fp32"])
        self.assertEqual(list(frame["parallel.available_memory"]), 4 * [0.25])
        self.assertTrue((frame["validity.interval_low"] < frame["throughput_samples_per_s"]).all())
        self.assertFalse(frame["validity.guess"].any())
        self.assertTrue(podbench.sweep("prediction-ipu-pod16-rnnt", {"parallel.micro_batch": [1, 2]})["validity.guess"].all())
        self.assertEqual(list(frame.groupby("parallel.micro_batch")["throughput_samples_per_s"].max().index), [1, 2])
        self.assertLess(len(frame.columns), 20)
        over = {"parallel.micro_batch": [1, 2]}
        self.assertGreater(len(podbench.sweep(RESNET, over, columns="all").columns), 60)
        self.assertEqual(list(podbench.sweep(RESNET, over, columns=["mfu"]).columns), ["parallel.micro_batch", "mfu"])
        with self.assertRaisesRegex(podbench.PodbenchError, "no column 'mfuu'; nearest: mfu.*; columns=.all. has them all"):
            podbench.sweep(RESNET, over, columns=["mfuu"])
        with self.assertRaisesRegex(podbench.PodbenchError, "micro_batch=1,2: want SECTION.KEY=VALUES, as in parallel.micro_batch=1,2"):
            podbench.sweep(RESNET, {"micro_batch": [1, 2]})
        self.assertIn("<table", podbench.style(frame).to_html())
        spans = podbench.timeline(RESNET)
        self.assertTrue((spans["end_s"] >= spans["start_s"]).all() and len(spans) > 10)

    def test_plot(self):
        try:
            import matplotlib
            import pandas                                               # noqa: F401
        except ImportError:
            self.skipTest("no matplotlib or pandas")
        matplotlib.use("Agg")
        axes = podbench.plot(podbench.sweep(RESNET, {"parallel.micro_batch": [1, 2, 4]}))
        self.assertEqual(axes.get_xlabel(), "parallel.micro_batch")
        self.assertEqual(len(axes.lines[0].get_xdata()), 3)

    def test_measured(self):
        try:
            import pandas                                               # noqa: F401
        except ImportError:
            self.skipTest("no pandas here")
        with tempfile.TemporaryDirectory() as folder:
            podbench.command("init", os.path.join(folder, "mine"))
            before = os.getcwd()
            os.chdir(os.path.join(folder, "mine"))
            try:
                with self.assertRaisesRegex(podbench.PodbenchError, "want --step"):
                    podbench.measured("mlperf-v2.0-closed-bow-pod16-resnet50")
                kept = podbench.measured("mlperf-v2.0-closed-bow-pod16-resnet50", "30000/s")
                again = podbench.run("mlperf-v2.0-closed-bow-pod16-resnet50").validity
            finally:
                os.chdir(before)
            self.assertEqual(len(kept), 1)
            self.assertLess(again["expected"] if isinstance(again, dict) else again.expected, 42000)      # 43,000 without the run

    def test_ask(self):
        with tempfile.TemporaryDirectory() as folder:
            answer = podbench.ask("resnet50", "pod4", "train", out=os.path.join(folder, "a.ini"), seconds=1)
            self.assertEqual(podbench.run(answer.recipe).throughput_samples_per_s, answer.result.throughput_samples_per_s)
            try:
                import pandas                                           # noqa: F401
            except ImportError:
                return
            frame = podbench.ask(["resnet50", "bert-base"], ["pod4", "4 gc200"], "infer", out=folder, seconds=1)
            self.assertEqual(list(frame["machine"]), ["pod4", "4 gc200"] * 2)
            self.assertTrue((frame["throughput_samples_per_s"] > 0).all())


class Refusals(unittest.TestCase):
    def test_what_the_program_refuses_raises(self):
        for call, why in ((lambda: podbench.run("no-such"), "no recipe 'no-such'"),
                          (lambda: podbench.run(RESNET, {"parallel.nonsense": 1}), "parallel.nonsense"),
                          (lambda: podbench.numbers(RESNET, {"parallel.micro_batch": -1}), "micro_batch"),
                          (lambda: podbench.run(RESNET, {"data.dataste": ""}), r"--set data.dataste=: unknown key in \[data\]; did you mean 'dataset'"),
                          (lambda: podbench.numbers(RESNET, {"data.dataste": ""}), "did you mean 'dataset'"),
                          (lambda: podbench.command("rnu"), "did you mean 'run'?"), (lambda: podbench.run("--help"), "no recipe '--help'"),
                          (lambda: podbench.Podbench("/nowhere"), "/nowhere: holds no system-model/specs")):
            with self.assertRaisesRegex(podbench.PodbenchError, why):
                call()

    def test_messages_are_warnings(self):
        with self.assertWarnsRegex(podbench.PodbenchWarning, "no effect here: training.samples_to_converge"):
            podbench.run(RESNET, {"training.samples_to_converge": 3000})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            podbench.run(RESNET)

    def test_attributes(self):
        run = podbench.run(RESNET)
        self.assertEqual(run.validity.level, run["validity"]["level"])
        self.assertIn("throughput_samples_per_s", dir(run))
        with self.assertRaisesRegex(AttributeError, "no 'speed'; it has id, "):
            run.speed

    def test_a_closed_simulator(self):
        with podbench.Podbench(ROOT) as simulator:
            simulator.run(RESNET)
        simulator.close()
        with self.assertRaisesRegex(podbench.PodbenchError, "is closed"):
            simulator.run(RESNET)


class Endurance(unittest.TestCase):
    def test_memory_does_not_grow(self):
        """100,000 calls, a tenth of them of other configurations; then a thousand answers as text."""
        def mib():
            return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20

        def call(i):
            podbench.numbers(RESNET, {"parallel.micro_batch": 1 + i % 10})
        for i in range(20):
            call(i)
            podbench.run(RESNET)
        before = mib()
        for i in range(100_000):
            call(i)
        for i in range(1000):
            podbench.command("run", RESNET)
        self.assertLess(mib() - before, 8)

    def test_texts_that_a_c_string_cannot_hold(self):
        for call in (lambda: podbench.run(RESNET + "\0zzz"), lambda: podbench.numbers(RESNET, {"parallel.micro_batch": "2\0garbage"}),
                     lambda: podbench.numbers(RESNET + "\0"), lambda: podbench.Podbench("/tmp\0")):
            with self.assertRaisesRegex(ValueError, "NUL"):
                call()
        with self.assertRaisesRegex(TypeError, "want a text, not b'x'"):
            podbench.run(b"x")

    def test_threads_have_simulators_of_their_own(self):
        found = []

        def work():
            found.append(podbench.run(BERT).to_dict())
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, 4 * [podbench.run(BERT).to_dict()])


class Display(unittest.TestCase):
    def test_html(self):
        text = podbench.run(BERT)._repr_html_()
        self.assertIn("samples/s", text)
        self.assertIn("<svg", text)
        self.assertIn("bubble", text)
        self.assertIn("<table>", podbench.explain(RESNET)._repr_html_())

    def test_names_are_escaped(self):
        self.assertIn("a&lt;b", podbench.Answer({"a<b": "<script>"})._repr_html_())
        self.assertNotIn("<script>", podbench.Answer({"a<b": "<script>"})._repr_html_())

    def test_notebook(self):
        path = ROOT / "python" / "scaling-of-bert.ipynb"
        try:
            import nbclient
            import nbformat
        except ImportError:
            cells = json.loads(path.read_text())["cells"]
            scope = {}
            for cell in cells:
                if cell["cell_type"] == "code":
                    exec("".join(cell["source"]), scope)
            return
        notebook = nbclient.NotebookClient(nbformat.read(path, as_version=4), timeout=300).execute()
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
        self.assertTrue(any("text/html" in output.get("data", {}) for output in outputs))
        self.assertTrue(any("efficiency 1.00" in output.get("text", "") for output in outputs))
        self.assertFalse(any(output["output_type"] == "error" or output.get("name") == "stderr" for output in outputs))


if __name__ == "__main__":
    unittest.main()
