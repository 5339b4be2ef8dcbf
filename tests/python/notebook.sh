#!/bin/sh
# Guards: a cell of examples/notebook/slow.ipynb that fails or draws nothing, a notebook that was
# committed without what it draws.
# usage: notebook.sh PYTHON [OUT]	OUT gets the notebook of this run
. "${TNF_SOURCE:-../..}/tests/lib.sh"
"$1" -c 'import matplotlib, nbclient, ipykernel, pandas' 2>/dev/null ||
	skip "python3-matplotlib, python3-nbclient, python3-ipykernel or python3-pandas is not there"
need_kernel
scratch
cd "$TMP" || exit 1
export HOME="$TMP" PYTHONWARNINGS=ignore PYDEVD_DISABLE_FILE_VALIDATION=1
PATH=$TNF_BUILD/examples:$TNF_BUILD/prex:$TNF_BUILD/tnfdump:$TNF_BUILD/tnfxtract:$PATH
notebook=$TNF_SOURCE/examples/notebook/slow.ipynb

sh "$TNF_SOURCE/examples/slow.sh" lock >log 2>&1 9>&- || fail "slow.sh: $(cat log)"
"$1" "$TNF_SOURCE/tests/python/notebook.py" "$notebook" "${2:-out.ipynb}" >told 2>err 9>&- || fail "$(tail -40 err)"
grep -qx '5 pictures, 4 tables and texts' told || fail "drawn: $(cat told)"
# Only this thread can wake the others from the lock: it is in the fourth picture's table.
grep -q '<td>logger</td>' "${2:-out.ipynb}" || fail "nobody was woken by logger"
[ "$(grep -c '"image/png": "[A-Za-z0-9+/=\\n]\{5000,\}"' "$notebook")" = 5 ] || fail "$notebook: not five pictures"
cat told
