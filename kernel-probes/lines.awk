# lines.awk - where each kernel probe is written: LINE_name, from the sources.
match($0, /EVENT\([a-zN]+[A-Z]*, &hit, [A-Z_]+,|EVENT_BY\([a-z]+, &hit, [a-z]+, [A-Z_]+,|WRITES\([A-Z_]+\)|BATCH_EVENT\(&b, at, [A-Z_]+\)|_(event|begin)\((&hit, )?KP_[A-Z_]+,|btf\(\), KP_[A-Z_]+,/) {
	name = substr($0, RSTART, RLENGTH - 1)
	sub(/.*[ (]/, "", name)
	sub(/^KP_/, "", name)
	if (!(name in seen))
		printf "#define LINE_%s %d\n", name, FNR
	seen[name] = 1
}
