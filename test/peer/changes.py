"""Changes of headers and tables of text, for inputs.py."""

import re

BOM = b"\xef\xbb\xbf"


def lines_of(head):
    return [line for line in head.split(b"\n") if line]


def each(change, only=None):
    """Changes only the lines with these keys between the first line and END."""

    def all_of(lines):
        return (
            [lines[0]]
            + [change(line) if not only or line.split(b":")[0] in only else line for line in lines[1:-1]]
            + lines[-1:]
        )

    return all_of


def add(*more, at=1):
    return lambda lines: lines[:at] + list(more) + lines[at:]


def key(change):
    return lambda line: change(line.split(b":")[0]) + b":" + line.split(b":", 1)[1]


def value(change):
    return lambda line: line.split(b":")[0] + b":" + change(line.split(b":", 1)[1])


HEADERS = {  # for each name the change of the lines, and the text between the lines
    "as it was written": (lambda lines: lines, b"\n"),
    "keys in capitals": (
        each(key(bytes.upper), (b"dim", b"vox", b"layout", b"datatype", b"transform", b"scaling")),
        b"\n",
    ),
    "all keys in capitals": (each(key(bytes.upper)), b"\n"),
    "types in small letters": (each(value(bytes.lower), (b"datatype",)), b"\n"),
    "types in capitals": (each(value(bytes.upper), (b"datatype",)), b"\n"),
    "blanks before lines": (each(lambda line: b"  \t" + line), b"\n"),
    "blanks behind lines": (lambda lines: [line + b"  \t" for line in lines], b"\n"),
    "no blanks behind colons": (each(lambda line: line.replace(b": ", b":", 1)), b"\n"),
    "blanks around colons": (each(lambda line: line.replace(b": ", b" :   ", 1)), b"\n"),
    "line ends of Windows": (lambda lines: lines, b"\r\n"),
    "line ends of old Macs": (lambda lines: lines, b"\r"),
    "NUL bytes in a line": (add(b"comments: tag \0\0\0 of another program", b"tags: \0"), b"\n"),
    "NUL bytes behind lines": (lambda lines: [line + b"\0\0" for line in lines], b"\n"),
    "a line of NUL bytes": (add(b"\0\0\0"), b"\n"),
    "NUL bytes before values": (
        each(lambda line: line.replace(b": ", b": \0", 1), (b"dim", b"vox", b"datatype")),
        b"\n",
    ),
    "a byte order mark": (lambda lines: [BOM + lines[0]] + lines[1:], b"\n"),
    "lines in another order": (
        lambda lines: lines[:1] + sorted(lines[1:-1], reverse=True, key=lambda x: x.split(b":")[0]) + lines[-1:],
        b"\n",
    ),
    "comments behind values": (each(lambda line: line + b" # of no account"), b"\n"),
    "lines of comments": (add(b"# dim: 1,1,1", b"#", at=2), b"\n"),
    "empty lines": (each(lambda line: line + b"\n"), b"\n"),
    "a line without a colon": (add(b"no pair at all"), b"\n"),
    "a line without a key": (add(b": no key"), b"\n"),
    "colons in a value": (add(b"comments: a: b: c"), b"\n"),
    "letters beyond ASCII": (add("comments: \u00e9\u4e2d\ufffd".encode() + b"\xff\xfe"), b"\n"),
    "a key that begins with END": (add(b"ENDING: no end"), b"\n"),
    "END with blanks": (lambda lines: lines[:-1] + [b"  END \t"], b"\n"),
    "END with a comment": (lambda lines: lines[:-1] + [b"END # of it"], b"\n"),
    "end in small letters": (lambda lines: lines[:-1] + [b"end"], b"\n"),
    "no END": (lambda lines: lines[:-1], b"\n"),
    "more in the first line": (lambda lines: [lines[0].rstrip() + b" of somebody"] + lines[1:], b"\n"),
    "first line in capitals": (lambda lines: [lines[0].upper()] + lines[1:], b"\n"),
    "blanks before the first line": (lambda lines: [b" " + lines[0]] + lines[1:], b"\n"),
    "no type": (lambda lines: [line for line in lines if not line.startswith(b"datatype")], b"\n"),
    "an unknown type": (each(value(lambda x: b" Float31LE"), (b"datatype",)), b"\n"),
    "no place of the data": (lambda lines: [line for line in lines if not line.startswith(b"file")], b"\n"),
    "data at byte 0": (each(value(lambda x: b" . 0"), (b"file",)), b"\n"),
    "data without an offset": (each(value(lambda x: b" ."), (b"file",)), b"\n"),
    "several blanks before the offset": (each(value(lambda x: x.replace(b". ", b".  \t")), (b"file",)), b"\n"),
}
IMAGES = {  # of images alone
    "no signs in the layout": (each(value(lambda x: x.replace(b"+", b"")), (b"layout",)), b"\n"),
    "blanks behind commas": (each(value(lambda x: x.replace(b",", b", ")), (b"dim", b"vox", b"transform")), b"\n"),
    "blanks behind commas of the layout": (each(value(lambda x: x.replace(b",", b", ")), (b"layout",)), b"\n"),
    "blanks in place of commas": (each(value(lambda x: x.strip().replace(b",", b" ")), (b"vox",)), b"\n"),
    "two lines dim": (lambda lines: lines[:1] + [b"dim: 9,9,9,9"] + lines[1:], b"\n"),
    "vox nan behind the third": (each(value(lambda x: b" 2,2,2.5,nan"), (b"vox",)), b"\n"),
    "vox nan": (each(value(lambda x: b" nan,2,2.5,1"), (b"vox",)), b"\n"),
    "vox inf": (each(value(lambda x: b" inf,2,2.5,1"), (b"vox",)), b"\n"),
    "vox 0": (each(value(lambda x: b" 0,2,2.5,1"), (b"vox",)), b"\n"),
    "transform nan": (each(value(lambda x: b" nan,0,0,0"), (b"transform",)), b"\n"),
    "no transform": (lambda lines: [line for line in lines if not line.startswith(b"transform")], b"\n"),
    "scaling nan": (add(b"scaling: nan,1"), b"\n"),
}
MADE_UP = {
    "vox nan",
    "vox inf",
    "vox 0",
    "transform nan",
    "no transform",
    "scaling nan",
    "data at byte 0",
    "data without an offset",
    "no END",
    "end in small letters",
}  # values that MRtrix3 computes, or reads from the data


