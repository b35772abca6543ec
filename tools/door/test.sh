# test — builds what the tests need and runs them with ctest, whose own closing lines are what is printed last.
#
# A test lives in one or more presets: everything in release, models in model, and the white-box tests under the
# sanitizers and with all assertions again (asan is for undefined behaviour too). fuzz and coverage run when a test of theirs
# is chosen, clang and aarch64 when they are asked for.
#
# There are two forms. The short one leaves out the tests that have the label `long` unless they are named one by one; the
# full one (--full, or POLDER_TEST_FULL=1) has them, the preset ubsan, and POLDER_TEST_FULL=1 for those tests that then do more.

door_test() {
  only_list=
  presets=
  full=${POLDER_TEST_FULL-}
  left=$#
  while [ $left -gt 0 ]; do
    left=$((left - 1))
    case $1 in
      --list) only_list=yes ;;
      --full) full=1 ;;
      --preset) [ $left -gt 0 ] || fail 2 "test: --preset needs a name"; presets=$2; left=$((left - 1)); shift ;;
      --preset=*) presets=${1#*=} ;;
      -h | --help) help; exit 0 ;;
      -*) fail 2 "test: no option '$1'$(nearest "$1" --list --full --preset)" ;;
      *) set -- "$@" "$1" ;;  # a name, kept behind what is left
    esac
    shift
  done
  [ "$full" = 1 ] || full=
  [ -z "$full" ] || export POLDER_TEST_FULL=1
  [ -n "$presets" ] || presets="release model asan ${full:+ubsan }tsan $(presets_of_suites "$@")"
  for preset in $presets; do
    known="dev release asan ubsan tsan model fuzz coverage clang aarch64"
    case " $known " in *" $preset "*) ;; *) fail 2 "no preset '$preset'$(nearest "$preset" $known)" ;; esac
  done

  need_packages g++ libc6-dev cmake ninja-build libgtest-dev relacy-dev $(packages_of_suites "$@")
  mkdir -p "$root/build"
  listing=$(mktemp "$root/build/tests.XXXXXX") || exit 2  # another run may choose at the same time
  trap 'rm -f "$listing" "$listing.long" "$listing.chosen"' EXIT
  trap 'exit 130' INT TERM HUP
  : >"$listing.long"
  for preset in $presets; do
    need_configured "$preset"
    tests_in "$preset" | in_preset "$preset" >>"$listing"
    [ -n "$full" ] || tests_in "$preset" -L '^long$' >>"$listing.long"
  done

  choose_tests "$listing" "$@" >"$listing.chosen" || exit 2
  if [ -n "$only_list" ]; then
    awk '{ where[$2] = where[$2] " " $1 } END { for (t in where) printf "%-44s%s\n", t, where[t] }' \
      "$listing.chosen" | LC_ALL=C sort
    exit 0
  fi

  # What only some suites need is installed when they are chosen; what no build looks for comes while the compiler works.
  suites=$(sed 's/^[^ ]* \([^.]*\)\..*/\1/' "$listing.chosen" | LC_ALL=C sort -u)
  need_packages $(packages_of_suites $suites)
  case " $(echo $suites) " in *" python "* | *" tools "*) need_venv && python=yes ;; *) python= ;; esac
  prepare_run "$python" $suites &
  prepared=$!

  failed=
  closing=
  for preset in $presets; do
    names=$(sed -n "s/^$preset //p" "$listing.chosen")
    [ -n "$names" ] || continue
    need_build "$preset" $(targets_of "$preset" $names)
    [ -z "$prepared" ] || wait "$prepared" || exit 2
    prepared=
    pattern=$(printf '%s\n' "$names" | sed 's/[.+]/\\&/g' | paste -sd '|' -)
    note "testing $preset: $(printf '%s\n' "$names" | wc -l) tests"
    # A whole preset needs no pattern, and a long one would not fit ctest's.
    if [ "$names" = "$(tests_in "$preset" | sed 's/^[^ ]* //')" ]; then
      set --
    elif [ "$names" = "$(tests_in "$preset" -LE '^long$' | sed 's/^[^ ]* //')" ]; then
      set -- -LE '^long$'
    else
      set -- -R "^($pattern)\$"
    fi
    # Three times as many as there are processors: most of their time they wait for what they have started, or sleep.
    (cd "$root/build/$preset" &&
      ctest --no-tests=error --output-on-failure -j "${POLDER_JOBS:-$(($(nproc) * 3))}" --timeout 600 "$@") || {
      failed="$failed $preset"
      what_failed "$preset"
    }
    closing=yes
  done
  [ -n "$closing" ] || fail 2 "no test was run"
  if [ -n "$failed" ]; then
    fail 1 "tests failed in:$failed; one again: ./polder test NAME"
  fi
}

