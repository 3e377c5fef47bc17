"""No public function crashes for a NULL or for a number that it cannot have, as <glslines/common.h> says: neither an argument nor a member of
a struct.

    nulls.py LIBRARY HEADERS [SHARE]

Functions, structs and members are those of the preprocessed headers, so that a new one is asked, too. Each call is made in a process of its own:

1. NULL for all pointers and 1 for all numbers. What can fail refuses it, and what ends something accepts it.
2. For each struct that a function takes, and each pointer in it: NULL there, and 1 for the counts. Other pointers lead to zeros, other arguments are
   as plausible as zeros are; objects of the library are NULL. The call fails with a text, or it does without.
3. Arguments of a small run that is valid: images, gradients, a sphere, options with their defaults and the files of the phantom. One at a time,
   pointers are NULL, arrays of pointers and lists of texts have NULL in them, and numbers and enumerators are 0, -1, 99, the largest, and NaN;
   members of options, too. What has a default, or a comment that says what NULL means, may be NULL; other pointers, values that no enumerator has,
   and NaN are refused with a text that names the argument or member. Any other call fails with a text, or it does without.

SHARE, such as 3/16: asks only this part of the functions, for the third kind. With a library under AddressSanitizer and UndefinedBehaviorSanitizer
(LD_PRELOAD=libasan.so, abort_on_error=1) a finding counts as a crash."""

import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ARGUMENT = 1  # GLS_ERR_ARGUMENT
ACCEPTING = {"gls_sample_at", "gls_selection_get_counts", "gls_summary_get"}  # functions that only look, and say that they accept NULL
ZEROS = 1 << 16
MARK = "_GLS_FUNCTION_"


