"""Lays out a page in a real browser, for the tests of pages."""

import html
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

#: Puts into the page which boxes are too narrow for what they hold, and texts in plots that stand outside of their plot.
SCRIPT = """<script>
const wide = [document.documentElement, ...document.querySelectorAll('.wide')].filter(box => box.scrollWidth > box.clientWidth + 1)
  .map(box => `${box.className || box.tagName} ${box.scrollWidth} > ${box.clientWidth}`);
const outside = [...document.querySelectorAll('svg text')].filter(text => {
  const [inner, outer] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
  return inner.width > 0 && (inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1);
}).map(text => `outside: ${text.textContent}`);
const found = document.createElement('pre');
found.id = 'found';
found.textContent = [...wide, ...outside].join('\\n');
document.body.append(found);
</script>"""


def misfits(page, width=1280):
    """Lines that say what does not fit into a window this wide. Skips the test where there is no browser."""
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if not browser:
        raise unittest.SkipTest("no Chromium here")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        # Parts that are closed at first are laid out too.
        path.write_text(page.replace("<details>", "<details open>").replace("</body>", SCRIPT + "</body>"))
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},2000", f"--user-data-dir={folder}/profile", "--dump-dom",
                   path.as_uri()]
        shown = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    found = re.search(r'<pre id="found">(.*?)</pre>', shown, re.S)
    assert found, f"{browser} shows nothing"
    return html.unescape(found[1]).splitlines()
