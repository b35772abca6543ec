#!/bin/sh
# usage.sh CHECKER… — wrong arguments of checker.run end in its usage, or a line that says what there is, and status 2.
for wrong in x --help 0 2x -1 1025 99999999999999999999 "2 x" "2 0" "2 100 nosuch" "2 100 all x" "2 100 all 0 x" \
  "2 100 all 0 1 sundial" "2 100 all 0 1 ticks more"; do
  # shellcheck disable=SC2086  # several words
  said=$("$@" $wrong 2>&1 >/dev/null)
  status=$?
  case $status/$said in
    2/usage:* | 2/no\ *) ;;
    *) echo "checker.run $wrong: status $status, $said" && exit 1 ;;
  esac
done
