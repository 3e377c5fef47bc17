#!/bin/sh
# Compiles one public header alone as C11 and, where a C++ compiler exists, as C++. Usage: alone.sh CC INCLUDE_DIRECTORY HEADER
set -eu
printf '#include <glslines/%s>\n' "$3" | "$1" -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$2" -fsyntax-only -x c -
. "$(dirname "$0")/../have.sh"
failed=0
if have c++; then printf '#include <glslines/%s>\n' "$3" | c++ -Wall -Wextra -Wpedantic -Werror -I"$2" -fsyntax-only -x c++ -; fi
exit $failed
