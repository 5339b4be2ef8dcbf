#!/bin/sh
# members.sh - an argument that leads from a pointer to a member has another value than the program
# has, or does not say that nothing is there.
#
#	members.sh MEMBERS
. "${TNF_SOURCE:-$(dirname "$0")/../..}/tests/imports/lib.sh"
victim=$(readlink -f "$1")

# refused WHAT ARGS: the message
refused() {
	"$prex" -k -c "import '$victim'" -c "trace name=shop.serve args '$2'" \
		>"$TMP/said" 2>&1 </dev/null && fail "taken: $2"
	grep -qF "$1" "$TMP/said" || fail "$2: $(cat "$TMP/said")"
}
control -k -c 'buffer alloc 1m'
refused 'no such member' 'name:string, o->cakes'
refused 'more than four levels' 'name:string, o->next->next->next->next->id'
refused 'bit field' 'name:string, o->cake->flag'
refused 'no such variable' 'name:string, p->id'
refused 'there is no pointer before ->' 'name:string, o->id->next'
refused 'no pointer to text' 'name:string, o->id:string'
refused 'a way to a member' 'name:string, o->'
echo "ok: members that are not there"

victim_start "$victim"
"$prex" -k >"$TMP/list" 2>&1 <<X || fail "prex -k: $(cat "$TMP/list")"
import '$victim'
trace name=shop.serve args 'name:string, o->id, o->cake->name:string, o->cake->short_name:string, o->cake->weight, o->cake->layers, o->cake->price.left, o->next->next->next->id, o->next->cake->layers'
trace function=greet args 'name:string, o->id, o->next->next->cake->name:string, o->next'
enable name=shop.serve
enable function=greet
ktrace on
X
round
extract
# event NAME TEXT: there is one with just these members.
event() {
	grep -q " $1 \{1,\}$2\$" "$TMP/text" || fail "$1: not $2 but $(grep " $1 " "$TMP/text")"
	echo "ok: $1 $2"
}
# The second order has no cake, and the record says that the last argument led nowhere.
event shop.serve 'name: "bert" o_id: -1 o_cake_name: "opera" o_cake_short_name: "op" o_cake_weight: -7 o_cake_layers: 200 o_cake_price_left: -5000000000 o_next_next_next_id: 4 o_next_cake_layers: 0 unread: 256'
event shop.serve 'name: "dora" o_id: 0 o_cake_name: 0x0        <NULL> o_cake_short_name: 0x0        <NULL> o_cake_weight: 0 o_cake_layers: 0 o_cake_price_left: 0 o_next_next_next_id: 0 o_next_cake_layers: 0 unread: 510'
event greet_entry 'name: "anna" o_id: -1 o_next_next_cake_name: "opera" o_next: 0x[0-9a-f]* unread: 0'
event greet_entry 'name: "carl" o_id: 0 o_next_next_cake_name: 0x0        <NULL> o_next: 0x0 *unread: 14'
control -k -c 'disable $all; untrace $all'
buffer_end
victim_end

# A probe that a jump could serve goes to the kernel, and says why.
[ "$(uname -m)" = x86_64 ] || exit 0
victim_start "$victim"
"$prex" -p "$pid" >"$TMP/said" 2>&1 <<'X' || fail "prex -p: $(cat "$TMP/said")"
trace function=greet args 'name:string, o->id'
list probes function=greet
enable function=greet
X
grep -q 'fast=no: only the kernel goes to members' "$TMP/said" || fail "fast: $(cat "$TMP/said")"
round
extract
event greet_entry 'name: "anna" o_id: -1 unread: 0'
buffer_end
victim_end
echo "ok: a fast probe goes to the kernel"
