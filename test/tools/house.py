#!/usr/bin/env python3
"""Measures the structure of the source: sizes, glue, names, calls between files, environment variables.

Usage: house.py [BUILD_FOLDER] [--check]
Prints one row a measure with its limit. Calls between files come from the symbols of the objects in BUILD_FOLDER (default: build), so build the
program first. --check exits with 1 where a measure has passed its limit. A limit lies some 3 % beyond what was measured. Where a change that is right
passes one, raise it in the commit that needs it, and give the reason there: a count is a thermometer, no target. Measures without a limit are reported.
"""
import collections
import os
import re
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Rooms between those of the library and the user. Sinks compute or write results, and check tests devices; both are work, not
# glue.
GLUE = ("record", "run", "bids", "cmd", "options")
LIMITS = {
    "lines of glue (record, run, bids, cmd, options)": ("<=", 22150),  # 3 % of air; bids: --t1, tables and checks of connectomes; cmd: edges, permute; bids: what is derived from a tractogram, and bundles; record: names of outputs by their kind; view: its command, tracking from a sphere; run: --t1, made after all checks; cmd: outputs in the help for programs; bids: profiles along recognised bundles, and what an old run left of them
    "files of glue": ("<=", 113),  # 3 % of air; there is a header for each file that others call: 7 more in options and cmd, 1 more in record
    "files under 50 lines, no headers, %": ("<=", 18),  # a kernel that shares its inputs with others is short, and a file
    "file names that stand twice": ("<=", 0),
    "environment variables GLSLINES_*": ("<=", 4),
    "environment variables of test builds alone": ("<=", 9),
    "comment lines, %": (">=", 11.5),
    "circles by call between files of a room": ("<=", 0),
    "functions in another room than their header": ("<=", 0),
    "predicates over raw options, calls": ("<=", 0),
    "groups of outputs committed by hand": ("<=", 0),
    # Without air: 0.1.0 gets no further ones. A new option has .since in its row, a new function or header "Since" in its comment.
    "options without since": ("<=", 694),
    "public functions without since": ("<=", 358),
}
# Functions that decided anew, at every call, what the options ask for; gls_method_of() now decides it once.
PREDICATES = ("gls_getter_source_of", "gls_getter_has", "gls_getter_facts_of", "gls_directions_option", "gls_masks_alone", "gls_tissue_file", "gls_along_peaks",
              "gls_along_tensors", "gls_needs_odf", "gls_needs_series", "gls_fits_model")


def sources():
    for top in ("src", "include", "glsl"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                if name.endswith((".c", ".h", ".def", ".glsl", ".comp")):
                    yield os.path.relpath(os.path.join(folder, name), ROOT)


def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def comment_lines(content):
    """Returns the lines that have only a comment, or a part of one."""
    bare = re.sub(r'"(\\.|[^"\\\n])*"', '""', content)
    marked = re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]+", "\0", m[0]), bare, flags=re.S)
    return sum(line.strip("\0 \t") == "" and "\0" in line for line in marked.split("\n"))


def symbols(build):
    """Returns the functions that each object of src defines, and the names that it uses."""
    defined, used = {}, {}
    for folder, _, names in os.walk(os.path.join(build, "CMakeFiles")):
        for name in names:
            path = os.path.join(folder, name)
            unit = re.search(r"\.dir/(src/.*\.c)\.o$", path)
            if not unit or not os.path.exists(os.path.join(ROOT, unit[1])):  # a build keeps objects of files that do not exist any more
                continue
            listing = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
            defined[unit[1]] = {line.split()[-1] for line in listing.splitlines() if re.search(r" [TDBR] ", line)}
            used[unit[1]] = {line.split()[-1] for line in listing.splitlines() if " U " in line}
    return defined, used


def circles(edges):
    """Returns the strongly connected groups of more than one node (Tarjan)."""
    order, low, stack, on, found = {}, {}, [], set(), []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        on.add(node)
        for other in edges[node]:
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            group = []
            while not group or group[-1] != node:
                group.append(stack.pop())
                on.discard(group[-1])
            if len(group) > 1:
                found.append(sorted(group))

    sys.setrecursionlimit(10000)
    for node in list(edges):
        if node not in order:
            visit(node)
    return found


def declarations(content):
    """Returns the names of the functions that a header declares and does not define itself."""
    bare = re.sub(r"/\*.*?\*/|//[^\n]*|^#[^\n]*(?:\\\n[^\n]*)*", " ", content, flags=re.S | re.M)
    for _ in range(8):  # remove the bodies of structs and of inline functions
        bare = re.sub(r"\{[^{}]*\}", ";", bare)
    return set(re.findall(r"^[A-Za-z][\w \*]*?[\s\*](\w+)\([^;]*;", bare.replace("static inline", "#"), re.M))


def without_since(contents):
    """Counts the options in the manual's tables and the functions of public headers that say nothing of the version that first had them."""
    options = functions = 0
    for table in re.findall(r"<!-- options: .*? -->\n(.*?)<!-- end of options", text("src/doc/options.md"), re.S):
        if not table.startswith("Since "):
            options += sum("Since " not in row for row in re.findall(r"^\| `.*", table, re.M))
    for path, content in contents.items():
        if path.startswith("include/") and "Since " not in content.split("*/")[0]:
            functions += sum("Since " not in comment for comment in re.findall(r"((?:/\*(?:(?!\*/).)*\*/\n)?)^GLS_API ", content, re.S | re.M))
    return {"options without since": options, "public functions without since": functions}