# what_failed PRESET: the lines by which the tests that failed said so, each behind the test's name, and what one was in that said
# no more. All that they printed stands above, far up where one of many failed early.
what_failed() {
  log=$root/build/$1/Testing/Temporary/LastTest.log
  [ -r "$log" ] || return 0
  awk '
    /^[0-9]+\/[0-9]+ Test: / { test = $3; said = in_it = ""; split("", known) }
    /^\[ RUN      \] / { in_it = $4 }
    /^\[       OK \] |^\[  SKIPPED \] |^\[  FAILED  \] / { in_it = "" }
    /^\[  FAILED  \] [^ ]+(, where|$)|: Failure$|^SUMMARY: |^FAILED |^panic: |: Assertion / {
      if (!known[$0]++) said = said test ": " $0 "\n"
    }
    /^Test Failed\.$/ { printf "%s%s", said, in_it == "" ? "" : test ": ended in " in_it "\n" }' "$log" | head -n 30
}

# presets_of_suites NAME…: what else has tests of these names.
presets_of_suites() {
  for name in "$@"; do
    case $name in
      proof) echo "fuzz coverage" ;;
      proof.coverage) echo "coverage" ;;
      fuzz | fuzz.*) echo "fuzz" ;;
    esac
  done | tr ' ' '\n' | LC_ALL=C sort -u -r | tr '\n' ' '
}

# packages_of_suites NAME…: what the suites of these tests need; no name, a heap or a requirement may mean any suite.
packages_of_suites() {
  case " $* " in "  " | *" @"* | *" req-"*) set -- python $(cd "$root/test" && ls) ;; esac
  for name in "$@"; do
    suite=${name%%.*}
    case $suite in python | tools) echo python3 python3-venv ;; esac
    packages_in "$root/test/$suite/packages"
  done
}

# prepare_run PYTHON SUITE…: what the tests of these suites run; with a PYTHON that is not empty, its packages too.
prepare_run() {
  with_python=$1
  shift
  need_to_run $(for suite in "$@"; do packages_in "$root/test/$suite/packages.run"; done)
  for suite in "$@"; do
    # A line: a folder, and the package in it.
    packages_in "$root/test/$suite/packages.unpacked" | while read -r folder package; do
      [ -z "$folder" ] || need_unpacked "$folder" "$package"
    done
  done
  [ -z "$with_python" ] || need_python tests
}

# The sanitizers and the assertions are for the white-box tests and for what plays the structures; programs under a preloaded heap
# cannot carry them.
in_preset() {
  case $1 in
    asan | ubsan | tsan) grep -E ' (unit\.|checker\.structures$)' || true ;;
    *) cat ;;
  esac
}

