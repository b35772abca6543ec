# packages — Debian packages that are missing are installed, or the one line to type is printed.

# need_packages NAME… installs those that are missing. A NAME may read a|b: the first that this release has.
need_packages() {
  if ! command -v dpkg-query >/dev/null 2>&1; then
    return 0  # not Debian's kind: what is missing shows itself
  fi
  missing=
  for wanted in "$@"; do
    is_installed_any "$wanted" || missing="$missing $wanted"
  done
  [ -n "$missing" ] || return 0

  if [ "$(id -u)" -eq 0 ]; then
    as_root=
  elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
  else
    note "some Debian packages are missing; as root, please:"
    printf '    apt-get install%s\n' "$(first_choices $missing)" >&2
    exit 2
  fi
  mkdir -p "$root/build"
  log=$root/build/packages.log
  if ! ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; then
    note "reading the lists of Debian packages …"
    apt_get update >"$log" 2>&1 || true
  fi
  note "installing:$(first_choices $missing)"
  if ! apt_install $(first_choices $missing) >>"$log" 2>&1; then
    apt_get update >>"$log" 2>&1 || true
    apt_install $(first_choices $missing) >>"$log" 2>&1 || {
      tail -n 20 "$log" >&2
      fail 2 "these packages could not be installed:$(first_choices $missing) (log: build/packages.log)"
    }
  fi
  # What is installed decides what can be built and which tests there are.
  rm -f "$root"/build/*/.configured "$root"/build/*/.built.*
}

# packages_in FILE: the names in it, one a line; # begins a comment.
packages_in() { [ ! -f "$1" ] || sed 's/#.*//' "$1"; }

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

is_installed_any() {
  for choice in $(printf '%s' "$1" | tr '|' ' '); do
    if is_installed "$choice"; then return 0; fi
  done
  return 1
}

first_choices() {
  for wanted in "$@"; do
    first=
    for choice in $(printf '%s' "$wanted" | tr '|' ' '); do
      [ -n "$first" ] || first=$choice
      if apt-cache show "$choice" >/dev/null 2>&1; then
        first=$choice
        break
      fi
    done
    printf ' %s' "$first"
  done
}

apt_get() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@"; }

# The servers among the packages are wanted as programs: no daemon is started by their installation.
apt_install() {
  policy=/usr/sbin/policy-rc.d
  placed=
  if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy >/dev/null && $as_root chmod 755 $policy && placed=yes
  fi
  result=0
  apt_get install -y --no-install-recommends "$@" || result=$?
  [ -z "$placed" ] || $as_root rm -f $policy
  return $result
}
