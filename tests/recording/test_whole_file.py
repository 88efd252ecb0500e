import pytest

from recording.whole_file import whole_file
from wire.errors import RecordError


def test_the_file_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "out.txt"
    with whole_file(path) as file:
        file.write("Grüße\n")
        assert not path.exists()
    assert path.read_bytes() == "Grüße\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_old_file_and_no_draft(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")

    def fail_halfway():
        with whole_file(path) as file:
            file.write("half")
            raise RecordError("the run is damaged")

    with pytest.raises(RecordError, match="the run is damaged"):
        fail_halfway()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_in_the_way_is_an_error(tmp_path):
    with pytest.raises(RecordError, match="it is a folder"), whole_file(tmp_path):
        pass


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(RecordError, match=r"cannot write .*No such file or directory"), whole_file(tmp_path / "no" / "out.txt"):
        pass


def test_a_path_that_no_system_knows_is_an_error(tmp_path):
    with pytest.raises(RecordError, match="cannot write"), whole_file(tmp_path / "nul\0byte"):
        pass
