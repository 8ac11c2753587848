"""The lines of docs/test_server.md and docs/testing/ that a user may copy into redis-cli."""
import glob
import os
import re


DOCS = os.path.join(os.environ.get("RESPITE_SOURCE_DIR", "."), "docs")


def page(name):
    """Returns the text of a page in docs/."""
    with open(os.path.join(DOCS, name), encoding="utf-8") as file:
        return file.read()


def lines_of_page(section, beginning="[A-Z]", indent="    "):
    """Returns the lines below one heading, which only one of the pages has."""
    pages = [page("test_server.md"), *(page(name) for name in sorted(glob.glob("testing/*.md", root_dir=DOCS)))]
    found = [match[1] for text in pages for match in re.finditer(rf"^##? {section}$(.*?)(?=^## |\Z)", text, re.M | re.S)]
    assert len(found) == 1, (section, len(found))
    return re.findall(rf"^{indent}({beginning}.*)$", found[0], re.M)
