#!/bin/sh
# units.sh - what systemd says of tnfwatch's units, without running them.
#
# Guards: a directive that systemd does not know or that does not go with others, which it
# would ignore; a unit for OnFailure= that does not take the name of the one that failed; a
# service that has got more rights; directories that others may look into.
. "${TNF_SOURCE:-../..}/tests/lib.sh"
scratch
need_program systemd-analyze systemd-tmpfiles
system=$(realpath "$TNF_SOURCE/tnfwatch/system") || exit 1
cd "$TMP" || exit 1

# The program need not be installed where the unit will look for it.
true=$(command -v true)
for unit in tnfwatch.service tnf-incident@.service; do
	sed "s|@TNFWATCH@|$true|" "$system/$unit.in" >"$unit" || fail "no $unit"
done
printf '[Unit]\nOnFailure=tnf-incident@%%n.service\n[Service]\nExecStart=%s\n' "$true" >shop.service
cp tnf-incident@.service tnf-incident@shop.service.service

# Its complaints about our units.
verify() { systemd-analyze verify --man=no "$@" 2>&1 | grep -E 'tnf|shop'; }
verify ./tnfwatch.service ./shop.service ./tnf-incident@shop.service.service >said
[ ! -s said ] || fail "systemd-analyze verify: $(cat said)"

# It would say so.
mkdir wrong
sed 's/^ProtectSystem=strict/ProtectSystem=stricter/; s/^NoNewPriv/NoMorePriv/' tnfwatch.service \
	>wrong/tnfwatch.service
[ "$(verify ./wrong/tnfwatch.service | grep -c .)" -ge 2 ] || skip "this systemd does not verify units"

# The name of the unit that failed is in the note.
grep -q 'fire failure --note "%i failed"' tnf-incident@.service || fail "tnf-incident@: no name"

# How much it could do: 6.7 of 10 in systemd 252, as ptrace, BPF and what belongs to them need.
systemd-analyze security --help | grep -q -- --offline || skip "this systemd does not judge units"
systemd-analyze security --offline=yes --threshold=70 --no-pager ./tnfwatch.service >said 2>&1 ||
	fail "$(tail -n 1 said)"
tail -n 1 said

# The directories, as systemd makes them; who is no root cannot give them away.
[ "$(id -u)" -eq 0 ] || exit 0
mkdir -p root/etc
printf 'root:x:0:0:root:/:/bin/sh\n' >root/etc/passwd
printf 'root:x:0:\n' >root/etc/group
systemd-tmpfiles --create --root="$TMP/root" "$system/tnf.conf" 2>said || fail "tmpfiles: $(cat said)"
for dir in var/lib/tnf run/tnf; do
	[ "$(stat -c '%a %u' "root/$dir")" = '700 0' ] || fail "$dir: $(stat -c '%a %u' "root/$dir")"
done
