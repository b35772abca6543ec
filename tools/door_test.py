"""The front door's own words: nearest names, choosing tests, packages. Nothing here builds or installs."""

import re
import subprocess
import sys

import pytest

from tree import ROOT

LESSONS = sorted(p.name for p in (ROOT / "docs/course").iterdir() if p.is_dir())


def sh(text, *words):
    parts = "".join(f'. "$root/tools/door/{part}.sh"\n' for part in ("say", "packages", "build", "python", "run", "test", "teach"))
    return subprocess.run(["sh", "-euc", f"root={ROOT}\n{parts}{text}", "sh", *words], capture_output=True, text=True, timeout=30)


@pytest.mark.parametrize(("word", "said"), [
    ("compar", "; did you mean compare?"),
    ("tset", "; did you mean test?"),
    ("comp", "; did you mean compare?"),
    ("zzzzzzzz", "; there is: compare, run, test"),
])
def test_nearest(word, said):
    assert sh('nearest "$@"', word, "test", "run", "compare").stdout == said


LISTING = "release fork.churn@polder\nrelease fork.churn@other\nrelease unit.mem\nasan unit.mem\n"


@pytest.mark.parametrize(("names", "chosen"), [
    ([], LISTING.splitlines()),
    (["unit"], ["release unit.mem", "asan unit.mem"]),
    (["fork.churn"], ["release fork.churn@polder", "release fork.churn@other"]),
    (["@other", "fork.churn@other"], ["release fork.churn@other"]),
])
def test_choosing(tmp_path, names, chosen):
    (tmp_path / "list").write_text(LISTING)
    assert sh('choose_tests "$@"', str(tmp_path / "list"), *names).stdout.splitlines() == chosen


@pytest.mark.parametrize(("names", "chosen"), [
    ([], ["release fork.churn@polder", "release unit.mem", "asan unit.mem"]),
    (["fork"], ["release fork.churn@polder"]),
    (["fork.churn"], ["release fork.churn@polder", "release fork.churn@other"]),
    (["@other"], ["release fork.churn@other"]),
])
def test_what_is_long_is_left_out_unless_it_is_named(tmp_path, names, chosen):
    (tmp_path / "list").write_text(LISTING)
    (tmp_path / "list.long").write_text("release fork.churn@other\n")
    assert sh('choose_tests "$@"', str(tmp_path / "list"), *names).stdout.splitlines() == chosen


@pytest.mark.parametrize(("words", "said"), [
    ([], "release model asan tsan , "), (["--full"], "release model asan ubsan tsan , 1"),
    (["--full", "--preset", "clang", "unit"], "clang, 1"),
])
def test_the_full_form_has_more(words, said):
    stubs = '. "$root/tools/door/test.sh"; need_packages() { echo "$presets, ${POLDER_TEST_FULL-}"; exit 0; }\n'
    assert sh("unset POLDER_TEST_FULL\n" + stubs + 'door_test "$@"', *words).stdout.rstrip("\n") == said


def test_a_suite_has_what_carries_its_label(tmp_path):
    (tmp_path / "build/model").mkdir(parents=True)
    (tmp_path / "build/model/CTestTestfile.cmake").write_text("")
    (tmp_path / "list").write_text("release unit.mem\nmodel model.inbox\nmodel model.span\nmodel proof.promela\n")
    stub = 'root=$1; shift; ctest() { echo "  Test #1: model.inbox"; echo "  Test #9: model.elsewhere"; }\n'
    run = sh(stub + 'choose_tests "$@"', str(tmp_path), str(tmp_path / "list"), "proof")
    assert run.stdout.splitlines() == ["model proof.promela", "model model.inbox"]


@pytest.mark.parametrize(("names", "presets"), [
    ([], []), (["unit"], []), (["fuzz.trace", "unit"], ["fuzz"]), (["proof", "fuzz"], ["fuzz", "coverage"]),
    (["proof.coverage"], ["coverage"]), (["proof.promela"], []),
])
def test_what_is_only_run_when_asked_for(names, presets):
    assert sh('presets_of_suites "$@"', *names).stdout.split() == presets


def test_presets_are_listed_one_by_one():
    stubs = '. "$root/tools/door/test.sh"; need_packages() { echo $presets; exit 0; }\n'
    assert sh(stubs + 'door_test "$@"', "proof").stdout == "release model asan tsan fuzz coverage\n"


@pytest.mark.parametrize("words", [["--list", "--preset", "asan", "fork", "@a b"], ["fork", "@a b", "--list", "--preset=asan"],
                                   ["fork", "--preset", "asan", "@a b", "--list"]])
