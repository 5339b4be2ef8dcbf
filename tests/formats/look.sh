#!/bin/sh
# look.sh - pages of tnfdump --to html as people see them: pictures of a small and a large
# window, light and dark, and what a printer gets.  Run by hand, to look at them.
# usage: look.sh OUT PAGE...       PAGE may be PATH#t=FROM,TO&e=EVENT, as the Link button says
set -u
[ $# -ge 2 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
out=$1
shift
mkdir -p "$out" || exit 1
HOME=$(mktemp -d) && export HOME || exit 1
trap 'rm -rf "$HOME"' EXIT

# browser OPTION... URL: one page, drawn, without a network's background noise
browser()
{
	chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-sync \
		--disable-background-networking --disable-component-update --hide-scrollbars \
		--virtual-time-budget=20000 --run-all-compositor-stages-before-draw \
		"$@" 2>"$HOME/err" || { cat "$HOME/err" >&2; exit 1; }
}

for page; do
	path=${page%%#*} at=
	[ "$path" = "$page" ] || at="#${page#*#}"
	url=file://$(realpath "$path")$at
	name=$(basename "$path" .html)
	for size in 1280x800 2560x1440; do
		window=$(echo $size | tr x ,)
		browser --screenshot="$out/$name-light-$size.png" --window-size="$window" "$url"
		browser --screenshot="$out/$name-dark-$size.png" --window-size="$window" \
			--blink-settings=preferredColorScheme=0 "$url"
	done
	browser --print-to-pdf="$out/$name.pdf" --no-pdf-header-footer "$url"
	command -v pdftoppm >/dev/null && pdftoppm -r 60 -png "$out/$name.pdf" "$out/$name-print"
done
ls "$out"
