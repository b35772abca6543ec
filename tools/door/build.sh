# build — configures and builds a preset when a source is newer than its last build. The full log is build/PRESET/log.

# need_build PRESET TARGET…
need_build() {
  preset=$1
  shift
  stamp=$root/build/$preset/.built.$(printf '%s' "$*" | cksum | tr ' ' '.')  # their names together may be too long for a file's
  ! is_current "$stamp" || return 0
  need_toolchain "$preset"
  lock_build
  if ! is_current "$stamp"; then  # someone else may have built it meanwhile
    while :; do
      mkdir -p "$root/build/$preset"
      : >"$stamp.begun"
      configure "$preset"
      began=$(date +%s)
      note "building $preset: $* …"
      logged "$preset" "$cmake" --build "$root/build/$preset" --parallel "${POLDER_JOBS:-$(nproc)}" --target "$@"
      if mv "$stamp.begun" "$stamp" 2>/dev/null; then break; fi
      # Another call has installed packages meanwhile (need_packages), with which there may be more to build.
      [ ! -e "$stamp.begun" ] || fail 2 "cannot write $stamp"
      note "packages were installed meanwhile: once more …"
    done
    note "built $preset in $(($(date +%s) - began)) s"
  fi
  unlock_build
}

# need_configured PRESET: enough to list its tests.
need_configured() {
  stamp=$root/build/$1/.configured
  if [ -f "$root/build/$1/build.ninja" ] && is_current "$stamp"; then return 0; fi
  need_toolchain "$1"
  lock_build
  configure "$1"
  unlock_build
}

configure() {
  cache=$root/build/$1/CMakeCache.txt
  if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
    rm -rf "${root:?}/build/$1"  # the checkout was moved
  fi
  mkdir -p "$root/build/$1"
  : >"$root/build/$1/.configured.begun"
  : >"$root/build/$1/log"
  (cd "$root" && logged "$1" "$cmake" --preset "$1") || exit
  mv "$root/build/$1/.configured.begun" "$root/build/$1/.configured"
}

# Nothing that is compiled or says how to compile is newer than this stamp. Folders count: a removed file shows there.
is_current() {
  [ -f "$1" ] || return 1
  newer=$(cd "$root" && find CMakeLists.txt CMakePresets.json cmake include src bench test tools selfie \
    -name __pycache__ -prune -o \
    \( -type d -o -name '*.[ch]pp' -o -name '*.[ch]' -o -name CMakeLists.txt -o -name '*.cmake' -o -name '*.in' -o -name '*.json' \) \
    -newer "$1" -print -quit 2>/dev/null)
  [ -z "$newer" ]
}

# logged PRESET COMMAND…: output goes to the log; a terminal sees how far it is; a failure shows the end of the log.
logged() {
  log=$root/build/$1/log
  shift
  status=0
  if [ -t 2 ]; then
    { "$@" 2>&1 || echo $? >"$log.status"; } | while IFS= read -r line; do
      printf '%s\n' "$line" >>"$log"
      case $line in
        "["*/*"]"*) printf '\r%s]\033[K' "${line%%]*}" >&2 ;;
      esac
    done
    printf '\r\033[K' >&2
    if [ -f "$log.status" ]; then
      read -r status <"$log.status"
      rm -f "$log.status"
    fi
  else
    "$@" >>"$log" 2>&1 || status=$?
  fi
  [ "$status" -ne 0 ] || return 0
  grep -v '^\[[0-9]*/[0-9]*\] \(Building\|Linking\|Generating\)' "$log" | tail -n 60 >&2
  fail 2 "that failed; all of it is in ${log#"$root"/}"
}

# Two calls at once build one after the other.
lock_build() {
  (mkdir -p "$root/build" && : >>"$root/build/.lock") 2>/dev/null ||
    fail 2 "something has to be built, and $root/build cannot be written"
  exec 9>"$root/build/.lock"
  if ! flock -n 9; then
    note "waiting for another build …"
    flock 9
  fi
}
unlock_build() { exec 9>&-; }

need_toolchain() {
  case $1 in
    clang | fuzz) need_packages cmake ninja-build clang-16 libclang-rt-16-dev g++ libc6-dev ;;
    aarch64) need_packages cmake ninja-build g++-aarch64-linux-gnu qemu-user-static ;;
    *) need_packages cmake ninja-build g++ libc6-dev ;;
  esac
  cmake=cmake
  for tool in cmake ninja; do
    command -v $tool >/dev/null 2>&1 || fail 2 "'$tool' is needed and not installed"
  done
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
  # Presets of this form came with 3.25; an older system gets a newer one of its own.
  if [ "${version% *}" -lt 3 ] || { [ "${version% *}" -eq 3 ] && [ "${version#* }" -lt 25 ]; }; then
    need_venv
    [ -x "$root/.venv/bin/cmake" ] || {
      note "cmake here is older than 3.25: fetching one into .venv …"
      "$root/.venv/bin/pip" install --quiet 'cmake==3.31.10' || fail 2 "cmake 3.25 or newer is needed"
    }
    cmake=$root/.venv/bin/cmake
  fi
}
