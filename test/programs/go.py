"""Go with cgo: goroutines on many threads allocate in C, free on other threads, and are called back from C."""

import os
import shutil
import subprocess

import driver

PATH = driver.SYSTEM_PATH + ":/usr/local/go/bin"


def present():
    return shutil.which("go", path=PATH) is not None


def prepare(base):
    """Builds once, without a heap: the toolchain is static, so only what it builds can be preloaded."""
    environment = {
        "PATH": PATH,
        "HOME": os.environ.get("HOME", str(base)),
        "CGO_ENABLED": "1",
        "GOTOOLCHAIN": "local",
        "GOPROXY": "off",
        "GO111MODULE": "off",
        "GOFLAGS": "",
    }
    (base / "go").mkdir()
    shutil.copyfile(driver.SOURCES / "cgo_blocks.go", base / "go" / "main.go")
    command = ["go", "build", "-o", base / "cgo_blocks", "main.go"]
    built = subprocess.run(command, cwd=base / "go", env=environment, capture_output=True, text=True)
    if built.returncode:
        raise driver.Failed(f"go build: {built.stderr[-1500:]}")


def produce(world):
    return {"said": world.run(world.base / "cgo_blocks", world.size(40, 600), timeout=250)}


driver.run(
    name="go",
    needs=[(present, "golang-go"), ("gcc", "gcc")],
    serves="cgo_blocks",
    proof=lambda base: [base / "cgo_blocks", "1"],
    prepare=prepare,
    produce=produce,
)
