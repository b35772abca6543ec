"""test/proof/promela.py: wrong words are answered with its usage. Nothing here is verified."""

import subprocess

import pytest

from tree import ROOT

MODEL = ROOT / "src/polder/sync/lab_state.pml"


@pytest.mark.parametrize(("words", "said"), [
    ([], "what?"),
    (["verfy", MODEL, "1"], "no 'verfy'"),
    (["verify", MODEL], "verify wants a model and a number of states"),
    (["mutants"], "mutants wants a model"),
    (["verify", MODEL, "many"], "'many' is no number of states"),
    (["verify", MODEL, "1", "VISITS=2"], "'VISITS=2' is no -DNAME=VALUE"),
    (["mutants", ROOT / "no.pml"], f"cannot read {ROOT}/no.pml: No such file or directory"),
    (["mutants", ROOT], f"cannot read {ROOT}: Is a directory"),
])
def test_wrong_words(words, said):
    run = subprocess.run([ROOT / "test/proof/promela.py", *words], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout) == (2, "")
    first, second = run.stderr.splitlines()
    assert first == f"promela.py: {said}"
    assert second.startswith("usage: promela.py verify MODEL STATES")
