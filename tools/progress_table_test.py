import json
import re

import pytest

import progress_table as table
from tree import ROOT

PAGE = ROOT / "src" / "polder" / "heap" / "polder" / "README.md"


def line(**record):
    return f"measured {json.dumps(record)}\n"


def everything():
    """What all tests print, once."""
    steps = [line(test="steps", way=way, operation=operation, fewest=20, most=1500, places=300, met=7)
             for way in table.WAYS for operation in table.OPERATIONS]
    frozen = [line(test="frozen", operation=kind, done=1000, clock_ms=12.34, processor_ms=3.21) for kind in table.KINDS]
    return "".join([*steps, *frozen, line(test="frozen", freezes=300, inside=200),
                    line(test="killed", way="exit", inside=10, outside=2, operations=5, untrimmed_kib=0, stranded_kib=20480),
                    line(test="killed", way="cancel", inside=10, outside=2, operations=5, untrimmed_kib=0, stranded_kib=10240),
                    line(test="signals", way="inside", handlers=100, inside=60, operations=9),
                    line(test="signals", way="beside", handlers=100, inside=0, operations=9),
                    line(test="priorities", preferred=2, wakes=50, operations=9, processor_ms=1.5)])


def test_every_operation_has_its_line():
    text = table.markdown(table.read(everything()))
    assert "| free of another's | 20 – 1,500 | 300 | 7 | 7 | 7 | 7 | 1,000 | 12.3 | 3.2 |" in text
    assert "| huge | 20 – 1,500 | 300 | 7 | 7 | 7 | 7 |  |  |  |" in text
    assert "300 freezes, 200 of them inside the heap." in text
    assert "10 threads killed inside the heap, 2 outside; the others did 5 operations; 2.0 MB stranded for each inside." in text
    assert "100 wakes of threads that are preferred, 1.5 ms" in text
    assert table.missing(table.read(everything())) == []


def test_counts_of_several_runs_are_added_and_extremes_kept():
    text = table.markdown(table.read(everything() + line(test="steps", way="stop", operation="free", fewest=18, most=9000,
                                                         places=299, met=3)))
    assert "| free | 18 – 9,000 | 300 | 7 | 10 | 7 | 7 |" in text


def test_an_operation_without_a_line_is_told():
    new = line(test="steps", way="exit", operation="aligned_alloc", fewest=1, most=2, places=3, met=4)
    assert table.missing(table.read(everything() + new)) == ["aligned_alloc: no such line in the table"]


def test_other_heaps_and_other_lines_are_left_out():
    log = "1/2 Testing: progress.exit@michael\n" + everything() + "2/2 Testing: progress.exit@polder\nseed 12\n"
    assert table.read(log) == []
    assert len(table.read(log + line(test="steps"))) == 1


@pytest.mark.parametrize(("without", "said"), [
    ('"way": "stop", "operation": "calloc"', "calloc: no stops there"),
    ('"frozen", "operation": "realloc"', "realloc: not with frozen threads"),
    ('"killed", "way": "cancel"', "killed cancel: nothing"),
    ('"wakes"', "priorities: nothing"),
])
def test_what_nothing_holds_is_told(without, said):
    kept = "".join(one for one in everything().splitlines(keepends=True) if without not in one)
    assert table.missing(table.read(kept)) == [said]


def test_a_test_that_met_nothing_holds_nothing():
    text = everything().replace('"wakes": 50', '"wakes": 0')
    assert table.missing(table.read(text)) == ["priorities: nothing"]


def test_it_takes_the_old_ones_place(tmp_path, capsys):
    page, log = tmp_path / "README.md", tmp_path / "log"
    page.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
    log.write_text(everything())
    assert table.main([str(log), "--into", str(page)]) == 0
    assert page.read_text().startswith(f"before\n{table.BEGIN}\n| operation |")
    assert page.read_text().endswith(f"\n{table.END}\nafter\n") and "old" not in page.read_text()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("text", ["", table.BEGIN, f"{table.END} {table.BEGIN}", f"{table.BEGIN} {table.BEGIN} {table.END}",
                                  f"{table.BEGIN} {table.END} {table.BEGIN}"])
def test_a_page_without_its_marks_is_not_touched(text):
    with pytest.raises(ValueError, match="not one pair"):
        table.put_into(text, "new")


def test_a_gap_is_an_exit_status(tmp_path, capsys):
    log = tmp_path / "log"
    log.write_text(everything().replace("frozen", "thawed"))
    assert table.main([str(log)]) == 1
    assert "malloc: not with frozen threads" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["--into"], ["--from", "x"], ["not-there"]])
def test_a_mistaken_command_line_is_told(arguments, capsys):
    assert table.main(arguments) == 2
    assert "progress_table.py" in capsys.readouterr().err


def test_the_tests_have_the_names_of_the_table():
    """Whoever gives the tests another operation is told here, before anybody measures."""
    scripts = (ROOT / "test" / "progress" / "rows.hpp").read_text()
    body = scripts[scripts.index("const char* operation() const"):scripts.index("class row_of_blocks")]
    returned = [name for name in re.findall(r'"([^"]*)"', body) if len(name) > 2]  # shorter: letters of steps
    assert sorted(returned) == sorted(table.OPERATIONS)
    crew = (ROOT / "test" / "progress" / "crew.hpp").read_text()
    named = re.search(r"kind_names\[\w*\] = \{([^}]*)\}", crew)
    assert named and re.findall(r'"([^"]*)"', named[1]) == table.KINDS


def cells(line_of_table):
    return [cell.strip() for cell in line_of_table.strip("|").split("|")]


def test_the_page_has_a_line_for_each_operation():
    measured = PAGE.read_text().partition(table.BEGIN)[2].partition(table.END)[0]
    head, _, *lines = [cells(one) for one in measured.splitlines() if one.startswith("|")]
    assert head == table.HEADS
    assert [one[0] for one in lines] == table.OPERATIONS
    stepped, frozen = 3 + len(table.WAYS), len(table.HEADS)
    assert [one[0] for one in lines if "" in one[:stepped]] == []
    assert [one[0] for one in lines if "" in one[:frozen] and one[0] in table.KINDS] == []
    said = [one for one in measured.splitlines() if one.startswith("- ")]
    assert len(said) == len(table.sentences([])) and not any(one.startswith("- 0 ") for one in said)


def test_the_page_says_of_each_path_how_it_goes_on_and_what_holds_that():
    text = PAGE.read_text()
    lines = [cells(one) for one in text.partition("| path |")[2].partition("\n\n")[0].splitlines()[2:]]
    assert len(lines) > 15
    assert [one[0] for one in lines if not re.search("wait-free|lock-free|blocking, on", one[1], re.IGNORECASE)] == []
    suites = "".join(file.read_text() for file in (ROOT / "test").glob("*/CMakeLists.txt"))
    held = {name for one in lines for name in one[3].split(", ")} - {"—"}
    assert [name for name in sorted(held) if f"*{name}*" not in text and f"NAME {name} " not in suites] == []
