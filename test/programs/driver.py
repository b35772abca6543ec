"""Runs one real program under the system's malloc and under a heap, and compares what the two runs produced.

A program's file says what it needs and what it does:

    main(name="lua", needs=[("lua5.4", "lua5.4")], serves=r"lua5\\.4", proof=["lua5.4", "-v"], produce=produce)

`produce(world)` works in an empty directory and returns a dict of results. It is called once with the system's malloc and
once for every library named on the command line; each must return the same dict. A heap counts as tested only when

  - a process of the program (its executable's name matches `serves`) was seen with the library in /proc/PID/maps, and
  - the dynamic linker bound `malloc` to the library when it started `proof`.

Exit status: 0 the same, 1 different or broken, 77 skipped because something could not be installed.
"""

import argparse
import contextlib
import ctypes
import fcntl
import itertools
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

SKIPPED = 77
SOURCES = pathlib.Path(__file__).resolve().parent / "sources"
PROJECT = pathlib.Path(__file__).resolve().parents[2]
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# What the heap says before it aborts; a program that survives the death of a child would otherwise hide it.
MISUSE = re.compile(r"polder: (double free|invalid free|misaligned free|free of a foreign|corrupted|size mismatch|misuse)")

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
libc = ctypes.CDLL(None)


class Failed(Exception):
    """The program did not do what it does on a sound heap."""


class Skipped(Exception):
    """Something the test needs cannot be had on this machine."""


# --- what is running -------------------------------------------------------------------------------------------------