# targets_of PRESET TEST…: a few tests need their own programs and the heaps; a test without a program of its own, or
# many programs, need everything.
targets_of() {
  preset=$1
  shift
  all=$(everything "$preset" "$@")
  targets="polder_heaps"
  set -- $(printf '%s\n' "$@" | sed 's/@.*//' | LC_ALL=C sort -u)  # the parts of a test, or its heaps, share a program
  printf '%s\n' "$@" | grep -qvE '^(unit|checker|selfie)\.' || targets=  # which preload nothing
  if [ $# -gt 12 ]; then echo "$all"; return 0; fi
  for name in "$@"; do
    if ! grep -q "^build test\.$name: phony" "$root/build/$preset/build.ninja"; then echo "$all"; return 0; fi
    targets="$targets test.$name"
  done
  grep -q '^build polder_heaps: phony' "$root/build/$preset/build.ninja" || targets=${targets#polder_heaps }
  printf '%s\n' $targets | LC_ALL=C sort -u
}

# everything PRESET TEST…: all, and what is built only when a test asks for it that the short form leaves out.
everything() {
  preset=$1
  shift
  echo all
  if grep -q '^build polder_long: phony' "$root/build/$preset/build.ninja" &&
    tests_in "$preset" -L '^long$' | sed 's/^[^ ]* //' | grep -qxF "$(printf '%s\n' "$@")"; then
    echo polder_long
  fi
}

# tests_in PRESET ARGUMENT…: its tests, all or those that ctest chooses by the arguments; a line: the preset and a test.
tests_in() {
  preset=$1
  shift
  (cd "$root/build/$preset" && ctest -N "$@") | sed -n "s/^ *Test *#[0-9]*: \([^ ]*\).*/$preset \1/p"
}

# with_label LISTING LABEL: the tests that carry it, in the presets of the listing, without those that are left out.
with_label() {
  for preset in $(sed 's/ .*//' "$1" | uniq); do
    [ ! -f "$root/build/$preset/CTestTestfile.cmake" ] || tests_in "$preset" -L "^$2\$"
  done | without_long "$1"
}

# requirements LISTING: those that tests of its presets hold.
requirements() {
  for preset in $(sed 's/ .*//' "$1" | uniq); do
    [ ! -f "$root/build/$preset/CTestTestfile.cmake" ] || (cd "$root/build/$preset" && ctest --print-labels) | sed -n 's/^ *\(req-[0-9]*\)$/\1/p'
  done | LC_ALL=C sort -u -t - -k 2n | paste -sd ' ' - | sed 's/ /, /g'
}

# heaps_of_tests LISTING: @NAME, where more than one suite has it; else it is a part of some test.
heaps_of_tests() {
  awk '{ at = index($2, "@"); if (!at) next; suite = $2; sub(/\..*/, "", suite); part = substr($2, at)
         if (!seen[part, suite]++ && ++suites[part] == 2 && part ~ /^@[a-z]/) print part }' "$1"
}

# without_long LISTING: its input without the lines of LISTING.long, the tests that the short form leaves out.
without_long() {
  awk -v long="$1.long" 'BEGIN { while ((getline line < long) > 0) left_out[line] = 1 } !($0 in left_out)'
}

# choose_tests LISTING NAME…: the lines of the listing that a NAME means. A NAME is a suite, with what carries its label
# elsewhere, a requirement (req-N), both without what the short form leaves out, a test, a test on all heaps (without @heap) or
# all tests of a heap (@heap). One that means nothing is an error.
choose_tests() {
  listing=$1
  shift
  if [ $# -eq 0 ]; then
    [ -s "$listing" ] || { note "there is no test"; return 1; }
    without_long "$listing" <"$listing"
    return 0
  fi
  chosen=
  for name in "$@"; do
    found=
    case $name in
      req-[0-9]*) found=$(with_label "$listing" "$name") ;;
      *)
        found=$(awk -v name="$name" '
          { test = $2; bare = test; sub(/@.*/, "", bare); heap = substr(test, length(bare) + 1) }
          name == test || name == bare || name == heap' "$listing")
        found="$found
$(awk -v name="$name" '{ suite = $2; sub(/\..*/, "", suite) } name == suite' "$listing" | without_long "$listing")"
        case $name in
          *[!a-z_]*) ;;
          *) found="$found
$(with_label "$listing" "$name" | grep -xFf "$listing" || true)" ;;
        esac
        found=$(printf '%s' "$found" | sed '/^$/d')
        ;;
    esac
    if [ -z "$found" ]; then
      case $name in
        req-*) note "no requirement '$name' has a test; there is: $(requirements "$listing")"; return 1 ;;
        @*) note "no heap '$name' has a test$(nearest "$name" $(heaps_of_tests "$listing"))"; return 1 ;;
      esac
      note "no test '$name'$(nearest "$name" $(awk '{ t = $2; print t; sub(/@.*/, "", t); print t; sub(/\..*/, "", t); print t }' "$listing"))"
      return 1
    fi
    chosen="$chosen$found
"
  done
  printf '%s' "$chosen" | LC_ALL=C awk 'NF && !seen[$0]++'
}
