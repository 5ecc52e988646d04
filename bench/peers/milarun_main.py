"""milarun_main.py CHECKOUT SECONDS [WORD...]: milarun's own command line, as its
entry point `milarun` calls it, from a checkout. What its report does not use
and cannot be imported here (STUBS) is an empty module; which ones is printed
with no words at all. SECONDS is a file: a line is added to it, how long the
command took after everything was imported."""

import importlib
import importlib.abc
import importlib.machinery
import sys
import time
import types

STUBS = ("torch", "torchvision", "PIL", "GPUtil", "blessed")


class Empty(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules, also below others, that have any name in them."""

    def __init__(self, roots):
        self.roots = roots

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in self.roots:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__getattr__ = lambda name: type(name, (), {})
        return module

    def exec_module(self, module):
        pass


def missing(name):
    try:
        importlib.import_module(name)
    except ImportError:
        for module in [m for m in sys.modules if m.split(".")[0] == name]:
            del sys.modules[module]
        return True
    return False


def main(checkout, seconds, *words):
    stubs = [name for name in STUBS if missing(name)]
    sys.meta_path.insert(0, Empty(stubs))
    sys.path.insert(0, checkout)
    from milarun.cli import main as milarun
    if not words:
        print(" ".join(stubs))
        return
    sys.argv = ["milarun", *words]
    start = time.monotonic()
    milarun()
    with open(seconds, "a", encoding="utf-8") as f:
        print(time.monotonic() - start, file=f)


main(*sys.argv[1:])
