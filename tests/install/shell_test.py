#!/usr/bin/env python3
"""What the program prints for shells and man: every flag of every command is in it, and it works.

Arguments: see harness.py. Shells and tools that are not installed are left out, by name.
"""
# SPDX-License-Identifier: Apache-2.0
import re
import shutil
import tempfile
import unittest
from pathlib import Path

import harness
from harness import options, run

MODES = ["eager", "planned", "graph"]


def program() -> Path:
    return options.build / "bin/stepscope"


def needs(tool: str):
    return unittest.skipUnless(shutil.which(tool), f"{tool} is not installed")


class CommandLine(unittest.TestCase):
    """Commands and their flags, as --help tells them; and what is printed from the same app."""

    @classmethod
    def setUpClass(cls) -> None:
        top = run(program(), "--help").stdout
        cls.commands = re.findall(r"(?m)^  (\w+) +\S", top[top.index("Subcommands:"):])
        cls.help = {name: run(program(), name, "--help").stdout for name in cls.commands}
        cls.flags = {name: set(re.findall(r"(?m)^  (?:-\w,)?(--[\w-]+)", text))
                     for name, text in cls.help.items()}
        cls.folder = tempfile.TemporaryDirectory(prefix="stepscope-shell-")
        cls.addClassCleanup(cls.folder.cleanup)

    def script(self, shell: str, name: str) -> Path:
        path = Path(self.folder.name) / name
        path.write_text(run(program(), "completion", shell).stdout)
        return path

    def bash(self, *words: str) -> list[str]:
        """What bash offers for the last of these words."""
        script = self.script("bash", "stepscope.bash")
        line = " ".join(f"'{word}'" for word in ("stepscope", *words))
        code = (f"source '{script}'; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _stepscope; "
                'printf "%s\\n" "${COMPREPLY[@]}"')
        return run("bash", "--norc", "--noprofile", "-c", code,
                   cwd=self.folder.name).stdout.split()

    def test_there_are_commands_and_flags(self) -> None:
        self.assertLessEqual({"compare", "train", "explain", "devices", "completion", "manual"},
                             set(self.commands))
        self.assertLessEqual({"--help", "--model", "--mode", "--epochs"}, self.flags["train"])

    def test_every_help_has_an_example(self) -> None:
        for name, text in self.help.items():
            self.assertIn(f"Example:\n  stepscope {name}", text)

    def test_bash_registers_its_function(self) -> None:
        script = self.script("bash", "stepscope.bash")
        said = run("bash", "--norc", "--noprofile", "-c", f"source '{script}' && complete -p stepscope")
        self.assertEqual(said.stdout, "complete -F _stepscope stepscope\n")

    def test_bash_offers_commands(self) -> None:
        self.assertEqual(self.bash("tr"), ["train"])
        self.assertLessEqual({*self.commands, "--help", "--version"}, set(self.bash("")))

    def test_bash_offers_every_flag(self) -> None:
        for name in self.commands:
            self.assertLessEqual(self.flags[name], set(self.bash(name, "--")), name)
        self.assertEqual(sorted(self.bash("train", "--mo")), ["--mode", "--model"])

    def test_bash_offers_values(self) -> None:
        self.assertEqual(self.bash("train", "--mode", ""), MODES)
        self.assertEqual(self.bash("compare", "--mode", "eager,pl"), ["eager,planned"])
        self.assertEqual(self.bash("compare", "--mode", "=", "gr"), ["graph"])
        self.assertEqual(self.bash("compare", "--mode", "="), MODES)
        self.assertEqual(self.bash("train", "--optimizer", "m"), ["momentum"])
        self.assertIn("reference", self.bash("explain", "--backend", ""))
        self.assertIn("small_cnn", self.bash("train", "--model", "small"))
        self.assertIn("fold_sgd", self.bash("compare", "--fusion", "fold"))
        self.assertIn("-layout", self.bash("compare", "--fusion", "-lay"))
        self.assertIn("second_plan", self.bash("train", "--partial", ""))
        self.assertEqual(self.bash("completion", "z"), ["zsh"])
        self.assertEqual(self.bash("train", "--epochs", ""), [])

    def test_bash_offers_files(self) -> None:
        (Path(self.folder.name) / "mine.step").write_text("")
        (Path(self.folder.name) / "results").mkdir()
        self.assertEqual(self.bash("train", "--model", "mi"), ["mine.step"])
        self.assertEqual(self.bash("compare", "--tune", "mi"), ["mine.step"])
        self.assertEqual(self.bash("compare", "--out", "re"), ["results"])
        self.assertEqual(self.bash("compare", "--out", "mi"), [])

    def check_names(self, text: str, form: str = "{}") -> None:
        for name in self.commands:
            self.assertIn(name, text)
            for flag in self.flags[name]:
                self.assertIn(form.format(flag, bare=flag[2:]), text, name)

    def test_zsh_and_fish_name_everything(self) -> None:
        self.check_names(self.script("zsh", "_stepscope").read_text())
        self.check_names(self.script("fish", "stepscope.fish").read_text(), "-l {bare}")

    @needs("zsh")
    def test_zsh_takes_the_script(self) -> None:
        script = self.script("zsh", "_stepscope")
        code = (f"fpath=('{self.folder.name}' $fpath); autoload -Uz compinit; compinit -u -D; "
                "print -r -- $_comps[stepscope]")
        self.assertEqual(run("zsh", "-f", "-c", code).stdout, "_stepscope\n")
        run("zsh", "-f", "-n", script)

    @needs("fish")
    def test_fish_offers_commands_flags_and_values(self) -> None:
        script = self.script("fish", "stepscope.fish")

        def offers(line: str) -> list[str]:
            said = run("fish", "--no-config", "-c",
                       f"source '{script}'; complete --do-complete '{line}'").stdout
            return [each.split("\t")[0] for each in said.splitlines()]

        self.assertEqual(offers("stepscope tr"), ["train"])
        self.assertEqual(sorted(offers("stepscope train --mo")), ["--mode", "--model"])
        self.assertEqual(sorted(offers("stepscope train --mode ")), sorted(MODES))

    def test_an_unknown_shell_is_wrong_usage(self) -> None:
        said = run(program(), "completion", "fis", status=2)
        self.assertEqual(said.stderr, "stepscope: unknown shell 'fis': did you mean 'fish'? (there "
                                      "are: bash, zsh, fish)\n")
        run(program(), "completion", status=2)

    def manual(self) -> Path:
        path = Path(self.folder.name) / "stepscope.1"
        path.write_text(run(program(), "manual").stdout)
        return path

    def test_manual_has_its_sections_and_every_flag(self) -> None:
        text = self.manual().read_text()
        self.assertTrue(text.startswith(f'.TH STEPSCOPE 1 "" "stepscope {options.version}"'))
        sections = ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXAMPLES", "EXIT STATUS",
                    "ENVIRONMENT", "FILES", "SEE ALSO"]
        self.assertEqual(re.findall(r"(?m)^\.SH (.*)$", text), sections)
        self.check_names(text.replace("\\-", "-"))
        for line in text.splitlines():
            if line.startswith("."):
                self.assertRegex(line, r"^\.(TH|SH|SS|TP|B|I|IR|br|nf|fi)\b")

    @needs("groff")
    def test_groff_has_nothing_to_say(self) -> None:
        said = run("groff", "-z", "-man", "-wall", "-Tutf8", self.manual())
        self.assertEqual(said.stderr, "")

    @needs("man")
    def test_man_shows_it(self) -> None:
        said = run("man", "-l", self.manual())
        plain = re.sub(r".\x08", "", said.stdout)
        if "has been minimized" in plain:
            self.skipTest("man is a stand-in here")
        self.assertIn("stepscope train", plain)
        self.assertRegex(plain, r"--partial value")


if __name__ == "__main__":
    harness.main()
