#!/usr/bin/env python3
"""Runs one unittest script; RESPITE_TEST_FILTER, a substring of <script>.<Class>.<test>, selects tests. Without a filter, a
script fails if it has no tests or skips all of them; a script whose MAY_SKIP_ALL is true may skip all. Prints skipped
tests with the reasons, for run.py."""
import importlib.util
import os
import pathlib
import sys
import unittest


def load(path):
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def cases(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from cases(item)
        else:
            yield item


def main():
    module = load(pathlib.Path(sys.argv[1]).resolve())
    wanted = os.environ.get("RESPITE_TEST_FILTER", "")
    found = unittest.defaultTestLoader.loadTestsFromModule(module)
    chosen = unittest.TestSuite(case for case in cases(found) if wanted in case.id())
    result = unittest.TextTestRunner(verbosity=2 if wanted else 1).run(chosen)
    for case, reason in result.skipped:
        print(f"Skipped: {case.id()}: {' '.join(reason.split())}", file=sys.stderr)
    may_skip_all = result.skipped and getattr(module, "MAY_SKIP_ALL", False)
    if not wanted and not may_skip_all and len(result.skipped) >= result.testsRun:
        print("Every test was skipped." if result.skipped else "There are no tests.", file=sys.stderr)
        return 1
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
