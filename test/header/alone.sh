#!/bin/sh
# Compiles one public header alone as C11 and, where a C++ compiler exists, as C++. Usage: alone.sh CC INCLUDE_DIRECTORY HEADER
set -eu
printf '#include <glslines/%s>\n' "$3" | "$1" -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$2" -fsyntax-only -x c -
! command -v c++ > /dev/null 2>&1 || printf '#include <glslines/%s>\n' "$3" | c++ -Wall -Wextra -Wpedantic -Werror -I"$2" -fsyntax-only -x c++ -