TEXT = {  # for each name the change of a file of lines of numbers
    "as it was written": lambda t: t,
    "line ends of Windows": lambda t: t.replace(b"\n", b"\r\n"),
    "line ends of old Macs": lambda t: t.replace(b"\n", b"\r"),
    "no end of the last line": lambda t: t.rstrip(b"\n"),
    "empty lines": lambda t: b"\n" + t.replace(b"\n", b"\n\n"),
    "blanks before lines": lambda t: b"  " + t.replace(b"\n", b"\n  "),
    "blanks behind lines": lambda t: t.replace(b"\n", b"  \t\n"),
    "tabs": lambda t: t.replace(b" ", b"\t"),
    "several blanks": lambda t: t.replace(b" ", b"   "),
    "commas": lambda t: t.replace(b" ", b","),
    "commas and blanks": lambda t: t.replace(b" ", b", "),
    "a byte order mark": lambda t: BOM + t,
    "comments": lambda t: b"# of no account\n" + t.replace(b"\n", b" # 1 2 3\n"),
    "NUL bytes behind": lambda t: t + b"\0\0",
    "NUL bytes in a line": lambda t: t.replace(b" ", b" \0 ", 1),
    "plus signs": lambda t: re.sub(rb"(?<![\d.-])(\d)", rb"+\1", t),
    "exponents": lambda t: re.sub(rb"(?<=\d)(?=[ \n])", b"e0", t),
    "exponents of Fortran": lambda t: re.sub(rb"(?<=\d)(?=[ \n])", b"D0", t),
    "decimal commas": lambda t: t.replace(b".", b","),
    "a word": lambda t: t.replace(b" ", b" x ", 1),
    "nan": lambda t: re.sub(rb"(?<= )[\d.-]+", b"nan", t, count=1),
    "semicolons": lambda t: t.replace(b" ", b";"),
    "empty": lambda t: b"",
    "one number less": lambda t: t.rstrip().rsplit(b" ", 1)[0] + b"\n",
    "UTF-16": lambda t: t.decode().encode("utf-16"),
}
