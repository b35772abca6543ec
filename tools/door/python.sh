# python — the virtual environment .venv for the parts written in Python, with the versions pinned in lab/ and tools/.

need_venv() {
  if [ -x "$root/.venv/bin/pip" ]; then return 0; fi
  need_packages python3 python3-venv
  note "making .venv …"
  rm -rf "$root/.venv"
  python3 -m venv "$root/.venv" || fail 2 "python3 could not make a virtual environment"
}

# The lock file pins each package by version and hash; nothing is installed twice.
need_python() {
  stamp=$root/.venv/.locked
  locks=
  for lock in "$root"/lab/requirements.lock "$root"/tools/requirements.lock; do
    [ ! -f "$lock" ] || locks="$locks -r $lock"
  done
  if [ -f "$stamp" ] && [ -x "$root/.venv/bin/python" ] &&
    [ -z "$(find "$root/lab/requirements.lock" "$root/tools/requirements.lock" -newer "$stamp" 2>/dev/null)" ]; then
    return 0
  fi
  need_venv
  if [ -n "$locks" ]; then
    note "installing Python packages into .venv …"
    # shellcheck disable=SC2086  # several -r FILE
    "$root/.venv/bin/pip" install --quiet --disable-pip-version-check $locks >&2 ||
      fail 2 "the Python packages of lab/requirements.lock could not be installed"
  fi
  : >"$stamp"
}
