"""The manual as a web site: site.py FOLDER

Builds the pages of src/doc with mkdocs (PyPI) in FOLDER/site/VERSION, in the order of src/doc/README.md, and checks the pages: every link and
every anchor leads somewhere, every page stands in the navigation, every picture is there, and nothing is loaded from another place. Versions that
are in FOLDER/site stay: site/versions.json names all, pages have a menu of them, and site/index.html leads to the newest."""

import html.parser
import json
import re
import shutil
import subprocess
import sys
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 130_000  # bytes of a picture

VERSION = re.search(r"project\(glslines VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]

CONFIG = f"""site_name: glslines {VERSION}
site_description: Diffusion MRI tractography on any GPU
docs_dir: pages
site_dir: site/{VERSION}
use_directory_urls: false
theme:
  name: readthedocs
  highlightjs: false
  navigation_depth: 2
  collapse_navigation: true
plugins: [search]
markdown_extensions: [tables, fenced_code, sane_lists, {{toc: {{permalink: true}}}}]
extra_css: [site.css]
extra_javascript: [versions.js]
validation: {{links: {{anchors: warn}}}}
nav:
"""

STYLE = """.wy-nav-content { max-width: 60rem; }
.wy-table-responsive table td, .wy-table-responsive table th { white-space: normal; }
.rst-content table.docutils td code, .rst-content table td code { white-space: normal; overflow-wrap: anywhere; }
.rst-content img { background: #000; margin: .3rem 0; }
"""
#: a menu of the versions, if there are several; if another version does not have the page, the menu leads to the contents
MENU = """document.addEventListener("DOMContentLoaded", () => fetch("../versions.json").then(answer => answer.json()).then(versions => {
  const [here, page] = location.pathname.split("/").slice(-2);
  if (versions.length < 2) return;
  const menu = document.createElement("select");
  menu.setAttribute("aria-label", "Version");
  for (const version of versions) menu.add(new Option(version, version, false, version === here));
  menu.onchange = () => {
    const there = "../" + menu.value + "/";
    fetch(there + page, {method: "HEAD"}).then(answer => { location.href = there + (answer.ok ? page : "index.html"); });
  };
  document.querySelector(".wy-side-nav-search").append(menu);
}).catch(() => {}));
"""


def title(page):
    """Returns the heading of a page up to its colon."""
    return re.search(r"^# (.*)", page.read_text(), re.M)[1].split(":")[0]


def navigation():
    """Returns the lines of mkdocs' nav, from the groups and links of the manual's contents."""
    lines = ["- Contents: index.md"]
    for line in (ROOT / "src/doc/README.md").read_text().splitlines():
        group, page = re.fullmatch(r"([A-Z][\w ]+):", line), re.match(r"- .*\]\((\S+\.md)\)|- \[[^]]*\]\((\S+\.md)\)", line)
        if group:
            lines.append(f"- {group[1]}:")
        elif page:
            name = page[1] or page[2]
            lines.append(f'  - "{title(ROOT / "src/doc" / name)}": {name}')
    return lines


def write_pages(pages):
    shutil.copytree(ROOT / "src/doc", pages)
    shutil.copytree(ROOT / ".readme", pages / "pictures")
    (pages / "README.md").rename(pages / "index.md")
    (pages / "site.css").write_text(STYLE)
    (pages / "versions.js").write_text(MENU)
    for page in pages.glob("*.md"):
        text = page.read_text().replace("](../../.readme/", "](pictures/").replace("](README.md", "](index.md")
        # files of the repository are no pages; lists need a blank line before them
        text = re.sub(r"\[([^]]*)\]\(\.\./\.\./[^)]*\)", r"\1", text)
        page.write_text(text)


class Page(html.parser.HTMLParser):
    """Returns the links, the loaded files and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.ids = [], [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.ids |= {a[k] for k in ("id", "name") if a.get(k)}
        if tag == "a" and "href" in a:
            self.links.append(a["href"])
        if "src" in a or tag == "link":
            self.loads.append(a.get("src") or a.get("href"))


def check(site):
    """Returns all faults of the pages."""
    pages = {path: Page(path) for path in site.rglob("*.html")}
    wrong = []
    for path, page in pages.items():
        for link in page.links + page.loads:
            place = urllib.parse.urlsplit(link)
            if place.scheme or place.netloc:
                if link in page.loads:
                    wrong.append(f"{path.name}: loads {link}")
                continue
            name = urllib.parse.unquote(place.path)
            to = site / name[1:] if name.startswith("/") else (path.parent / name).resolve() if name else path
            if not to.exists():
                wrong.append(f"{path.name}: there is no {link}")
            elif place.fragment and to in pages and urllib.parse.unquote(place.fragment) not in pages[to].ids:
                wrong.append(f"{path.name}: there is no place {link}")
    linked = {link.split("#")[0] for link in pages[site / "index.html"].links}
    wrong += [f"{path.stem}.md: not in the contents" for path in (ROOT / "src/doc").glob("*.md")
              if path.stem not in ("README",) and f"{path.stem}.html" not in linked]
    text = "".join(page.read_text() for page in [ROOT / "README.md", *(ROOT / "src/doc").glob("*.md")])
    for picture in (ROOT / ".readme").iterdir():
        if picture.stat().st_size > LIMIT:
            wrong.append(f".readme/{picture.name}: {picture.stat().st_size} bytes, more than {LIMIT}")
        if f".readme/{picture.name})" not in text:
            wrong.append(f".readme/{picture.name}: no page shows it")
    return len(pages), wrong


def write_versions(site):
    """Writes the list of the versions that exist, and a page that leads to the newest one."""
    versions = sorted((page.parent.name for page in site.glob("*/index.html")), key=lambda v: [int(n) for n in v.split(".")], reverse=True)
    (site / "versions.json").write_text(json.dumps(versions) + "\n")
    (site / "index.html").write_text(f'<!DOCTYPE html>\n<meta charset="utf-8">\n<title>glslines</title>\n'
                                     f'<meta http-equiv="refresh" content="0; url={versions[0]}/index.html">\n'
                                     f'<a href="{versions[0]}/index.html">glslines {versions[0]}</a>\n')


def main():
    folder = Path(sys.argv[1]).resolve()
    for old in (folder / "pages", folder / "site" / VERSION):
        shutil.rmtree(old, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    write_pages(folder / "pages")
    (folder / "mkdocs.yml").write_text(CONFIG + "\n".join("  " + line for line in navigation()) + "\n")
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", folder / "mkdocs.yml"])
    n, wrong = check(folder / "site" / VERSION) if done.returncode == 0 else (0, ["mkdocs failed"])
    if not wrong:
        write_versions(folder / "site")
    for line in wrong:
        print("FAIL", line)
    if not wrong:
        print(f"ok   {n} pages in {folder}/site/{VERSION}")
    sys.exit(1 if wrong else 0)


main()
