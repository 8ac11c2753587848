"""The lines of docs/test_server.md that a user may copy into redis-cli."""
import os
import re


def lines_of_page(section, beginning="[A-Z]", indent="    "):
    """Those of one section, by its title."""
    path = os.path.join(os.environ.get("RESPITE_SOURCE_DIR", "."), "docs/test_server.md")
    with open(path, encoding="utf-8") as page:
        text = re.search(rf"^## {section}$(.*?)(?=^## |\Z)", page.read(), re.M | re.S)[1]
    return re.findall(rf"^{indent}({beginning}.*)$", text, re.M)
