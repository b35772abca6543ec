# hand_over — commands that are written in Python: python -m polder_lab COMMAND …

hand_over() {
  case "$1 ${2-}" in
    "figure thesis-3."* | "figure thesis-4.3"*) need_build release polder_heaps polder-registry polder-bench ;;  # recorded here
    "figure "* | "bench report" | "profile "* | "timeline "*) ;;  # read records alone
    conform\ *) need_build release polder_heaps polder-registry polder-probe ;;
    mistakes\ *) need_build release polder_heaps polder-registry polder-mistakes ;;
    trace\ *)
      need_packages zlib1g-dev
      need_build release polder_heaps polder-registry polder-trace
      ;;
    bench\ * | compare\ *)
      need_packages $(packages_in "$root/lab/packages")
      [ "$1" != bench ] || need_packages $(packages_in "$root/lab/packages.bench")
      need_build release polder_heaps polder-registry polder-bench
      ;;
    "peers build") need_build release polder-registry polder-bench ;;
    "list reclaimers" | "list drains" | "list structures") need_build release polder-structures ;;
    *) need_build release polder_heaps polder-registry ;;
  esac
  need_python
  export POLDER_ROOT="$root"
  # UTF-8 by an option, not by a variable, which what is measured would have too.
  PYTHONPATH=$root/lab${PYTHONPATH:+:$PYTHONPATH} exec "$root/.venv/bin/python" -X utf8 -m polder_lab "$@"
}
