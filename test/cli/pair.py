"""An image as a pair of files: pair.py IN.nii.gz OUT.hdr [changed]: with its first value that is not 0 changed to 0."""
import gzip
import sys

source, header, *changed = sys.argv[1:]
data = bytearray(gzip.open(source).read())
data[344:348] = b"ni1\0"
data[108:112] = bytes(4)
values = data[352:]
if changed:
    values[next(i for i, value in enumerate(values) if value)] = 0
with open(header, "wb") as file:
    file.write(data[:348])
with open(header[:-3] + "img", "wb") as file:
    file.write(values)
