"""The piece of Python that docs/json.md prints, run as printed except for the port. Its comments are its output."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[4] / "docs" / "json.md"
TEST_SERVER = os.environ.get("REDIS_TEST_SERVER")
PRINTED = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M)


def test_the_page_prints_some():
    assert len(PRINTED) >= 1


@pytest.mark.skipif(not TEST_SERVER, reason="there is no server with JSON")
@pytest.mark.parametrize("code", PRINTED)
def test_a_piece_of_the_page_prints_its_comments(code, tmp_path):
    expected = re.findall(r"print\(.*\)\s+# (.*)$", code, re.M)
    assert expected and "6379" in code
    file = tmp_path / "printed.py"
    file.write_text(code.replace("6379", TEST_SERVER.split(":")[1]), encoding="utf-8")
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expected
