#!/bin/sh
# Make DIR a virtual environment with pip and a Python that the project runs on, unless it is one.
# usage: make_venv.sh DIR [PYTHON]   (without PYTHON: the first on the PATH that is new enough)
set -eu

dir=$1
wanted=${2:-}
new_enough='import sys; sys.exit(sys.version_info < (3, 11))'
has_pip='import sys, pip; sys.exit(sys.version_info < (3, 11) or sys.prefix == sys.base_prefix)'

fail() {
    echo "make: $1" >&2
    exit 1
}

# A version manager may put commands on the PATH that only say that they are not installed.
runs() {
    "$1" -c 'pass' >/dev/null 2>&1
}

if [ -x "$dir/bin/python" ] && "$dir/bin/python" -c "$has_pip" >/dev/null 2>&1; then
    exit 0
fi

if [ -n "$wanted" ]; then
    runs "$wanted" || fail "there is no Python called '$wanted'; name one of 3.11 or newer: make PYTHON=/path/to/python3."
    "$wanted" -c "$new_enough" || fail "'$wanted' is $("$wanted" --version 2>&1), and this needs 3.11 or newer; name another: make PYTHON=/path/to/python3."
    python=$wanted
else
    python=
    for candidate in python3 python3.13 python3.12 python3.11 python3.14; do
        if runs "$candidate" && "$candidate" -c "$new_enough"; then
            python=$candidate
            break
        fi
    done
    [ -n "$python" ] || fail "no Python 3.11 or newer on the PATH; install one, or name it: make PYTHON=/path/to/python3."
fi

"$python" -c 'import venv, ensurepip' >/dev/null 2>&1 ||
    fail "$("$python" --version 2>&1) has no venv module; install it (Debian and Ubuntu: apt-get install python3-venv) or name another Python: make PYTHON=/path/to/python3."

echo "Creating $dir with $("$python" --version 2>&1)"
"$python" -m venv --clear "$dir"
