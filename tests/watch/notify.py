#!/usr/bin/env python3
"""Guards: a service manager that is not told when tnfwatch is ready, that it lives, that it
reads its configuration again and that it ends.  notify.py TNFWATCH"""
import os
import signal
import socket
import subprocess
import sys
import tempfile

PATIENCE = 120


class Manager:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.settimeout(PATIENCE)

    def wait_for(self, word, log):
        """What is told before it; fails when it does not come."""
        before = []
        while True:
            try:
                text = self.socket.recv(4096).decode()
            except socket.timeout:
                sys.exit(f"FAIL: no {word}: {before} {open(log).read()}")
            if word in text.split("\n"):
                return before, text
            before.append(text)


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as t:
        conf, log, path = t + "/watch.conf", t + "/log", t + "/notify"
        with open(conf, "w") as f:
            f.write(f"[watch]\ndirectory = {t}/kept\nrun = {t}/run\n"
                    "[process none]\nprogram = /nonexistent/program\nenable = x\n"
                    "[trigger hand]\n")
        for address in (path, "@" + path):
            m = Manager(path if address[0] == "/" else "\0" + path)
            env = dict(os.environ, NOTIFY_SOCKET=address, WATCHDOG_USEC="400000")
            env.pop("WATCHDOG_PID", None)
            with open(log, "w") as out:
                p = subprocess.Popen([program, "-c", conf], env=env, stderr=out)
            try:
                before, _ = m.wait_for("READY=1", log)
                if any("STOPPING" in b for b in before):
                    sys.exit(f"FAIL: before it is ready: {before}")
                m.wait_for("WATCHDOG=1", log)
                m.wait_for("WATCHDOG=1", log)
                p.send_signal(signal.SIGHUP)
                _, text = m.wait_for("RELOADING=1", log)
                if "MONOTONIC_USEC=" not in text:
                    sys.exit(f"FAIL: no time of the reload: {text}")
                m.wait_for("READY=1", log)
                p.send_signal(signal.SIGTERM)
                m.wait_for("STOPPING=1", log)
                if p.wait(PATIENCE) != 0:
                    sys.exit(f"FAIL: exit status {p.returncode}: {open(log).read()}")
            finally:
                if p.poll() is None:
                    p.kill()
                    p.wait()
    print("READY, WATCHDOG, RELOADING, STOPPING: told")


main()