def measure(build):
    paths = sorted(sources())
    contents = {path: text(path) for path in paths}
    lines = {path: content.count("\n") for path, content in contents.items()}
    glue = [path for path in paths if path.split("/")[0] == "src" and path.split("/")[1] in GLUE]
    code = [path for path in paths if path.endswith((".c", ".h"))]
    bodies = [lines[path] for path in paths if not path.endswith(".h")]
    comments = sum(comment_lines(contents[path]) for path in paths)
    result = {
        "lines of src, include, glsl": sum(lines.values()),
        "lines of glue (%s)" % ", ".join(GLUE): sum(lines[path] for path in glue),
        "files of glue": len(glue),
        "median lines of a file": statistics.median(lines.values()),
        # a header is as long as the interface of its file
        "files under 50 lines, no headers, %": 100 * sum(n < 50 for n in bodies) / len(bodies),
        "comment lines, %": 100 * comments / sum(lines.values()),
    }
    result.update(without_since(contents))
    details = {}

    includers = collections.defaultdict(set)
    for path in code:
        for included in re.findall(r'^ *#include "([^"]+)"', contents[path], re.M):
            includers["src/" + included].add(path)
    headers = [path for path in code if path.startswith("src/") and path.endswith(".h")]
    result["internal headers"] = len(headers)
    own = lambda path: path[:-2] + ".c"
    lonely = [path for path in headers if len(includers[path] - {own(path)}) == 1]
    result["internal headers with one includer"] = len(lonely)

    names = collections.Counter(os.path.basename(path) for path in paths if path.startswith("src/"))
    details["file names that stand twice"] = sorted(name for name, n in names.items() if n > 1)
    result["file names that stand twice"] = len(details["file names that stand twice"])

    own_variables = lambda reader: sorted({name for path in paths if path.startswith("src/") for name in re.findall(reader + r'\("(GLSLINES_[A-Z_]+)"\)', contents[path])})
    for name, reader in ("environment variables GLSLINES_*", "getenv"), ("environment variables of test builds alone", "gls_test_variable"):
        details[name] = own_variables(reader)
        result[name] = len(details[name])

    defined, used = symbols(build)
    if not defined:
        sys.exit("%s: has no objects of this tree; build it first" % build)
    public = set(re.findall(r"\b(gls_\w+) *\(", " ".join(contents[path] for path in paths if path.startswith("include/"))))
    home = {name: unit for unit, found in defined.items() for name in found}
    users = collections.defaultdict(set)
    edges = collections.defaultdict(set)
    room = lambda unit: "/".join(unit.split("/")[:2])
    for unit, found in used.items():
        for name in found:
            if name in home and home[name] != unit:
                users[name].add(unit)
                if room(unit) == room(home[name]):
                    edges[unit].add(home[name])
                    edges[home[name]]
    own_name, foreign = [], []
    for header in headers:
        for name in declarations(contents[header]) & set(home):
            own_name.append(home[name] == own(header))
            if room(home[name]) != room(header):
                foreign.append("%s: %s, in %s" % (header, name, home[name]))
    result["functions in the header of their own file's name, %"] = 100 * sum(own_name) / max(1, len(own_name))
    details["functions in another room than their header"] = sorted(foreign)
    result["functions in another room than their header"] = len(foreign)
    calls = lambda names, but: [
        f"{path}:{number}" for path in code if path.startswith("src/") and not path.startswith(but)
        for number, line in enumerate(contents[path].split("\n"), 1) if re.search(r"\b(%s)\(" % "|".join(names), line) and not re.match(r"[a-z/]", line)]
    for name, found in (("predicates over raw options, calls", calls(PREDICATES, "src/none")),
                        ("groups of outputs committed by hand", calls(["gls_output_group_commit"], ("src/util/", "src/record/run.c")))):
        details[name] = found
        result[name] = len(found)
    internal = [name for name in home if name not in public and name != "main"]
    result["internal functions and tables"] = len(internal)
    result["internal functions used by one other file, %"] = 100 * sum(len(users[n]) == 1 for n in internal) / max(1, len(internal))
    details["circles by call between files of a room"] = [" ".join(group) for group in circles(edges)]
    result["circles by call between files of a room"] = len(details["circles by call between files of a room"])
    return result, details


def main():
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    result, details = measure(arguments[0] if arguments else os.path.join(ROOT, "build"))
    failed = []
    for name, value in result.items():
        sign, limit = LIMITS.get(name, ("", None))
        passed = limit is not None and (value > limit if sign == "<=" else value < limit)
        print("%-48s %10s %s" % (name, "%.1f" % value if isinstance(value, float) else value, f"{sign} {limit}" if limit is not None else ""))
        if passed:
            failed.append(name)
            print("\n".join("    " + line for line in details.get(name, [])))
    if "--check" in sys.argv and failed:
        sys.exit("passed their limits: " + "; ".join(failed))


if __name__ == "__main__":
    main()
