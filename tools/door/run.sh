# run — one program on a heap. build/release/bin/polder-launch looks at the program and becomes it.

door_run() {
  heap=polder
  options=
  children=
  while [ $# -gt 0 ]; do
    case $1 in
      --heap) [ $# -gt 1 ] || fail 2 "run: --heap needs a name"; heap=$2; shift 2 ;;
      --heap=*) heap=${1#*=}; shift ;;
      --options) [ $# -gt 1 ] || fail 2 "run: --options needs K=V,…"; options=$2; shift 2 ;;
      --options=*) options=${1#*=}; shift ;;
      --no-children) children=--no-children; shift ;;
      --) shift; break ;;
      -h | --help) help; exit 0 ;;
      -*) fail 2 "run: no option '$1'$(nearest "$1" --heap --options --no-children)" ;;
      *) break ;;
    esac
  done
  [ $# -gt 0 ] || fail 2 "run: what? ./polder run [--heap NAME] [--options K=V,…] [--no-children] -- CMD ARGS…"
  need_build release polder_heaps polder-launch
  library=$(heap_library "$heap") || fail 2 "no heap '$heap'$(nearest "$heap" $(heap_names))"
  if [ -n "$options" ]; then
    POLDER_OPTIONS=${POLDER_OPTIONS:+$POLDER_OPTIONS,}$options
    export POLDER_OPTIONS
  fi
  # shellcheck disable=SC2086  # nothing or one word
  exec "$root/build/release/bin/polder-launch" $children "$library" "$@"
}

# A heap is built under its name: libpolder-NAME.so, and the flagship as libpolder.so.
heap_library() {
  case $1 in
    polder) file=$root/build/release/lib/libpolder.so ;;
    *) file=$root/build/release/lib/libpolder-$1.so ;;
  esac
  [ -f "$file" ] && printf '%s' "$file"
}

heap_names() {
  for file in "$root"/build/release/lib/libpolder.so "$root"/build/release/lib/libpolder-*.so; do
    [ -f "$file" ] || continue
    name=${file##*/libpolder}
    name=${name%.so}
    printf '%s\n' "${name#-}" | sed 's/^$/polder/'
  done
}
