# SPDX-License-Identifier: GPL-2.0
"""
srnic selftests - the programs of tools/ as modules

  load(name)  the program as a module; those that it imports, such as doctor.facts, can be
              imported as well
"""

import importlib.machinery
import importlib.util
import pathlib
import sys

TOOLS = pathlib.Path(__file__).resolve().parent.parent.parent / "tools"
sys.path.insert(0, str(TOOLS))


def load(name):
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(TOOLS / name))
    program = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(program)
    return program