def test_options_of_a_test_stand_where_they_like(words):
    stubs = 'need_packages() { for word in "$only_list" "$presets" "$@"; do echo "$word"; done; exit 0; }\n'
    stubs += 'packages_of_suites() { printf "<%s>" "$@" | tr " " _; }\n'
    told = sh(stubs + 'door_test "$@"', *words).stdout.split()
    assert [told[0], told[1], told[-1]] == ["yes", "asan", "<fork><@a_b>"]


def test_a_requirement_or_a_heap_that_there_is_not_is_answered_with_those_there_are(tmp_path):
    (tmp_path / "build/release").mkdir(parents=True)
    (tmp_path / "build/release/CTestTestfile.cmake").write_text("")
    (tmp_path / "list").write_text(LISTING + "release zero.calloc@other\nrelease zero.calloc@polder\nrelease unit.heap@1\nrelease unit.mem@1\nrelease fork.it@1\n")
    stub = 'root=$1; shift; ctest() { [ "$1" = -N ] || printf "All Labels:\\n  fork\\n  req-10\\n  req-2\\n"; }\n'
    for name, said in (("req-99", "no requirement 'req-99' has a test; there is: req-2, req-10"),
                       ("req-x", "no requirement 'req-x' has a test; there is: req-2, req-10"),
                       ("@nope", "no heap '@nope' has a test; there is: @other, @polder"),
                       ("@poldr", "no heap '@poldr' has a test; did you mean @polder?")):
        run = sh(stub + 'choose_tests "$@"', str(tmp_path), str(tmp_path / "list"), name)
        assert (run.returncode, run.stdout, run.stderr) == (1, "", f"polder: {said}\n")


def test_a_name_that_means_nothing(tmp_path):
    (tmp_path / "list").write_text(LISTING)
    run = sh('choose_tests "$@"', str(tmp_path / "list"), "unit", "frok")
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == "polder: no test 'frok'; did you mean fork?\n"


@pytest.mark.parametrize(("name", "said"), [("thesis-3.5", "builds"), ("thesis-4.3", "builds"), ("scalloc-8b", "reads")])
def test_a_figure_that_is_recorded_needs_the_workloads(name, said):
    stubs = '. "$root/tools/door/hand_over.sh"; need_build() { echo builds; exit 0; }; need_python() { echo reads; exit 0; }\n'
    assert sh(stubs + 'hand_over figure "$1"', name).stdout.split() == [said]


@pytest.mark.parametrize("words", [["--variant", "asan"], ["--heap", "polder-asan"]])
def test_a_variant_is_built_when_it_is_asked_for(words):
    stubs = '. "$root/tools/door/run.sh"; need_packages() { :; }; need_build() { echo "$@"; exit 0; }\n'
    assert sh(stubs + 'door_run "$@"', *words, "--", "true").stdout == "release polder_variant_asan polder-launch\n"


@pytest.mark.parametrize(("names", "targets"), [
    (["selfie.corpus@accept", "selfie.corpus@reject", "selfie.atoi@listing"], ["test.selfie.atoi", "test.selfie.corpus"]),
    (["selfie.corpus@accept", "unit.mem"], ["test.selfie.corpus", "test.unit.mem"]),
    (["fork.churn@polder", "unit.mem"], ["polder_heaps", "test.fork.churn", "test.unit.mem"]),
    (["selfie.corpus@accept", "python.lab"], ["all"]),
])
def test_what_is_built_for_a_test(tmp_path, names, targets):
    (tmp_path / "build/release").mkdir(parents=True)
    (tmp_path / "build/release/build.ninja").write_text("".join(
        f"build {t}: phony\n" for t in ("polder_heaps", "test.fork.churn", "test.selfie.atoi", "test.selfie.corpus", "test.unit.mem")))
    assert sh('root=$1; shift; targets_of release "$@"', str(tmp_path), *names).stdout.split() == targets


def test_a_build_that_cannot_be_written_is_told_in_one_line(tmp_path):
    said = f"polder: something has to be built, and {tmp_path}/build cannot be written\n"
    (tmp_path / "build").write_text("no folder")
    done = sh("root=$1; lock_build", str(tmp_path))
    assert (done.returncode, done.stderr) == (2, said)
    (tmp_path / "build").unlink()
    (tmp_path / "build/.lock").mkdir(parents=True)  # which root cannot write either
    done = sh("root=$1; lock_build", str(tmp_path))
    assert (done.returncode, done.stderr) == (2, said)


