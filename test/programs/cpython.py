"""CPython's own regression tests: the outcome of every single case must be the same.

The short form leaves out the cases that mostly sleep, and asyncio's, which take most of the time of the rest. A case that differs
is run again alone, under both, before it counts: a few of CPython's tests depend on timing and say so.
"""

import subprocess
import xml.etree.ElementTree

import driver

PYTHON = "/usr/bin/python3"
MODULES = ["test_json", "test_dict", "test_gc", "test_threading", "test_multiprocessing_fork", "test_asyncio", "test_capi"]
SLEEPERS = (
    "*wait_timeout *wait_integer *wait_socket_slow *poll_eintr *test_boundaries *map_no_failfast *Barrier* *resource_tracker* "
    "*TestTimeouts* *test_thread_safety *wait_result *test_many_processes *issue14725 *WithManager* *ManagerRestart* "
    "test.test_asyncio.test_ssl* test.test_asyncio.test_subprocess* test.test_asyncio.test_sendfile* test.test_asyncio.test_events* "
    "test.test_asyncio.test_sock_lowlevel* test.test_asyncio.test_taskgroups.*23"
).split()


def has(module):
    return subprocess.run([PYTHON, "-c", f"import test.{module}"], capture_output=True).returncode == 0


def suite():
    version = subprocess.run([PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True)
    return f"libpython{version.stdout.strip() or '3'}-testsuite"


def outcome(case):
    kinds = {child.tag for child in case}
    return "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else case.get("result", "completed")


def produce(world):
    modules = [module for module in MODULES if module != "test_capi" or has(module)]  # Debian leaves test_capi out
    words = [PYTHON, "-m", "test", "-j2", "--timeout", "400", "--junit-xml", "cases.xml", "-u", "none"]
    if not world.full:
        modules.remove("test_asyncio")
        for pattern in SLEEPERS:
            words += ["-i", pattern]
    world.run(*words, *modules, timeout=1200 if world.full else 400, status=None)
    try:
        cases = xml.etree.ElementTree.parse(world.path("cases.xml")).getroot().iter("testcase")
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        raise driver.Failed(f"python3 -m test wrote no report: {error}") from None
    outcomes = {case.get("name"): outcome(case) for case in cases}
    for name in [name for name, how in outcomes.items() if how == "failed"]:
        module = name.split(".")[1] if name.startswith("test.") else name
        world.run(*words[:-2], "-m", name, module, timeout=200, status=None)
        again = xml.etree.ElementTree.parse(world.path("cases.xml")).getroot().iter("testcase")
        outcomes[name] = next((outcome(case) for case in again if case.get("name") == name), "failed")
    if len(outcomes) < (1000 if world.full else 700):
        raise driver.Failed(f"only {len(outcomes)} cases ran")
    return outcomes


driver.run(
    name="cpython",
    needs=[(PYTHON, "python3"), (lambda: has("test_json"), suite())],
    serves=r"python3(\.\d+)?",
    proof=[PYTHON, "-c", "pass"],
    produce=produce,
    limit=800,
)
