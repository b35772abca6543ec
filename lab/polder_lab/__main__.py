import sys

if __name__ == "__main__":
    try:
        from polder_lab.cli import main  # here, since an interruption may come while it is loaded

        main()
    except KeyboardInterrupt:
        print("polder: interrupted", file=sys.stderr)
        sys.exit(130)
