"""What follows a command is handed on untouched; what nobody would read is refused."""

import pytest

from devstack.__main__ import parse


@pytest.mark.parametrize(
    "rest",
    [
        ["-q", "-x", "tests/pod"],
        ["--help"],
        ["check_text", "my essay.txt", "--json"],
        ["-m", "gpujobs.pod.train", "--", "-h"],
        [],
    ],
)
def test_it_hands_on_whatever_follows_the_command(rest):
    parsed = parse(["--with-parent", "test", *rest])
    assert (parsed.command, parsed.with_parent, parsed.rest) == ("test", True, rest)


def test_it_refuses_arguments_that_nobody_reads(capsys):
    with pytest.raises(SystemExit):
        parse(["run", "--port", "8001"])
    assert "run takes no arguments" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["walk"], ["--with-parent"]])
def test_it_names_the_commands_when_none_of_them_is_meant(words, capsys):
    with pytest.raises(SystemExit):
        parse(words)
    assert "usage: devstack" in capsys.readouterr().err
