import pytest

from check_orders import check, check_models


@pytest.fixture
def tree(tmp_path):
    def make(text, name="sync/x.hpp"):
        path = tmp_path / "src" / "polder" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return check(tmp_path)

    return make


PAIR = """
  head_.store(p, order::release);  // sync: give
  return head_.load(order::acquire);  // sync: give; and a remark
"""


def test_a_pair_passes_and_is_counted(tree):
    assert tree(PAIR) == (2, [])


@pytest.mark.parametrize("text", [
    "  // sync: give\n  head_.store(p, order::release);\n  h.load(order::acquire);  // sync: give\n",
    "  head_.store(p,\n              order::release);  // sync: give\n  h.load(order::acquire);  // sync: give\n",
    "  h.cas(a, b, order::release, order::acquire);  // sync: give\n",
    "  h.cas(a, b, order::acq_rel, order::relaxed);  // sync: give\n",
    "  fence(order::seq_cst);  // sync: one, two: the other side is far away\n",
])
def test_the_comment_may_stand_where_the_statement_does(tree, text):
    assert tree(text)[1] == []


def test_an_order_without_a_name(tree):
    assert "names no edge" in tree(PAIR + "  y_.load(order::acquire);\n")[1][0]


def test_the_name_of_the_next_statement_does_not_count(tree):
    assert "names no edge" in tree("  y_.load(order::acquire);\n" + PAIR)[1][0]


def test_a_remark_is_not_a_name(tree):
    assert "names no edge" in tree(PAIR + "  fence(order::seq_cst);  // sync: see above\n")[1][0]


def test_an_edge_with_one_end(tree):
    assert tree("  y_.load(order::acquire);  // sync: take\n")[1] == ["src/polder/sync/x.hpp:1: the edge 'take' is never released"]
    assert tree("  y_.store(1, order::release);  // sync: take\n")[1] == ["src/polder/sync/x.hpp:1: the edge 'take' is never acquired"]


def test_relaxed_needs_nothing(tree):
    assert tree("  y_.load(order::relaxed);\n") == (0, [])


@pytest.mark.parametrize("text", ["std::atomic<int> a;\n", "__atomic_load_n(p, 0);\n", "std::memory_order_acquire\n"])
def test_other_atomics_are_refused(tree, text):
    assert "is for sync/atomic.hpp alone" in tree(text)[1][0]


def test_the_atomic_itself_and_the_tests_are_left_alone(tree):
    assert tree("std::atomic<int> a;\n", "sync/atomic.hpp")[1] == []
    assert tree("std::atomic<int> a;\n", "sync/x_test.cpp")[1] == []


@pytest.fixture
def modelled(tmp_path):
    """check_models on a tree with this header, a model that includes it or not, and these lists."""
    def make(header=PAIR, includes='#include <polder/sync/x.hpp>\n', reasons="", subjects='    "polder/sync/x.hpp": [\n'):
        for name, text in {"src/polder/sync/x.hpp": header, "src/polder/sync/y.hpp": '#include <polder/sync/x.hpp>\n',
                           "src/polder/sync/x_model.cpp": includes, "test/model/not_modelled": reasons,
                           "test/model/mutants.py": subjects}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check_models(tmp_path)[1]

    return make


def test_an_edge_that_a_model_runs(modelled):
    assert modelled() == []
    assert modelled(includes="#include <polder/sync/y.hpp>\n") == []


def test_an_edge_without_a_model(modelled):
    assert "no model has both ends of the edge 'give'" in modelled(includes="")[0]
    assert "no model has both ends" in modelled(includes="", reasons="give:\n")[0]
    assert modelled(includes="", reasons="# why not\ngive: nobody could\n") == []


def test_a_reason_too_many(modelled):
    assert modelled(reasons="give: nobody could\n") == ["test/model/not_modelled: 'give' has a model"]
    assert modelled(reasons="take: nobody could\n") == ["test/model/not_modelled: 'take' is no edge"]


def test_a_file_that_is_not_mutated(modelled):
    assert modelled(subjects="") == ["src/polder/sync/x.hpp: test/model/mutants.py does not weaken its orders"]
