"""Every public function that can fail refuses NULL in place of what it needs, and every one that ends something accepts it, as <glslines/common.h> says.

    nulls.py LIBRARY HEADERS

Calls each function of the headers with NULL for all pointers and 1 for all numbers, in a process of its own."""

import ctypes
import os
import re
import signal
import sys
from pathlib import Path

ARGUMENT = 1  # GLS_ERR_ARGUMENT


def declarations(folder):
    for header in sorted(Path(folder).glob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        for kind, name, arguments in re.findall(r"GLS_API\s+([^;{]*?)\b(gls_\w+)\s*\(([^;]*?)\)\s*;", text, flags=re.S):
            yield " ".join(kind.split()), name, split(" ".join(arguments.split()))


def split(arguments):
    parts, depth = [""], 0
    for c in arguments:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts if p.strip() not in ("", "void")]


def value(argument):
    if "*" in argument or "[" in argument:
        return ctypes.c_void_p(0)
    if "double" in argument:
        return ctypes.c_double(1)
    return ctypes.c_float(1) if "float" in argument else ctypes.c_int64(1)


def outcome(library, name, arguments):
    """What the call returned, or the signal that ended it as a negative number."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        function = getattr(library, name)
        function.restype = ctypes.c_int
        os.write(writing, str(function(*map(value, arguments))).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as f:
        text = f.read()
    status = os.waitpid(child, 0)[1]
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else int(text)


def main():
    library = ctypes.CDLL(sys.argv[1])
    asked = failed = 0
    for kind, name, arguments in declarations(sys.argv[2]):
        if not any(isinstance(value(a), ctypes.c_void_p) for a in arguments):
            continue
        ends = re.search(r"_(destroy|close|free|abort)$", name) and len(arguments) == 1
        if kind.endswith("gls_status"):
            wanted = ARGUMENT
        elif ends and kind == "void" and name != "gls_sink_abort":
            wanted = None
        else:
            continue
        asked += 1
        got = outcome(library, name, arguments)
        if got < 0 or (wanted is not None and got != wanted):
            failed += 1
            print(f"{name}: {f'signal {-got}' if got < 0 else f'returned {got}'}")
    print(f"{asked} functions, {failed} that do not keep the rule of NULL")
    sys.exit(failed > 0 or asked < 150)


if __name__ == "__main__":
    main()