def preprocessed(folder):
    source = "".join(f"#include <glslines/{h.name}>\n" for h in sorted(Path(folder).glob("*.h")))
    command = ["cc", "-E", "-P", "-I", str(Path(folder).parent), "-D__attribute__(x)=" + MARK, "-x", "c", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def split(text, at):
    """Returns the parts between separators that stand in no brackets."""
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
        self.enumerations = set(re.findall(r"typedef enum (gls_\w+) \{", text))
        self.read_comments(folder)
        self.members, self.size = {}, {}
        for name, body in re.findall(r"typedef struct (gls_\w+) \{(.*?)\n?\}\s*\1\s*;", text, flags=re.S):
            self.members[name] = [m for declaration in split(body, ";") for m in self.declared(declaration)]
        self.measure(folder)

    def read_comments(self, folder):
        """Reads the comment in front of each function, and one in front of several that begins "Arguments of all functions below"."""
        self.comment = {}
        for header in sorted(Path(folder).glob("*.h")):
            text = header.read_text()
            shared = re.search(r"/\* (Arguments of all functions below(?:(?!\*/).)*)\*/", text, flags=re.S)
            for name in re.findall(r"^GLS_API[^;(]*?(gls_\w+)\s*\(", text[shared.end():], flags=re.M) if shared else ():
                self.comment[name] = " ".join(shared.group(1).replace("\n *", " ").split())
            for comment, declaration in re.findall(r"/\*((?:(?!\*/).)*)\*/\s*\n(GLS_API[^;]*);", text, flags=re.S):
                name = re.search(r"(gls_\w+)\s*\(", declaration).group(1)
                self.comment[name] = " ".join([self.comment.get(name, ""), *comment.replace("\n *", " ").split()])

    def allows(self, function, name):
        """Whether the comment of a function says what NULL means for an argument."""
        comment = self.comment.get(function, "")
        return any("NULL" in sentence and re.search(r"\b%s\b" % name, sentence) for sentence in re.split(r"(?<=[.;]) ", comment))

    def declared(self, declaration):
        """Returns (name, kind) of each member that a declaration declares; unions and structs inside are left as they are."""
        if "{" in declaration:
            return
        for i, part in enumerate(split(declaration, ",")):
            function = re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", part)
            name = function.group(1) if function else re.search(r"(\w+)\s*(\)\s*)?(\[[^\]]*\]\s*)*$", part).group(1)
            first = split(declaration, ",")[0]
            kind = first if i == 0 else re.sub(r"[\s*]*\w+\s*$", " ", first) + part
            yield name, kind

    def measure(self, folder):
        """Asks the compiler for the offsets of members."""
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
        """Returns the struct that a type names, if its members are known."""
        name = re.search(r"\b(gls_\w+)\b", declaration)
        return name.group(1) if name and name.group(1) in self.members else None

    def is_object(self, declaration):
        """Whether the type is a pointer to an object of the library whose members are private."""
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
        """Returns the struct that its default function makes, or zeros."""
        Bytes = self.type_of(struct)
        made = Bytes()
        if struct + "_default" in self.names:
            function = getattr(self.library, struct + "_default")
            function.restype = Bytes
            made = function()
        return made

    def filled(self, struct, missing):
        """Returns a struct without the member `missing`, by address."""
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
        """Returns an argument of the second kind of calls. missing: struct and member."""
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


def outcome(library, name, returns, values, seconds=60):
    """Makes a call in a process of its own. Returns its result, or the signal that ended it as a negative number, and the text
    of the failure."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_REAL, seconds)
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
    if os.WIFSIGNALED(status) or not text:
        return -(os.WTERMSIG(status) or signal.SIGABRT), ""
    returned, _, message = text.partition(" ")
    return int(returned), message


# --- The third kind of calls.

OPAQUE = {"gls_sphere": lambda c: c.made("gls_sphere_create", b"small")}
FILES = {"dwi": "dwi.nii.gz", "bval": "dwi.bval", "bvec": "dwi.bvec", "mask": "mask.nii.gz", "roi": "roi.nii.gz", "labels": "mask.nii.gz"}
#: functions that wait for a person or another process, or end this one
LEFT_OUT = {"gls_set_wait", "gls_log_set"}
NUMBERS = {"double": (0.0, -1.0, float("nan"), float("inf")), "float": (0.0, -1.0, float("nan"), float("inf"))}


class Scene(Calls):
    """Makes calls with the arguments of a valid run."""

    def __init__(self, library, headers):
        super().__init__(library, headers)
        params = self.default("gls_phantom_params")
        ctypes.c_int32.from_address(ctypes.addressof(params) + headers.place["gls_phantom_params", "n_directions"]).value = 12
        phantom = self.made("gls_phantom_create", ctypes.byref(params))
        if library.gls_phantom_write(ctypes.c_void_p(phantom), b".", 0):
            raise RuntimeError(library.gls_last_error())
        self.images = {name: self.made("gls_image_read", file.encode(), 0) for name, file in FILES.items() if file.endswith(".gz")}
        grid = ctypes.c_void_p(self.images["dwi"])
        self.gradients = self.made("gls_gradients_read", b"dwi.bval", b"dwi.bvec", None, grid, ctypes.c_size_t(16))
        self.objects = {name: make(self) for name, make in OPAQUE.items()}

    def made(self, function, *arguments):
        to = ctypes.c_void_p()
        if getattr(self.library, function)(*arguments, ctypes.byref(to)) or not to.value:
            self.library.gls_last_error.restype = ctypes.c_char_p
            raise RuntimeError(function + ": " + self.library.gls_last_error().decode())
        return to.value

    def plain_members(self, struct, base=0, path=""):
        """Returns (path, kind, offset) of all members, also of structs inside."""
        for name, kind in self.headers.members[struct]:
            at = base + self.headers.place[struct, name]
            inside = kind.split()[0] if not is_pointer(kind) else None
            if inside in self.headers.members:
                yield from self.plain_members(inside, at, path + name + ".")
            elif "[" not in kind:
                yield path + name, kind, at

    def valid(self, declaration):
        """Returns (value, object that keeps it alive) of an argument."""
        words = re.findall(r"\w+", declaration)
        struct, stars = self.headers.struct_of(declaration), declaration.count("*")
        if struct == "gls_image" and stars == 1:
            return ctypes.c_void_p(self.images.get(words[-1], self.images["mask"])), None
        if struct == "gls_image" and stars == 2 and "const *" in declaration:
            return (ctypes.c_void_p * 4)(*[self.images["mask"]] * 4), None
        if struct == "gls_gradients" and stars == 1:
            return ctypes.c_void_p(self.gradients), None
        if struct == "gls_grid" and stars == 1:
            return ctypes.c_void_p(self.images["mask"]), None
        if struct and stars == 1 and "const" in declaration:
            return self.options(struct), None
        if self.headers.is_object(declaration) and words[1 if words[0] == "const" else 0] in self.objects:
            return ctypes.c_void_p(self.objects[words[1 if words[0] == "const" else 0]]), None
        return self.argument(declaration), None

    def options(self, struct):
        """Returns options with their defaults, and the files of the phantom."""
        made = self.default(struct)
        for path, kind, at in self.plain_members(struct):
            if is_pointer(kind) and path in FILES and kind.startswith("const char"):
                text = ctypes.c_char_p(FILES[path].encode())
                self.kept.append(text)
                ctypes.c_char_p.from_address(ctypes.addressof(made) + at).value = FILES[path].encode()
        return made

    def is_real(self, declaration):
        """Whether valid() has more than zeros for an argument."""
        struct, words = self.headers.struct_of(declaration), re.findall(r"\w+", declaration)
        if not is_pointer(declaration) and not struct or struct in ("gls_image", "gls_gradients", "gls_grid"):
            return True
        return bool(struct) and struct + "_default" in self.names or set(words) & set(self.objects) or "char" in words

    def variants(self, declaration, value):
        """Returns (description, value) for each way in which an argument is wrong."""
        struct = self.headers.struct_of(declaration)
        if declaration.split()[0] in self.headers.callbacks or "(*" in declaration:
            return
        if is_pointer(declaration):
            yield "NULL", ctypes.c_void_p(0)
        elif not struct:
            for number in self.numbers(declaration):
                yield repr(number.value), number
        if isinstance(value, ctypes.Array):
            yield "[1] NULL", (ctypes.c_void_p * 4)(value[0], None, value[2], value[3])
        if not isinstance(value, ctypes.Structure):
            return
        for path, kind, at in self.plain_members(struct):
            if is_pointer(kind) or path == "size":
                continue
            for number in self.numbers(kind, path):
                changed = self.options(struct)
                type(number).from_address(ctypes.addressof(changed) + at).value = number.value
                yield f"{path} = {number.value!r}", changed
        yield from self.lists(struct)

    def lists(self, struct, base=0, path=""):
        """Returns lists of texts with n = -1, with too large an n, and with NULL in them."""
        for name, kind in self.headers.members[struct]:
            at = base + self.headers.place[struct, name]
            if kind.split()[0] == "gls_strings":
                for n in (-1, 1, 1 << 20):
                    changed = self.options(struct)
                    ctypes.c_int.from_address(ctypes.addressof(changed) + at + self.headers.place["gls_strings", "n"]).value = n
                    yield f"{path}{name}.n = {n}, texts NULL", changed
            elif kind.split()[0] in self.headers.members and not is_pointer(kind):
                yield from self.lists(kind.split()[0], at, path + name + ".")

    def must_refuse(self, function, declaration, what):
        """Whether the headers promise that a call with this value is refused."""
        argument = re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", declaration).group(1)
        member, _, value = what.rpartition(" = ")
        struct = self.headers.struct_of(declaration)
        has_default = bool(struct) and struct + "_default" in self.names
        if value == "NULL":
            # a callback gets its pointer to void as it is
            return not has_default and not self.headers.allows(function, argument) and not declaration.startswith("void *")
        if value == "nan":
            # structs without defaults are data; the caller is responsible for them
            return not member or has_default
        return self.kind_of(declaration, member) in self.headers.enumerations and value in ("-1", "99", "2147483647")

    def breach(self, declaration, what, got, message, works):
        """Returns in which way the refusal of a wrong value is none; None: it is one. works: whether the call with valid
        arguments succeeds."""
        if got in (0, -signal.SIGALRM):
            return "is taken"
        argument = re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", declaration).group(1)
        member = what.rpartition(" = ")[0]
        words = (member or argument).split(".")[-1].split("_")
        return None if got < 0 or not works or all(word in message.lower() for word in words) else "is not named"

    def kind_of(self, declaration, path):
        """Returns the type of an argument, or of the member of its struct with this path."""
        kind = declaration
        struct = self.headers.struct_of(declaration)
        for part in path.split(".") if path else ():
            kind = dict(self.headers.members[struct])[part]
            struct = kind.split()[0]
        return next((w for w in re.findall(r"\w+", kind) if w in self.headers.enumerations or w in ("double", "float")), "")

    def numbers(self, declaration, path=""):
        for kind, values in NUMBERS.items():
            if re.search(r"\b%s\b" % kind, declaration):
                return [(ctypes.c_double if kind == "double" else ctypes.c_float)(v) for v in values]
        if re.search(r"size_t|uint64_t|\bsize\b|bool|_Bool", declaration):
            # the caller is responsible for the number of elements of an array
            return [ctypes.c_uint64(0)] if "bool" not in declaration.lower() else []
        kind = ctypes.c_int64 if "int64" in declaration else ctypes.c_int32
        return [kind(v) for v in (0, -1, 99, 2**31 - 1)]


def passed(arguments, values):
    """Returns a struct as it is passed: by its address, or by value."""
    return [ctypes.byref(v) if isinstance(v, ctypes.Structure) and is_pointer(a) else v for a, v in zip(arguments, values)]


def ask_wrong(scene, part, parts):
    asked = failed = 0
    for kind, name, arguments in scene.headers.functions[part::parts]:
        if name in LEFT_OUT or "..." in arguments or not arguments:
            continue
        struct = scene.headers.struct_of(kind) if not is_pointer(kind) else None
        returns = scene.type_of(struct) if struct else ctypes.c_int if kind.endswith("gls_status") else ctypes.c_void_p
        can_fail = kind.endswith("gls_status")
        if not can_fail and not all(map(scene.is_real, arguments)):
            continue  # such a function may rely on valid objects and arrays
        base = can_fail and outcome(scene.library, name, returns, passed(arguments, [scene.valid(a)[0] for a in arguments]), 0.5)[0]
        slow = base == -signal.SIGALRM  # the call has computed for a long time
        for i, declaration in enumerate(arguments):
            for what, wrong in scene.variants(declaration, scene.valid(declaration)[0]):
                if what == "NULL" and not can_fail:
                    continue  # <glslines/common.h> requires valid objects for these; the first kind of calls has those that accept NULL
                values = [wrong if k == i else scene.valid(a)[0] for k, a in enumerate(arguments)]
                got, message = outcome(scene.library, name, returns, passed(arguments, values), 0.1 if slow else 0.5)
                slow = slow or got == -signal.SIGALRM
                asked += 1
                must = can_fail and scene.must_refuse(name, declaration, what)
                if must and got == -signal.SIGALRM:
                    got, message = outcome(scene.library, name, returns, passed(arguments, values))
                lacks = must and scene.breach(declaration, what, got, message, base == 0 or slow)
                if lacks:
                    failed += 1
                    print(f"{name}, {declaration}: {what} {lacks}{': ' + message if message else ''}", flush=True)
                # a call that computes for a long time has accepted its arguments
                if (got < 0 and got != -signal.SIGALRM) or (can_fail and got > 0 and not message):
                    failed += 1
                    print(f"{name}, {declaration}: {what}: {f'signal {-got}' if got < 0 else f'returned {got} without a text'}", flush=True)
            scene.kept.clear()
    print(f"{asked} calls with one wrong argument, {failed} that crash or are not refused")
    return failed > 0 or asked < 3000 / parts / 2


def ask_wrong_in_parts(scene, share):
    """Starts a process for each core."""
    sys.stdout.flush()
    first, of = map(int, share.split("/"))
    cores, children = os.cpu_count(), []
    for core in range(cores):
        child = os.fork()
        if child == 0:
            wrong = ask_wrong(scene, first % of + of * core, of * cores)
            sys.stdout.flush()
            os._exit(wrong)
        children.append(child)
    return any([os.waitpid(child, 0)[1] != 0 for child in children])


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
    # a process that forks has no threads
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.environ.pop("LD_PRELOAD", None)  # set for the library, not for the compiler
    library, headers = ctypes.CDLL(os.path.abspath(sys.argv[1])), Headers(sys.argv[2])
    calls = Calls(library, headers)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        wrong = ask_arguments(calls)
        wrong = ask_members(calls) or wrong
        wrong = ask_wrong_in_parts(Scene(library, headers), sys.argv[3] if len(sys.argv) > 3 else "0/1") or wrong
    sys.exit(wrong)


if __name__ == "__main__":
    main()
