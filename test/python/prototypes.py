"""The prototypes that the Python package writes down for ctypes are those of the headers.

    prototypes.py HEADERS     with the package and the library in the environment"""

import re
import sys

from nulls import Headers

from glslines import _library

#: for each type of C its letter in _library._SIGNATURES; pointers that are no texts are p, or P if the package makes an array
#: of them
SCALARS = {"bool": "b", "double": "d", "int": "i", "uint32_t": "u", "uint64_t": "q", "size_t": "n", "void": "v", "gls_status": "t"}


def letters(declaration, headers):
    """Returns the letters that may stand for a declaration of an argument or result."""
    kind = re.sub(r"\b(const|struct|enum|extern|GLS_API)\b", " ", declaration)
    if kind.count("*") >= 2 or ("*" in kind and "[" in kind):
        return "Pp"
    if re.search(r"\bchar\s*\*", kind):
        return "sp"
    if "*" in kind or "[" in kind or kind.split()[0] in headers.callbacks:
        return "p"
    name = kind.split()[0]
    if name in SCALARS:
        return SCALARS[name] + ("i" if name == "gls_status" else "")
    return "" if name in headers.members else "i"  # an enum is an int; no struct is passed by value


def main():
    headers = Headers(sys.argv[1])
    there = {name: (kind, arguments) for kind, name, arguments in headers.functions}
    wrong = 0
    for name, signature in _library._SIGNATURES.items():
        kind, arguments = there.get(name, ("", []))
        found = [letters(kind, headers), *(letters(a, headers) for a in arguments)] if kind else []
        if len(found) != len(signature) or any(letter not in may for letter, may in zip(signature, found)):
            wrong += 1
            print("%s: %r in the package, the header has %s %s" % (name, signature, kind or "no such function", arguments))
    for name, struct in _library._DEFAULTS.items():
        if there.get(name, ("",))[0].split()[-1:] != [struct] or there[name][1]:
            wrong += 1
            print("%s: does not return %s" % (name, struct))
    print("%d prototypes, %d wrong" % (len(_library._SIGNATURES) + len(_library._DEFAULTS), wrong))
    sys.exit(wrong > 0 or len(_library._SIGNATURES) < 70)


if __name__ == "__main__":
    main()
