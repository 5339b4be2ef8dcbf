#!/usr/bin/python3
# Guards: a row of the five systems that TNF descends from, or a wish of today's users, that worked
# once, and works no more.
#
# rows.py SOURCE BUILD user|kernel [ROW...]
#
# rows.ini is the table: a section for each row.
#	row	what the other system could do, or what was wished for
#	state	works		"run" succeeds and prints what "shows" (a regular expression) matches
#		instead		TNF does something else: "page" says so, in the sentence "says"
#		not here	this machine cannot try it: "why"
#		open		not built yet
#	run	a script of sh(1), in a directory with the recordings of [setup user]
#	needs	a condition of sh(1) for a row that works: where it fails, "why" says what is missing
#	kernel	yes: "run" needs the kernel's probes
# A row that works may have a sentence as well.
#
# Commands find the tools in PATH; $PID is a bakery that runs, $I are cc's options for headers,
# $S the source, $B the build, $G a trace of the original kernel.
import configparser, glob, os, re, shutil, subprocess, sys, tempfile

SOURCE, BUILD, PART = sys.argv[1:4]
HERE = os.path.dirname(os.path.realpath(__file__))
STATES = ("works", "instead", "not here", "open")
LIMIT = 120 * int(os.environ.get("TNF_SLOW", "1"))	# seconds; for hangs, not for load


def read_table():
    table = configparser.ConfigParser(interpolation=None, delimiters="=", comment_prefixes="#", strict=True)
    table.optionxform = str
    with open(HERE + "/rows.ini") as f:
        table.read_file(f)
    return table


def environment(directory):
    env = dict(os.environ, TMPDIR=directory, HOME=directory, S=SOURCE, B=BUILD, TZ="UTC", LC_ALL="C.UTF-8",
               I="-I%s/include -I%s/include" % (SOURCE, BUILD), G=SOURCE + "/tests/golden/traces/kern_live.lp64.tnf",
               LD_LIBRARY_PATH=BUILD + "/libtnfprobe")
    tools = ["prex", "tnfdump", "tnfxtract", "tnfwatch", "examples", "tests/rows", "tests/kernel"]
    env["PATH"] = ":".join([BUILD + "/" + t for t in tools] + [env["PATH"], "/usr/sbin", "/sbin"])
    for name in "XDG_CONFIG_HOME", "TNF_ENABLE", "TNF_FILE", "TNF_SIZE", "TNF_WATCH":
        env.pop(name, None)
    return env


def run(script, env, cwd):
    """The status and what was printed; a script that hangs is ended with all that it started."""
    with tempfile.TemporaryFile("w+", errors="replace") as out:
        with subprocess.Popen(["sh", "-c", script], env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out,
                              stderr=subprocess.STDOUT, start_new_session=True) as p:
            try:
                status = p.wait(LIMIT)
            except subprocess.TimeoutExpired:
                os.killpg(p.pid, 9)
                status = "no end in %d s" % LIMIT
        out.seek(0)
        return status, out.read()


def plain(page):
    """The text of a page, with single blanks."""
    path = SOURCE + "/man/" + page
    text = subprocess.run(["mandoc", "-Tutf8", path], stdout=subprocess.PIPE, text=True, check=True).stdout \
        if re.search(r"\.\d$", page) else open(SOURCE + "/" + page).read()
    return re.sub(r"\s+", " ", re.sub(".\b", "", text).replace("‐", "-").replace("’", "'").replace("‘", "'"))


def sentence_is_missing(row):
    return "says" in row and re.sub(r"\s+", " ", row["says"]) not in plain(row["page"]) and \
        "%s does not say: %s" % (row["page"], row["says"])


def try_row(row, env, cwd):
    """What is wrong with it, or what it shows."""
    wrong = sentence_is_missing(row)
    if wrong or "run" not in row:
        return wrong, row.get("says", "")
    with tempfile.TemporaryDirectory(dir=cwd) as own:
        for path in glob.glob(cwd + "/*.tnf"):
            os.symlink(path, own + "/" + os.path.basename(path))
        status, text = run(row["run"], env, own)
    found = re.search(row["shows"], text, re.M)
    if status != 0 or not found:
        return "status %s, %s expected of: %s; it printed:\n%s" % (status, row["shows"], row["run"], text[-1500:]), ""
    return None, text[found.start():].split("\n")[0][:100]


def main():
    table = read_table()
    asked = sys.argv[4:]
    rows = [name for name in table.sections() if not name.startswith("setup ")]
    for name in rows:
        row = table[name]
        need = {"works": "run", "instead": "says", "not here": "why", "open": "row"}
        if row.get("state") not in STATES or need[row["state"]] not in row:
            sys.exit("%s: state or %s is missing" % (name, need.get(row.get("state"), "state")))
    mine = [name for name in rows if (PART == "kernel") == (table[name].get("kernel") == "yes")]
    mine = [name for name in mine if not asked or name in asked]
    directory = tempfile.mkdtemp(prefix="tnf-rows.")
    env = environment(directory)
    bakery = subprocess.Popen(["bakery", "-s", "100000"], env=env, cwd=directory, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL) if PART == "user" else None
    env["PID"] = str(bakery.pid) if bakery else ""
    count, failed = dict.fromkeys(STATES, 0), []
    try:
        status, text = run(table["setup " + PART]["run"], env, directory)
        if status != 0:
            sys.exit("FAIL: setup: status %s\n%s" % (status, text))
        for name in mine:
            row = table[name]
            state, wrong, shown = row["state"], None, row.get("why", "")
            if "needs" in row and run(row["needs"], env, directory)[0] != 0:
                state = "not here"
            elif state in ("works", "instead"):
                wrong, shown = try_row(row, env, directory)
            count[state] += 1
            print("%s: %s: %s: %s: %s" % ("FAIL" if wrong else "ok", name, state, row["row"], wrong or shown),
                  flush=True)
            failed += [name] if wrong else []
    finally:
        if bakery:
            bakery.kill()
            bakery.wait()
        shutil.rmtree(directory, ignore_errors=True)
    print("%d rows of %d: %s; failed: %s" % (len(mine), len(rows), ", ".join(
        "%s %d" % pair for pair in count.items()), ", ".join(failed) or "none"))
    return 1 if failed else 0


sys.exit(main())