# A toolchain that builds nothing; the first build meets an installation by another call.
TOOLCHAIN = """root=$1; need_toolchain() { cmake=fake; }
missing_of() { echo a; }; install_packages() { :; }
fake() {
  echo "$1" >>"$root/calls"
  if [ "$1" = --build ] && [ $(grep -c build "$root/calls") = 1 ]; then (need_packages a); fi
}
"""


def test_packages_that_another_call_installs_end_no_build(tmp_path):
    done = sh(TOOLCHAIN + "need_build release all; need_build release all", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "calls").read_text().split() == ["--preset", "--build"] * 2
    assert "packages were installed meanwhile: once more" in done.stderr
    assert [file.name.count(".") for file in (tmp_path / "build/release").glob(".built.*")] == [3]  # and none that ends in .begun


def test_no_test_at_all(tmp_path):
    (tmp_path / "list").write_text("")
    assert sh('choose_tests "$@"', str(tmp_path / "list")).returncode == 1


def test_a_package_list_has_comments(tmp_path):
    (tmp_path / "packages").write_text("# of Debian\na|b  # or b\n\nc\n")
    assert sh('packages_in "$1"', str(tmp_path / "packages")).stdout.split() == ["a|b", "c"]


# Of `kernel` there is only a package that names another; of `emulator` none at all.
APT = {
    "apt-cache": 'case "$*" in "show linux-image-x") ;; "depends linux-image-x") '
    'printf "linux-image-x\\n  Depends: linux-image-6-x\\n  Depends: linux-base\\n" ;; *) exit 100 ;; esac',
    "apt-get": '[ "$*" = "download linux-image-6-x" ] && echo kernel >linux-image-6-x.deb',
    "dpkg-deb": '[ "$1" = -x ] && mkdir -p "$3/boot" && cp "$2" "$3/boot/vmlinuz-6-x"',
}


def test_a_package_is_unpacked_and_not_installed(tmp_path):
    for name, text in APT.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    run = sh('PATH=$1:$PATH; root=$1; may_be_root() { return 1; }; need_unpacked kernel "linux-image-y|linux-image-x"; '
             'need_unpacked emulator none', str(tmp_path))
    assert (run.returncode, run.stdout) == (0, "")
    assert run.stderr.splitlines() == [
        "polder: unpacking linux-image-x in build/unpacked …",
        "polder: unpacking none in build/unpacked …",
        "polder: none could not be had (log: build/unpacked/log)",
    ]
    unpacked = tmp_path / "build/unpacked"
    assert sorted(p.name for p in unpacked.iterdir()) == ["kernel", "log"]
    assert (unpacked / "kernel/boot/vmlinuz-6-x").read_text() == "kernel\n"
    assert list((unpacked / "kernel").iterdir()) == [unpacked / "kernel/boot"]


@pytest.mark.parametrize("ends", ["exit 0", "exit 100", 'kill -INT "$PPID"; exit 130'])
def test_however_an_installation_ends_daemons_start_again(tmp_path, ends):
    (tmp_path / "build").mkdir()
    (tmp_path / "apt-get").write_text(f'#!/bin/sh\n[ -x "{tmp_path}/policy" ] && echo none starts\n{ends}\n')
    (tmp_path / "apt-get").chmod(0o755)
    run = sh('PATH=$1:$PATH; root=$1; as_root=; policy=$1/policy; apt_install a || echo "status $?"', str(tmp_path))
    status = ends.split()[-1]
    assert run.stdout.splitlines() == ["none starts", *([f"status {status}"] if status != "0" else [])]
    assert not (tmp_path / "policy").exists()


