# python — the virtual environment .venv for the parts written in Python, with pinned versions.

need_venv() {
  if [ -x "$root/.venv/bin/pip" ]; then return 0; fi
  need_packages python3 python3-venv
  note "making .venv …"
  rm -rf "$root/.venv"
  python3 -m venv "$root/.venv" || fail 2 "python3 could not make a virtual environment"
}

# need_python [tests]: the versions pinned in lab/requirements.lock, or in requirements-dev.lock, which has the test
# runners too.
need_python() {
  case ${1-} in
    tests) lock=lab/requirements-dev.lock stamp=$root/.venv/.locked-tests ;;
    *) lock=lab/requirements.lock stamp=$root/.venv/.locked ;;
  esac
  if [ -f "$stamp" ] && [ -x "$root/.venv/bin/python" ] && [ -z "$(find "$root/$lock" -newer "$stamp" 2>/dev/null)" ]; then
    return 0
  fi
  need_venv
  note "installing Python packages into .venv …"
  "$root/.venv/bin/pip" install --quiet --disable-pip-version-check -r "$root/$lock" >&2 ||
    fail 2 "the Python packages of $lock could not be installed"
  : >"$stamp"
}
