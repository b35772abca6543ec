# teach — the lessons of docs/course, and Selfie, on which they run. What one writes is in build/course.

door_teach() {
  case ${1-} in
    "") list_lessons ;;
    -h | --help) help ;;
    check)
      [ $# -gt 1 ] || fail 2 "teach check: which lesson? ./polder teach check N"
      [ $# -eq 2 ] || fail 2 "teach check: one lesson, and nothing behind it: '$3'"
      chosen=$(lesson "$2") || exit
      check_lesson "$chosen"
      ;;
    -*) fail 2 "teach: no option '$1'" ;;
    *)
      [ $# -eq 1 ] || fail 2 "teach: one lesson, and nothing behind it: '$2'; ./polder teach check N looks at what you have written"
      chosen=$(lesson "$1") || exit
      show_lesson "$chosen"
      ;;
  esac
}

# The folder of lesson N.
lesson() {
  for folder in "$root"/docs/course/[0-9][0-9]-*; do
    folder=${folder##*/}
    last=$(lesson_number "$folder")
    if [ "$1" = "$last" ]; then
      printf '%s' "$folder"
      return
    fi
  done
  fail 2 "no lesson '$1'; there is: 1 to $last"
}

list_lessons() {
  for readme in "$root"/docs/course/*/README.md; do
    sed -n 's/^# *//p;1q' "$readme"
  done
  printf '\n./polder teach N shows a lesson, ./polder teach check N looks at what you have written\n'
}

show_lesson() {
  need_selfie
  exercise=$root/build/course/$1.c
  mkdir -p "$root/build/course"
  [ -e "$exercise" ] || cp "$root/docs/course/$1/exercise.c" "$exercise"
  cat "$root/docs/course/$1/README.md"
  printf '\n== the program: cd selfie && ../build/selfie/selfie %s\n' "$(arguments_of "$1" run)"
  on_selfie "$1" run || true
  printf '\nwrite into %s, then: ./polder teach check %d\n' "${exercise#"$root"/}" "$(lesson_number "$1")"
}

check_lesson() {
  need_selfie
  exercise=$root/build/course/$1.c
  number=$(lesson_number "$1")
  [ -e "$exercise" ] || fail 2 "there is no build/course/$1.c yet: ./polder teach $number"
  status=0
  on_selfie "$1" check || status=$?
  case $(arguments_of "$1" check) in
    *" -x "*) good=0 ;;
    *) good=$complete ;;
  esac
  case $status in
    "$good") note "lesson $number: that is it" ;;
    0) fail 1 "lesson $number: not yet; the program ended before its check did: is there an exit() in it?" ;;
    124) fail 1 "lesson $number: not yet; after $patience s it had no end: is there a loop without one?" ;;
    *) fail 1 "lesson $number: not yet" ;;
  esac
}

lesson_number() {
  number=${1%%-*}
  printf '%d' "${number#0}"
}

# So many seconds may a lesson take; timeout's status is then 124.
patience=120

# With this a check ends that has seen everything, where selfie only runs it. What is explored may not end by itself, so there it is 0.
complete=100

# on_selfie LESSON run|check: the lesson's file of that name has selfie's arguments, from the folder selfie; EXERCISE is what
# one has written.
on_selfie() {
  arguments=$(arguments_of "$1" "$2")
  # shellcheck disable=SC2086  # words
  (cd "$root/selfie" && timeout "$patience" "$root/build/selfie/selfie" $arguments)
}

arguments_of() { sed "s|EXERCISE|../build/course/$1.c|" "$root/docs/course/$1/$2"; }

need_selfie() {
  program=$root/build/selfie/selfie
  if [ -x "$program" ] && [ -z "$(find "$root/selfie/selfie.c" "$root/selfie/compile" -newer "$program")" ]; then
    return 0
  fi
  need_packages gcc libc6-dev
  mkdir -p "$root/build/selfie"
  "$root/selfie/compile" "${CC:-cc}" "$program.part" || fail 2 "selfie.c could not be compiled"
  mv "$program.part" "$program"
}
