"""No public function crashes for a NULL, as <glslines/common.h> says: neither an argument nor a member of a struct.

    nulls.py LIBRARY HEADERS

Functions, structs and members are those of the preprocessed headers, so that a new one is asked, too. Each call is made in a process of its own:

1. NULL for all pointers and 1 for all numbers. What can fail refuses it, and what ends something accepts it.
2. For each struct that a function takes, and each pointer in it: NULL there, and 1 for the counts. Other pointers lead to zeros, other arguments are
   as plausible as zeros are; objects of the library are NULL. The call fails with a text, or it does without."""

import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ARGUMENT = 1  # GLS_ERR_ARGUMENT
ACCEPTING = {"gls_sample_at", "gls_selection_get_counts", "gls_summary_get"}  # look only, and say that they accept NULL
ZEROS = 1 << 16
MARK = "_GLS_FUNCTION_"


def preprocessed(folder):
    source = "".join(f"#include <glslines/{h.name}>\n" for h in sorted(Path(folder).glob("*.h")))
    command = ["cc", "-E", "-P", "-I", str(Path(folder).parent), "-D__attribute__(x)=" + MARK, "-x", "c", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def split(text, at):
    """Parts between separators that stand in no brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "({[") - (c in ")}]")
        if c == at and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [" ".join(p.split()) for p in parts if p.strip() not in ("", "void")]


class Headers:
    def __init__(self, folder):
        text = preprocessed(folder)
        self.functions = [(" ".join(kind.split()), name, split(arguments, ","))
                          for kind, name, arguments in re.findall(MARK + r"\s*([^;{}]*?)\b(gls_\w+)\s*\(([^;{}]*)\)\s*;", text)]
        self.callbacks = set(re.findall(r"typedef [^;{}]*\(\*\s*(gls_\w+)\)", text))
        self.members, self.size = {}, {}
        for name, body in re.findall(r"typedef struct (gls_\w+) \{(.*?)\n?\}\s*\1\s*;", text, flags=re.S):
            self.members[name] = [m for declaration in split(body, ";") for m in self.declared(declaration)]
        self.measure(folder)

    def declared(self, declaration):
        """(name, kind) of what a declaration of members declares; unions and structs inside are left as they are."""
        if "{" in declaration:
            return
        for i, part in enumerate(split(declaration, ",")):
            function = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", part)
            name = function.group(1) if function else re.search(r"(\w+)\s*(\)\s*)?(\[[^\]]*\]\s*)*$", part).group(1)
            first = split(declaration, ",")[0]
            kind = first if i == 0 else re.sub(r"[\s*]*\w+\s*$", " ", first) + part
            yield name, kind

    def measure(self, folder):
        """Where members lie: the compiler knows."""
        lines = []
        for struct, members in self.members.items():
            lines.append(f'printf("{struct} {struct} %zu\\n", sizeof({struct}));')
            lines += [f'printf("{struct} {m} %zu\\n", offsetof({struct}, {m}));' for m, _ in members]
        source = "".join(f"#include <glslines/{h.name}>\n" for h in sorted(Path(folder).glob("*.h")))
        source += "#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\nreturn 0; }\n"
        with tempfile.TemporaryDirectory() as work:
            program = os.path.join(work, "layout")
            subprocess.run(["cc", "-I", str(Path(folder).parent), "-x", "c", "-", "-o", program], input=source, text=True, check=True)
            table = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        self.place = {}
        for line in table.splitlines():
            struct, member, number = line.split()
            if struct == member:
                self.size[struct] = int(number)
            else:
                self.place[struct, member] = int(number)

    def struct_of(self, declaration):
        """The struct that it names, if its members are known."""
        name = re.search(r"\b(gls_\w+)\b", declaration)
        return name.group(1) if name and name.group(1) in self.members else None

    def is_object(self, declaration):
        """A pointer to a thing of the library, whose members nobody knows."""
        name = re.search(r"\b(gls_\w+) \*(?!\*)", declaration.replace("* *", "**").replace("*const *", "**"))
        return bool(name) and name.group(1) not in self.members


def is_pointer(declaration):
    return "*" in declaration or "[" in declaration


def is_pointer_member(kind):
    """No array of pointers."""
    return "*" in kind and ("[" not in kind or "(*" in kind.replace("( *", "(*"))


def is_count(name, kind):
    return not is_pointer(kind) and (name == "n" or name.startswith("n_"))


def number(declaration):
    if "double" in declaration:
        return ctypes.c_double(1)
    return ctypes.c_float(1) if "float" in declaration else ctypes.c_int64(1)


class Calls:
    def __init__(self, library, headers):
        self.library, self.headers = library, headers
        self.zeros = ctypes.create_string_buffer(ZEROS)
        self.callback = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 0)
        self.names = {name for _, name, _ in headers.functions}
        self.kept = []

    def type_of(self, struct):
        return type(struct, (ctypes.Structure,), {"_fields_": [("byte", ctypes.c_char * self.headers.size[struct])]})

    def default(self, struct):
        """What its default function gives, or zeros."""
        Bytes = self.type_of(struct)
        made = Bytes()
        if struct + "_default" in self.names:
            function = getattr(self.library, struct + "_default")
            function.restype = Bytes
            made = function()
        return made

    def filled(self, struct, missing):
        """A struct without the member missing, by address."""
        made = self.default(struct)
        self.kept.append(made)
        for name, kind in self.headers.members[struct]:
            at = ctypes.addressof(made) + self.headers.place[struct, name]
            if re.search(r"\(\s*\*\s*\w+\s*\)\s*\(", kind) or re.match(r"gls_\w+ \w+$", kind) and kind.split()[0] in self.headers.callbacks:
                word = ctypes.cast(self.callback, ctypes.c_void_p).value
            elif self.headers.is_object(kind):
                continue
            elif is_pointer_member(kind):
                word = ctypes.addressof(self.zeros)
            elif is_count(name, kind):
                size = ctypes.c_size_t if "size_t" in kind or "64" in kind else ctypes.c_int
                size.from_address(at).value = size.from_address(at).value or 1
                continue
            else:
                continue
            ctypes.c_void_p.from_address(at).value = None if name == missing else word
        return made

    def argument(self, declaration, missing=None):
        """What stands for an argument of the second kind of calls; missing: struct and member."""
        struct = self.headers.struct_of(declaration)
        if struct and declaration.count("*") <= 1 and not ("*" in declaration and declaration.count("[")):
            made = self.filled(struct, missing[1] if missing and missing[0] == struct else None)
            return ctypes.c_void_p(ctypes.addressof(made)) if is_pointer(declaration) else made
        if declaration.split()[0] in self.headers.callbacks or "(*" in declaration:
            return ctypes.cast(self.callback, ctypes.c_void_p)
        if not is_pointer(declaration):
            return number(declaration)
        if self.headers.is_object(declaration):
            return ctypes.c_void_p(0)
        if re.match(r"const char \*\w+$", declaration):
            return ctypes.c_char_p(b"none/x")
        return ctypes.c_void_p(ctypes.addressof(self.zeros))

    def nulls(self, arguments):
        return [ctypes.c_void_p(0) if is_pointer(a) else number(a) for a in arguments]


def outcome(library, name, returns, values):
    """(what the call returned, or the signal that ended it as a negative number; the text of the failure)"""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        function = getattr(library, name)
        function.restype = returns
        library.gls_last_error.restype = ctypes.c_char_p
        made = function(*values)
        os.write(writing, f"{made if returns is ctypes.c_int else 0} ".encode() + library.gls_last_error())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, errors="replace") as f:
        text = f.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return -os.WTERMSIG(status), ""
    returned, _, message = text.partition(" ")
    return int(returned), message


def ask_arguments(calls):
    asked = failed = 0
    for kind, name, arguments in calls.headers.functions:
        if not any(map(is_pointer, arguments)):
            continue
        ends = re.search(r"_(destroy|close|free|abort)$", name) and len(arguments) == 1
        if kind.endswith("gls_status"):
            wanted = ARGUMENT
        elif name in ACCEPTING or (ends and kind == "void" and name != "gls_sink_abort"):
            wanted = None
        else:
            continue
        asked += 1
        struct = calls.headers.struct_of(kind) if not is_pointer(kind) else None
        got, _ = outcome(calls.library, name, calls.type_of(struct) if struct else ctypes.c_int if wanted else None, calls.nulls(arguments))
        if got < 0 or (wanted is not None and got != wanted):
            failed += 1
            print(f"{name}: {f'signal {-got}' if got < 0 else f'returned {got}'}")
    print(f"{asked} functions, {failed} that do not keep the rule of NULL")
    return failed > 0 or asked < 150


def ask_members(calls):
    """Functions that can fail."""
    asked = failed = 0
    structs = set()
    for kind, name, arguments in calls.headers.functions:
        if not kind.endswith("gls_status"):
            continue
        for struct in {calls.headers.struct_of(a) for a in arguments} - {None}:
            pointers = [m for m, k in calls.headers.members[struct] if is_pointer_member(k)]
            for member in pointers:
                calls.kept.clear()
                got, message = outcome(calls.library, name, ctypes.c_int, [calls.argument(a, (struct, member)) for a in arguments])
                asked += 1
                structs.add(struct)
                if got < 0 or (got > 0 and not message):
                    failed += 1
                    print(f"{name}, {struct} without {member}: {f'signal {-got}' if got < 0 else f'returned {got} without a text'}")
    print(f"{asked} members of {len(structs)} structs, {failed} that are not refused")
    return failed > 0 or asked < 150 or len(structs) < 15


def main():
    library, headers = ctypes.CDLL(os.path.abspath(sys.argv[1])), Headers(sys.argv[2])
    calls = Calls(library, headers)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        wrong = ask_arguments(calls)
        wrong = ask_members(calls) or wrong
    sys.exit(wrong)


if __name__ == "__main__":
    main()
