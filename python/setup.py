"""setup.py - the package tnf as a wheel, with all of libtnf in it.

    pip wheel --no-build-isolation --no-deps ./python

needs a C compiler, the headers of Python, setuptools, wheel, and no network.
meson builds and installs the same package against the shared library.
"""
import os
import re
import shlex
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(HERE)


def listed(folder, variable):
    """The sources that a meson.build lists behind a word."""
    with open(f"../{folder}/meson.build", encoding="ascii") as f:
        found = re.search(re.escape(variable) + r" .*?files\(([^)]*)\)", f.read(), re.DOTALL)
    return [os.path.normpath(f"../{folder}/{name}")
            for name in re.findall(r"'([^']*\.c)'", found[1])]


class Build(build_ext):
    """With the tables of names, which are made from the C library's headers."""

    def build_extension(self, ext):
        os.makedirs(self.build_temp, exist_ok=True)
        tables = os.path.join(self.build_temp, "pretty-tables.c")
        compiler = shlex.split(os.environ.get("CC", "cc"))
        subprocess.run(["sh", "../analysis/gen-names.sh", tables, "../common/call-kinds.h",
                        *compiler], check=True)
        ext.sources.append(tables)
        super().build_extension(ext)


def version():
    with open("../meson.build", encoding="ascii") as f:
        return re.search(r"version: '([^']*)'", f.read())[1]


# The linker takes what is needed, and nothing of the rest needs another library.
UNUSED = {"../analysis/usersym.c"}
SOURCES = (listed("python", "py_sources") + listed("libtnf", "libtnf_src") +
           listed("analysis", "analysis_lib") + listed("common", "common_lib") +
           listed("format", "format_src"))

setup(
    name="tnf",
    version=version(),
    description="reads trace files of TNF for Linux and of Solaris",
    license="BSD-2-Clause",
    python_requires=">=3.10",
    packages=["tnf"],
    package_data={"tnf": ["*.pyi", "py.typed"]},
    ext_modules=[Extension(
        "tnf._tnf",
        [s for s in dict.fromkeys(SOURCES) if s not in UNUSED],
        include_dirs=["../include"],
        define_macros=[("_GNU_SOURCE", None)],
        extra_compile_args=["-std=gnu11", "-fvisibility=hidden", "-iquote.."],
        extra_link_args=["-Wl,--gc-sections"])],
    cmdclass={"build_ext": Build},
)