@pytest.mark.parametrize(("arguments", "said"), [
    (["compar"], "no command 'compar'; did you mean compare?"),
    (["run"], "run: what?"),
    (["run", "--hep", "x"], "no option '--hep'; did you mean --heap?"),
    (["run", "--variant", "valgrnd", "true"], "no variant 'valgrnd'; did you mean valgrind?"),
    (["run", "--variant", "nosuch", "--heap", "michael", "true"], "a variant is of the flagship"),
    (["test", "--lst"], "no option '--lst'; did you mean --list?"),
    (["test", "--preset", "relase"], "no preset 'relase'; did you mean release?"),
    (["run", "--heap", "glibc", "--", "true"], "run: no heap 'glibc'; a program has the C library's malloc without ./polder run"),
    (["run", "--heap=system", "true"], "run: no heap 'system'; a program has the C library's malloc without ./polder run"),
    (["teach", "0"], f"no lesson '0'; there is: 1 to {len(LESSONS)}"),
    (["teach", "01"], f"no lesson '01'; there is: 1 to {len(LESSONS)}"),
    (["teach", "99"], f"no lesson '99'; there is: 1 to {len(LESSONS)}"),
    (["teach", "check"], "teach check: which lesson?"),
    (["teach", "check", "1", "2"], "teach check: one lesson, and nothing behind it: '2'"),
    (["teach", "1", "check"], "teach: one lesson, and nothing behind it: 'check'"),
    (["teach", "--all"], "teach: no option '--all'"),
    (["teech", "1"], "no command 'teech'; did you mean teach"),
])
def test_wrong_words_at_the_door(arguments, said):
    run = subprocess.run([ROOT / "polder", *arguments], capture_output=True, text=True, timeout=30)
    assert run.returncode == 2
    assert said in run.stderr


def test_a_heap_is_what_the_registry_has(tmp_path):
    """The recorder of traces is a libpolder-NAME.so too."""
    build = tmp_path / "build/release"
    for name in ("bin", "lib"):
        (build / name).mkdir(parents=True)
    for name in ("", "-michael", "-trace"):
        (build / f"lib/libpolder{name}.so").touch()
    registry = build / "bin/polder-registry"
    registry.write_text("""#!/bin/sh
printf '{"heaps":[\\n  {"name":"polder","options":[{"name":"reuse"}]},\\n  {"name":"michael"},\\n  {"name":"absent"}\\n]}\\n'
""")
    registry.chmod(0o755)
    run = sh('root=$1; shift; for heap; do heap_library "$heap" || printf none; echo; done', str(tmp_path),
             "polder", "michael", "trace", "absent", "polder ")
    assert run.stdout.split("\n") == [f"{build}/lib/libpolder.so", f"{build}/lib/libpolder-michael.so", "none", "none", "none", ""]


def test_the_laboratory_reads_and_writes_utf_8_whatever_the_locale(tmp_path):
    laboratory = tmp_path / "lab/polder_lab"
    laboratory.mkdir(parents=True)
    (laboratory / "word").write_text("8 \N{MULTIPLICATION SIGN} 2", encoding="utf-8")
    (laboratory / "__main__.py").write_text("print(open(__file__.replace('__main__.py', 'word')).read())")
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to(sys.executable)
    run = sh('. "$root/tools/door/hand_over.sh"; need_build() { :; }; need_python() { :; }; root=$1\n'
             "export LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0; hand_over explain", str(tmp_path))
    assert (run.stdout, run.stderr) == ("8 \N{MULTIPLICATION SIGN} 2\n", "")


def test_lessons_are_found_by_their_number():
    run = sh('for n; do lesson $n; echo; done', *(str(n + 1) for n in range(len(LESSONS))))
    assert run.returncode == 0 and run.stdout.split() == LESSONS
    assert sh('lesson_number "$1"', "08-a-race").stdout == "8"


def test_a_lesson_is_there_when_its_folder_is(tmp_path):
    for n in range(1, 12):
        (tmp_path / f"docs/course/{n:02}-x").mkdir(parents=True)
    run = sh('root=$1; lesson 11; lesson 12', str(tmp_path))
    assert (run.returncode, run.stdout, run.stderr) == (2, "11-x", "polder: no lesson '12'; there is: 1 to 11\n")


def test_the_lessons_have_titles():
    listed = sh("list_lessons").stdout.splitlines()
    assert [line.split(".")[0] for line in listed[:len(LESSONS)]] == [str(n + 1) for n in range(len(LESSONS))]


def test_an_exercise_is_kept_and_judged(tmp_path):
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    (tmp_path / "build").mkdir()
    stubs = 'root=$1; need_selfie() { :; }; on_selfie() { set -- $(sed -n "s/^status //p" "$root/build/course/$1.c") 1; return "$1"; }\n'
    refused = sh(stubs + "door_teach check 1", str(tmp_path))
    assert refused.returncode == 2 and "./polder teach 1" in refused.stderr
    shown = sh(stubs + "door_teach 1", str(tmp_path))
    assert shown.returncode == 0 and "# 1. A pointer" in shown.stdout
    assert re.search(r"^== the program: cd selfie && ../build/selfie/selfie -c .*01-a-pointer/program.c -m 1$", shown.stdout, re.MULTILINE)
    exercise = tmp_path / "build/course/01-a-pointer.c"
    assert exercise.read_text() == (ROOT / "docs/course/01-a-pointer/exercise.c").read_text()
    assert sh(stubs + "door_teach check 1", str(tmp_path)).returncode == 1
    exercise.write_text("status 100")
    assert sh(stubs + "door_teach 1", str(tmp_path)).returncode == 0
    assert exercise.read_text() == "status 100"
    judged = sh(stubs + "door_teach check 1", str(tmp_path))
    assert judged.returncode == 0 and "lesson 1: that is it" in judged.stderr
    exercise.write_text("status 0")
    ended = sh(stubs + "door_teach check 1", str(tmp_path))
    assert ended.returncode == 1 and "the program ended before its check did" in ended.stderr


