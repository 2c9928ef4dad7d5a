# SPDX-License-Identifier: GPL-3.0-or-later
"""What pyproject.toml cannot say: the package holds the shared library, the libraries that it loads, and the data, which make puts there."""

import pathlib
import re
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r'PODBENCH_VERSION "([^"]*)"', (ROOT / "system-model/base/base.h").read_text()).group(1)


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        subprocess.check_call(["make", "-s", "-C", str(ROOT), "python-files", f"PYTHON_FILES={(pathlib.Path(self.build_lib) / 'podbench').resolve()}"])


class OfThisMachine(Distribution):
    def has_ext_modules(self):
        return True


class AnyPython3(bdist_wheel):
    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


setup(version=VERSION, distclass=OfThisMachine, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": AnyPython3})
