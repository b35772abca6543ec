# hand_over — commands that are written in Python: python -m polder_lab COMMAND …

hand_over() {
  case $1 in
    conform) need_build release polder_heaps polder-registry polder-probe ;;
    bench | compare | trace)
      need_packages $(packages_in "$root/lab/packages")
      need_build release polder_heaps polder-registry polder-bench
      ;;
    *) need_build release polder_heaps polder-registry ;;
  esac
  need_python
  export POLDER_ROOT="$root"
  PYTHONPATH=$root/lab${PYTHONPATH:+:$PYTHONPATH} exec "$root/.venv/bin/python" -m polder_lab "$@"
}
