# packages — Debian packages that are missing are installed, or the one line to type is printed.

# need_packages NAME… installs those that are missing. A NAME may read a|b: the first that this release has.
need_packages() {
  missing=$(missing_of "$@")
  [ -n "$missing" ] || return 0
  install_packages $missing
  # What is installed decides what can be built and which tests there are. A build that goes on finds its mark gone, and begins again.
  rm -f "$root"/build/*/.configured "$root"/build/*/.built.*
}

# need_to_run NAME… installs what no build looks for, also while one is going on.
need_to_run() {
  missing=$(missing_of "$@")
  [ -z "$missing" ] || install_packages $missing
}

missing_of() {
  # Where it is not Debian's kind, what is missing shows itself.
  command -v dpkg-query >/dev/null 2>&1 || return 0
  for wanted in "$@"; do
    is_installed_any "$wanted" || echo "$wanted"
  done
}

install_packages() {
  may_be_root || {
    note "some Debian packages are missing; as root, please:"
    printf '    apt-get install%s\n' "$(first_choices "$@")" >&2
    exit 2
  }
  mkdir -p "$root/build"
  log=$root/build/packages.log
  if ! ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; then
    note "reading the lists of Debian packages …"
    apt_get update >"$log" 2>&1 || true
  fi
  note "installing:$(first_choices "$@")"
  if ! apt_install $(first_choices "$@") >>"$log" 2>&1; then
    apt_get update >>"$log" 2>&1 || true
    apt_install $(first_choices "$@") >>"$log" 2>&1 || {
      tail -n 20 "$log" >&2
      fail 2 "these packages could not be installed:$(first_choices "$@") (log: build/packages.log)"
    }
  fi
}

# need_unpacked FOLDER PACKAGE: a package that is only read, such as a kernel to boot in an emulator. It is unpacked under
# build/unpacked/FOLDER and installed nowhere, so nobody has to be root. PACKAGE may read a|b, and may be one that only
# names another that begins with the same two words, as linux-image-amd64 does. Where it cannot be had, what wants it says so.
need_unpacked() {
  folder=$root/build/unpacked/$1
  [ ! -d "$folder" ] || return 0
  command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 || return 0
  mkdir -p "$root/build/unpacked"
  log=$root/build/unpacked/log
  note "unpacking$(first_choices "$2") in build/unpacked …"
  unpack "$2" >"$log" 2>&1 || { may_be_root && apt_get update >>"$log" 2>&1 && unpack "$2" >>"$log" 2>&1; } ||
    note "$2 could not be had (log: build/unpacked/log)"
  rm -rf "$folder.part"
}

unpack() {
  package=$(first_choices "$1" | tr -d ' ')
  kind=$(echo "$package" | sed 's/^\([^-]*-[^-]*-\).*/\1/')
  named=$(apt-cache depends "$package" | sed -n "s/^ *Depends: \($kind[^ ]*\)\$/\1/p" | head -n 1)
  rm -rf "$folder.part"
  mkdir -p "$folder.part"
  (cd "$folder.part" && apt-get download "${named:-$package}" </dev/null && dpkg-deb -x ./*.deb . && rm -f ./*.deb) &&
    mv "$folder.part" "$folder"
}

# packages_in FILE: the names in it, one a line; # begins a comment.
packages_in() { [ ! -f "$1" ] || sed 's/#.*//' "$1"; }

# Sets as_root to what makes a command root's.
may_be_root() {
  as_root=
  [ "$(id -u)" -ne 0 ] || return 0
  as_root="sudo -n"
  command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null
}

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

policy=/usr/sbin/policy-rc.d

apt_get() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@"; }

# The servers among the packages are wanted as programs: no daemon is started by their installation. What says so goes again, however
# it ends, and another installation of ours comes after that.
apt_install() (
  flock 9
  trap 'exit 130' INT TERM HUP
  if [ ! -e "$policy" ]; then
    trap '$as_root rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
    $as_root chmod 755 "$policy"
  fi
  apt_get install -y --no-install-recommends "$@" 9>&-
) 9>"$root/build/packages.lock"