def descendants():
    """The processes below this one. As the subreaper it is also the parent of every daemon they leave behind."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                stat = pathlib.Path("/proc", entry, "stat").read_text(errors="replace")
                children.setdefault(int(stat[stat.rindex(")") + 2 :].split()[1]), []).append(int(entry))
    found, left = [], [os.getpid()]
    while left:
        below = children.get(left.pop(), [])
        found += below
        left += below
    return found


def end_all_descendants():
    deadline = time.monotonic() + 10
    while (alive := descendants()) and time.monotonic() < deadline:
        for pid in alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)


class MapsWatch(threading.Thread):
    """Looks for a process of the program that has the library mapped."""

    def __init__(self, executable, library):
        super().__init__(daemon=True)
        self.executable, self.library = re.compile(executable), str(library)
        self.seen, self.stop = None, threading.Event()

    def run(self):
        pause = 0.002
        while self.seen is None and not self.stop.wait(pause):
            pause = min(pause * 1.2, 0.2)
            for pid in descendants():
                with contextlib.suppress(OSError):
                    name = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
                    maps = pathlib.Path(f"/proc/{pid}/maps")
                    if self.executable.fullmatch(name) and self.library in maps.read_text(errors="replace"):
                        self.seen = name


# --- one run of the program ------------------------------------------------------------------------------------------


class World:
    """An empty directory, an environment, and the ways to start processes in them."""

    def __init__(self, base, library, full):
        self.base, self.library, self.full = base, library, full
        self.directory, self.logs = base / "work", base / ("logs-" + (library.stem if library else "system"))
        self.account = None  # (uid, gid) to which processes drop, see unprivileged()
        for path in (self.directory, self.logs, self.directory / "tmp"):
            path.mkdir(mode=0o755)
        self.environment = {
            "PATH": SYSTEM_PATH,
            "HOME": str(self.directory),
            "TMPDIR": str(self.directory / "tmp"),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
        }
        for name in ("POLDER_OPTIONS", "DEBIAN_FRONTEND"):
            if name in os.environ:
                self.environment[name] = os.environ[name]
        if library:
            self.environment["LD_PRELOAD"] = str(library)

    def size(self, short, full):
        return full if self.full else short

    def path(self, name):
        return self.directory / name

    def write(self, name, text):
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def unprivileged(self):
        """From here on processes run as nobody when we are root, for servers that refuse to run as root."""
        if os.getuid() == 0:
            self.account = (65534, 65534)
            for path in (self.directory, self.directory / "tmp", self.logs):
                os.chown(path, *self.account)

    def _start(self, command, environment, stdin, cwd):
        """Returns the process and the file that has its stderr. The process dies with this one."""
        command = [str(word) for word in command]
        number = len(list(self.logs.glob("*.stderr")))
        error_path = self.logs / f"{number:03}-{os.path.basename(command[0])}.stderr"

        def in_child():
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        with open(error_path, "wb") as errors:
            process = subprocess.Popen(
                command,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=cwd or self.directory,
                env={**self.environment, **(environment or {})},
                user=self.account and self.account[0],
                group=self.account and self.account[1],
                extra_groups=self.account and [],
                start_new_session=True,
                preexec_fn=in_child,
            )
        return process, error_path

    def _broken(self, what, command, environment, cwd, errors):
        said = "".join("    " + line + "\n" for line in errors.read_text(errors="replace").splitlines()[-15:])
        variables = {k: v for k, v in {**self.environment, **(environment or {})}.items() if k != "DEBIAN_FRONTEND"}
        again = " ".join(f"{k}={shlex.quote(v)}" for k, v in variables.items())
        words = " ".join(shlex.quote(str(word)) for word in command)
        return Failed(f"{words}: {what}\n{said}  again: cd {cwd or self.directory} && env -i {again} {words}"[:4000])

    def run(self, *command, given=None, timeout=120, environment=None, cwd=None, status=0, text=True):
        """Runs to the end and returns stdout. Any other exit status, or no end in time, is a failure."""
        process, errors = self._start(command, environment, subprocess.PIPE if given is not None else subprocess.DEVNULL, cwd)
        try:
            output, _ = process.communicate(given.encode() if given is not None else None, timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise self._broken(f"no end after {timeout} s", command, environment, cwd, errors) from None
        if status is not None and process.returncode != status:
            raise self._broken(how_it_ended(process.returncode), command, environment, cwd, errors)
        return output.decode(errors="replace") if text else output

    @contextlib.contextmanager
    def serve(self, *command, ready, timeout=60, environment=None, ends=signal.SIGTERM, statuses=(0,), given=None):
        """Runs a server for the time of a with statement; `ready` is called until it returns without OSError."""
        process, errors = self._start(command, environment, subprocess.DEVNULL, None)
        with open(self.logs / (errors.stem + ".stdout"), "wb") as sink:
            drain = threading.Thread(target=shutil.copyfileobj, args=(process.stdout, sink), daemon=True)
            drain.start()
            try:
                deadline = time.monotonic() + timeout
                while True:
                    if process.poll() is not None:
                        raise self._broken("ended at once: " + how_it_ended(process.returncode), command, environment, None, errors)
                    with contextlib.suppress(OSError):
                        ready()
                        break
                    if time.monotonic() > deadline:
                        raise self._broken(f"not ready after {timeout} s", command, environment, None, errors)
                    time.sleep(0.02)
                try:
                    yield process
                except (OSError, EOFError) as error:  # a client lost its server
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(2)
                    how = how_it_ended(process.returncode) if process.returncode is not None else "still running"
                    raise self._broken(f"{error!r}; server: {how}", command, environment, None, errors) from None
                if process.poll() is None:
                    process.send_signal(ends)
                try:
                    process.wait(timeout)
                except subprocess.TimeoutExpired:
                    raise self._broken(f"no end {timeout} s after {ends.name}", command, environment, None, errors) from None
                if process.returncode not in statuses:
                    raise self._broken(how_it_ended(process.returncode), command, environment, None, errors)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                drain.join(5)


def how_it_ended(status):
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def loopback_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def unix_connection(path, timeout=30):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(timeout)
    connection.connect(str(path))
    return connection


# --- what must be installed ------------------------------------------------------------------------------------------


def present(probe):
    return probe() if callable(probe) else shutil.which(probe, path=SYSTEM_PATH) is not None


@contextlib.contextmanager
def no_service_starts():
    """Debian starts a server when it installs one. policy-rc.d is its way to say no."""
    policy = pathlib.Path("/usr/sbin/policy-rc.d")
    if os.getuid() != 0 or policy.exists():
        yield
        return
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)
    try:
        yield
    finally:
        policy.unlink(missing_ok=True)


def install(needs):
    """Installs the Debian packages of the probes that are absent, or says which line to type."""
    with open(os.path.join(tempfile.gettempdir(), f"polder-install-{os.getuid()}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = sorted({package for probe, package in needs if not present(probe)})
        if not missing:
            return
        line = "apt-get install -y --no-install-recommends " + " ".join(missing)
        say = f"not installed: {', '.join(missing)}; type: sudo {line}"
        if not shutil.which("apt-get"):
            raise Skipped(f"not installed: {', '.join(missing)} (there is no apt-get here)")
        rights = [] if os.getuid() == 0 else ["sudo", "-n"]
        if rights and (not shutil.which("sudo") or subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode):
            raise Skipped(say)
        apt = [*rights, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-o", "DPkg::Lock::Timeout=300", "-q"]
        print(f"  installing {', '.join(missing)}", flush=True)
        with no_service_starts():
            for words in (line.split()[1:], ["update"], line.split()[1:]):
                done = subprocess.run(apt + words, stdin=subprocess.DEVNULL, capture_output=True, timeout=900)
                if words[0] == "install" and done.returncode == 0:
                    break
        absent = sorted({package for probe, package in needs if not present(probe)})
        if absent:
            raise Skipped(f"could not install {', '.join(absent)}; type: sudo {line}")


# --- the comparison --------------------------------------------------------------------------------------------------


def bound_to(world, proof):
    """The symbols that the dynamic linker bound to the library while `proof` ran."""
    where = world.directory / "tmp" / "bindings"
    world.run(*proof, environment={"LD_DEBUG": "bindings", "LD_DEBUG_OUTPUT": str(where)}, status=None)
    line = re.compile(r"binding file \S+ \[\d+\] to " + re.escape(str(world.library)) + r" \[\d+\]: normal symbol `(\w+)'")
    symbols = set()
    for path in where.parent.glob("bindings.*"):
        symbols.update(line.findall(path.read_text(errors="replace")))
    return symbols


def one_run(base, library, full, produce, proof, serves, own_malloc, as_account):
    world = World(base, library, full)
    if as_account:
        world.unprivileged()
    watch = MapsWatch(serves, library) if library else None
    try:
        if watch:
            symbols = bound_to(world, proof)
            if "malloc" not in symbols and not own_malloc:
                raise Failed(f"malloc of {shlex.join(map(str, proof))} is not served by {library}")
            watch.start()
        results = produce(world)
        if watch:
            watch.stop.set()
            watch.join()
            if watch.seen is None:
                raise Failed(f"no process called {serves} was seen with {library} mapped")
            for log in sorted(world.logs.glob("*.std*")):
                for text in log.read_text(errors="replace").splitlines():
                    if MISUSE.match(text):
                        raise Failed(f"{log.name}: {text}")
        return results
    finally:
        if watch:
            watch.stop.set()
        end_all_descendants()


def differences(expected, got):
    """Names what differs, and of two texts the first line that does."""
    for key in sorted(expected.keys() | got.keys()):
        one, two = expected.get(key), got.get(key)
        if one == two:
            continue
        where = ""
        if isinstance(one, str) and isinstance(two, str):
            lines = list(itertools.zip_longest(one.splitlines(), two.splitlines()))
            number = next((n for n, (left, right) in enumerate(lines) if left != right), None)
            if number is not None:
                (one, two), where = lines[number], f" line {number + 1}"
        yield f"{key}{where}: {str(one)[:500]!r} under the system's malloc, {str(two)[:500]!r} here"


def put_away(base, keep, label):
    work = base / "work"
    if keep:
        work.rename(base / f"work-{label}")
    else:
        shutil.rmtree(work, ignore_errors=True)


def spent():
    """CPU seconds of all that ran so far and was waited for."""
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


def compare(arguments, base, produce, **how):
    """Prints a line a heap; returns how many failed."""
    before = spent()
    try:
        expected = one_run(base, None, arguments.full, produce, **how)
    except Failed as failure:
        print(f"  system's malloc: FAILED (so this says nothing about a heap): {failure}")
        return 1
    system_took = spent() - before
    put_away(base, arguments.keep, "system")
    failed = 0
    for number, library in enumerate(arguments.libraries):
        # A copy: it can be read by every account, and nothing that builds meanwhile can change it.
        copy = base / f"{number}" / os.path.basename(library)
        copy.parent.mkdir(mode=0o755)
        shutil.copyfile(library, copy)
        copy.chmod(0o755)
        before = spent()
        try:
            got = one_run(base, copy, arguments.full, produce, **how)
            wrong = "\n    ".join(differences(expected, got))
        except Failed as failure:
            wrong = str(failure)
        took = f"{spent() - before:.1f} s of CPU, system's malloc {system_took:.1f}"
        note = " (brings a malloc of its own: the heap was loaded, not used)" if how["own_malloc"] else ""
        print(f"  {copy.name}: FAILED: {wrong}" if wrong else f"  {copy.name}: same{note}, {took}", flush=True)
        failed += bool(wrong)
        put_away(base, arguments.keep, copy.stem)
    return failed


def main(name, needs, serves, proof, produce, prepare=None, own_malloc=False, as_account=False, limit=280):
    parser = argparse.ArgumentParser(description=f"{name} under the system's malloc and under heaps")
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY.so")
    parser.add_argument("--full", action="store_true", help="the long form")
    parser.add_argument("--keep", action="store_true", help="leave the directory and name it")
    parser.add_argument("--install", action="store_true", help="only install what the program needs")
    arguments = parser.parse_args()
    arguments.full = arguments.full or os.environ.get("POLDER_TEST_FULL") == "1"
    arguments.libraries = [os.path.abspath(library) for library in arguments.libraries]
    absent = [library for library in arguments.libraries if not os.path.isfile(library)]
    if absent or not (arguments.libraries or arguments.install):
        parser.error(f"no such library: {', '.join(absent)}" if absent else "name a library")

    def ended(number, _):
        raise Failed(f"stopped by {signal.Signals(number).name} after {time.monotonic() - began:.0f} s")

    began = time.monotonic()
    base = None
    try:
        print(f"{name}:", flush=True)
        install(needs)
        if arguments.install:
            return 0
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
        for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, ended)
        signal.alarm(limit * (10 if arguments.full else 1) * max(1, len(arguments.libraries)))
        base = pathlib.Path(tempfile.mkdtemp(prefix=f"polder-{name}-"))
        base.chmod(0o755)
        if prepare:
            prepare(base)
        how = dict(proof=proof(base) if callable(proof) else proof, serves=serves, own_malloc=own_malloc, as_account=as_account)
        return 1 if compare(arguments, base, produce, **how) else 0
    except Skipped as reason:
        print(f"  SKIPPED: {reason}")
        return SKIPPED
    except Failed as failure:
        print(f"  FAILED: {failure}")
        return 1
    finally:
        signal.alarm(0)
        if base:
            end_all_descendants()
            if arguments.keep:
                print(f"  kept: {base}")
            else:
                shutil.rmtree(base, ignore_errors=True)
        sys.stdout.flush()


def run(**how):
    sys.exit(main(**how))
