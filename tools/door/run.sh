# run — one program on a heap. build/release/bin/polder-launch looks at the program and becomes it.

door_run() {
  heap=polder
  variant=
  options=
  children=
  while [ $# -gt 0 ]; do
    case $1 in
      --heap) [ $# -gt 1 ] || fail 2 "run: --heap needs a name"; heap=$2; shift 2 ;;
      --heap=*) heap=${1#*=}; shift ;;
      --variant) [ $# -gt 1 ] || fail 2 "run: --variant needs a name"; variant=$2; shift 2 ;;
      --variant=*) variant=${1#*=}; shift ;;
      --options) [ $# -gt 1 ] || fail 2 "run: --options needs K=V,…"; options=$2; shift 2 ;;
      --options=*) options=${1#*=}; shift ;;
      --no-children) children=--no-children; shift ;;
      --) shift; break ;;
      -h | --help) help; exit 0 ;;
      -*) fail 2 "run: no option '$1'$(nearest "$1" --heap --variant --options --no-children)" ;;
      *) break ;;
    esac
  done
  [ $# -gt 0 ] || fail 2 "run: what? ./polder run [--heap NAME | --variant NAME] [--options K=V,…] [--no-children] -- CMD ARGS…"
  case $heap in polder-*) ! is_variant "${heap#polder-}" || { variant=${heap#polder-}; heap=polder; } ;; esac
  case $heap in
    system | glibc | libc | ptmalloc | ptmalloc2)
      fail 2 "run: no heap '$heap'; a program has the C library's malloc without ./polder run, and ./polder compare calls it system"
      ;;
  esac
  if [ -n "$variant" ]; then
    [ "$heap" = polder ] || fail 2 "run: a variant is of the flagship, and --heap names another"
    is_variant "$variant" || fail 2 "no variant '$variant'$(nearest "$variant" $(variant_names))"
    need_packages $(packages_in "$root/cmake/packages.$variant")
    need_build release "polder_variant_$variant" polder-launch
    library=$root/build/release/lib/variant/libpolder-$variant.so
  else
    need_build release polder_heaps polder-registry polder-launch
    library=$(heap_library "$heap") || fail 2 "no heap '$heap'$(nearest "$heap" $(heap_names))"
  fi
  if [ -n "$options" ]; then
    POLDER_OPTIONS=${POLDER_OPTIONS:+$POLDER_OPTIONS,}$options
    export POLDER_OPTIONS
  fi
  # shellcheck disable=SC2086  # nothing or one word
  exec "$root/build/release/bin/polder-launch" $children "$library" "$@"
}

# A heap is built under its name: libpolder-NAME.so, and the flagship as libpolder.so. Another library may be named so too.
heap_library() {
  heap_names | grep -qxF -- "$1" || return 1
  case $1 in
    polder) file=$root/build/release/lib/libpolder.so ;;
    *) file=$root/build/release/lib/libpolder-$1.so ;;
  esac
  [ -f "$file" ] && printf '%s' "$file"
}

# Variants of the flagship, as its build file lists them; they are built when they are asked for.
variant_names() { sed -n 's/^ *polder_variant(\([a-z0-9-]*\) .*/\1/p' "$root/src/polder/CMakeLists.txt"; }

is_variant() { variant_names | grep -qxF -- "$1"; }

# As polder-registry says them, one a line.
heap_names() { "$root/build/release/bin/polder-registry" | sed -n 's/^ *{"name":"\([^"]*\)".*/\1/p'; }