def test_a_loop_without_an_end_is_named(tmp_path):
    """By a machine that is as patient as it is told: it has a loop of its own."""
    (tmp_path / "selfie").mkdir()
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    for folder, name, text in (("selfie", "selfie", "#!/bin/sh\nwhile :; do :; done\n"), ("course", "01-a-pointer.c", "")):
        (tmp_path / "build" / folder).mkdir(parents=True)
        (tmp_path / "build" / folder / name).write_text(text)
    (tmp_path / "build/selfie/selfie").chmod(0o755)
    judged = sh('root=$1; need_selfie() { :; }; patience=1; door_teach check 1', str(tmp_path))
    assert judged.returncode == 1
    assert judged.stderr == "polder: lesson 1: not yet; after 1 s it had no end: is there a loop without one?\n"


def test_a_lesson_runs_where_a_folder_has_a_space_in_its_name(tmp_path):
    root = tmp_path / "my | polder"
    (root / "selfie").mkdir(parents=True)
    (root / "docs").symlink_to(ROOT / "docs")
    program = root / "build/selfie/selfie"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"; cat "$3"; exit 100\n')
    program.chmod(0o755)
    stubs = "root=$1; need_selfie() { :; }; "
    sh(stubs + "door_teach 1", str(root))
    exercise = root / "build/course/01-a-pointer.c"
    exercise.write_text("what one has written\n")
    judged = sh(stubs + "door_teach check 1", str(root))
    assert judged.returncode == 0 and judged.stdout.splitlines()[-1] == "what one has written"


@pytest.mark.parametrize(("names", "targets"), [
    (["python.lab", "unit.ds@1"], ["all", "polder_long"]), (["python.lab", "unit.mem"], ["all"]),
    (["python.lab", "zero.calloc@polder"], ["all"]),
])
def test_what_the_short_form_leaves_out_is_built_when_it_is_named(tmp_path, names, targets):
    (tmp_path / "build/release").mkdir(parents=True)
    (tmp_path / "build/release/build.ninja").write_text("build polder_long: phony\n")
    stub = 'root=$1; shift; ctest() { echo "  Test #1: unit.ds@1"; echo "  Test #2: zero.calloc@michael"; }\n'
    assert sh(stub + 'targets_of release "$@"', str(tmp_path), *names).stdout.split() == targets


def test_what_failed_is_said_again_at_the_end(tmp_path):
    log = tmp_path / "build/tsan/Testing/Temporary/LastTest.log"
    log.parent.mkdir(parents=True)
    log.write_text("""1/4 Test: unit.heap@1
[ RUN      ] lab.is_one
lab_test.cpp:9: Failure
[  FAILED  ] lab.is_one (3 ms)
[  FAILED  ] 1 test, listed below:
[  FAILED  ] lab.is_one
Test Failed.
2/4 Test: unit.mem
[ RUN      ] arena.is_one
SUMMARY: ThreadSanitizer: data race arena.cpp:3 in take
SUMMARY: ThreadSanitizer: data race arena.cpp:3 in take
[       OK ] arena.is_one
[ RUN      ] arena.is_two
Test Failed.
3/4 Test: unit.os
[ RUN      ] pages.are_none
[  SKIPPED ] pages.are_none
Test Failed.
4/4 Test: misuse.table
panic: double free, as it should be
Test Passed.
""")
    run = sh("root=$1; what_failed tsan; what_failed asan", str(tmp_path))  # the second has no log
    assert run.stderr == ""
    assert run.stdout.splitlines() == [
        "unit.heap@1: lab_test.cpp:9: Failure", "unit.heap@1: [  FAILED  ] lab.is_one",
        "unit.mem: SUMMARY: ThreadSanitizer: data race arena.cpp:3 in take", "unit.mem: ended in arena.is_two",
    ]
