#!/usr/bin/env python3
"""What the program prints for shells and man: every flag of every command is in it, and it works.

Arguments: see harness.py. Shells and tools that are not installed are left out, by name.
"""
# SPDX-License-Identifier: Apache-2.0
import os
import pty
import re
import shutil
import tempfile
import unittest
from pathlib import Path

import harness
from harness import options, run

MODES = ["eager", "planned", "graph"]
# Commands that take one word more, each behind its flag: what is offered must be what they take.
EXPLAIN = ["explain", "--model", "mlp:4-3-2", "--backend", "reference"]
TRAIN = ["train", "--model", "mlp:784-4-10", "--data", "generated", "--epochs", "1", "--steps", "2",
         "--quiet", "--backend", "reference"]
LISTS = {"--format": EXPLAIN, "--optimizer": EXPLAIN, "--mode": TRAIN, "--partial": TRAIN,
         "--shape": ["lab", "--images", "7", "--make-data"]}


def program() -> Path:
    return options.build / "bin/stepscope"


def needs(tool: str):
    return unittest.skipUnless(shutil.which(tool), f"{tool} is not installed")


def typed(shell: list[str], folder: str, keys: str) -> str:
    """All that the shell shows when these keys are typed at its prompt, up to `<got ...>`."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execvpe(shell[0], shell, {**os.environ, "TERM": "dumb", "ZDOTDIR": folder})
    shown = ""
    try:
        for until, answer in (("READY>", keys), ("<got .*>", "")):
            while not re.search(until, shown):
                shown += os.read(terminal, 4096).decode(errors="replace")
            os.write(terminal, answer.encode())
    except OSError as error:  # the shell ended
        raise AssertionError(f"{shell[0]} ended: {shown}") from error
    finally:
        os.close(terminal)
        os.waitpid(process, 0)
    return shown


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
        said = run("bash", "--norc", "--noprofile", "-c", code, cwd=self.folder.name).stdout
        return [line for line in said.splitlines() if line]

    def tab(self, shell: list[str], start: str, *words: str) -> list[str]:
        """The words that a command gets when TAB is pressed behind these, then return."""
        name = {"bash": "bashrc", "zsh": ".zshrc"}[shell[0]]
        (Path(self.folder.name) / name).write_text(
            f"{start}\nPS1='READY>'\n"
            "stepscope() { printf '<got %s>\\n' \"$(printf '[%s]' \"$@\")\"; }\n")
        shown = typed(shell, self.folder.name, f"stepscope {' '.join(words)}\t\r")
        self.assertNotRegex(shown, r"_\w+:\d+: |_stepscope: ")  # no error of a shell's function
        return re.findall(r"\[([^]]*)\]", re.search("<got (.*)>", shown).group(1))

    def make_files(self) -> None:
        for name in ("mine.step", "my net.step"):
            (Path(self.folder.name) / name).write_text("")
        for name in ("results", "some results"):
            (Path(self.folder.name) / name).mkdir(exist_ok=True)

    def test_there_are_commands_and_flags(self) -> None:
        self.assertLessEqual({"compare", "train", "report", "explain", "devices", "completion", "manual"},
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
        self.assertEqual(self.bash("explain", "--format", ""), ["text", "ir", "dot", "dot-recording"])
        self.assertEqual(self.bash("report", "--format", ""), ["html", "md", "csv"])
        self.assertEqual(self.bash("report", "--format", "html,"), ["html,html", "html,md", "html,csv"])
        self.assertEqual(self.bash("report", "--color", "a"), ["auto", "always"])
        self.assertEqual(self.bash("train", "--epochs", ""), [])

    def test_bash_offers_files(self) -> None:
        self.make_files()
        self.assertEqual(self.bash("train", "--model", "mi"), ["mine.step"])
        self.assertEqual(self.bash("compare", "--tune", "mi"), ["mine.step"])
        self.assertEqual(self.bash("compare", "--out", "re"), ["results"])
        self.assertEqual(self.bash("compare", "--out", "mi"), [])
        self.assertEqual(self.bash("lab", "--make-data", "re"), ["results"])
        self.assertEqual(self.bash("train", "--model", "my"), ["my net.step"])
        self.assertEqual(self.bash("compare", "--tune", "m"), ["mine.step", "my net.step"])
        self.assertEqual(self.bash("compare", "--out", "so"), ["some results"])
        self.assertEqual(self.bash("report", "re"), ["results"])
        self.assertEqual(self.bash("report", "--quiet", "some", "mi"), ["mine.step"])
        self.assertEqual(self.bash("explain", "mi"), [])

    def test_bash_completes_at_a_tab(self) -> None:
        self.make_files()
        script = self.script("bash", "stepscope.bash")
        shell = ["bash", "--noprofile", "--rcfile", "bashrc", "-i"]

        def tab(*words: str) -> str:
            return self.tab(shell, f"source '{script}'", *words)[-1]

        self.assertEqual(tab("train", "--model", "small"), "small_cnn")
        self.assertEqual(tab("train", "--model", "my"), "my net.step")
        self.assertEqual(tab("train", "--model", "my\\ n"), "my net.step")
        self.assertEqual(tab("compare", "--fusion", "on,fold"), "on,fold_sgd")
        self.assertEqual(tab("compare", "--out", "so"), "some results/")

    def test_offered_words_are_those_taken(self) -> None:
        """Each is accepted, and they are those that the command tells of when it refuses one."""
        for flag, command in LISTS.items():
            offered = self.bash(command[0], flag, "")
            for word in offered:
                self.takes(command, flag, word, status=0)
            said = self.takes(command, flag, "nothing", status=2)
            known = re.search(r"\(there are: (.*)\)\n", said).group(1).split(", ")
            self.assertEqual(sorted(offered), sorted(known), flag)

    def takes(self, command: list[str], flag: str, word: str, status: int) -> str:
        where = [f"{self.folder.name}/made {word}"] if command[-1] == "--make-data" else []
        return run(program(), *command, *where, flag, word, status=status).stderr

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

    @needs("zsh")
    def test_zsh_completes_at_a_tab(self) -> None:
        self.make_files()
        self.script("zsh", "_stepscope")
        start = f"fpath=('{self.folder.name}' $fpath); autoload -Uz compinit; compinit -u -D"

        def tab(*words: str) -> str:
            return self.tab(["zsh", "-d", "-i"], start, *words)[-1]

        self.assertEqual(tab("tra"), "train")
        self.assertEqual(tab("train", "--epo"), "--epochs")
        self.assertEqual(tab("train", "--model", "small"), "small_cnn")
        self.assertEqual(tab("train", "--model", "my"), "my net.step")
        self.assertEqual(tab("train", "--data", "gen"), "generated")
        self.assertEqual(tab("train", "--mode", "pl"), "planned")
        self.assertEqual(tab("compare", "--fusion", "on,fold"), "on,fold_sgd")
        self.assertEqual(tab("lab", "--make-data", "so"), "some results")
        self.assertEqual(tab("report", "--format", "ht"), "html")
        self.assertEqual(tab("report", "so"), "some results")
        self.assertEqual(tab("report", "--quiet", "results", "mi"), "mine.step")

    @needs("fish")
    def test_fish_offers_commands_flags_and_values(self) -> None:
        self.make_files()
        script = self.script("fish", "stepscope.fish")

        def offers(line: str) -> list[str]:
            said = run("fish", "--no-config", "-c",
                       f"source '{script}'; complete --do-complete '{line}'",
                       cwd=self.folder.name).stdout
            return [each.split("\t")[0] for each in said.splitlines()]

        self.assertEqual(offers("stepscope tr"), ["train"])
        self.assertEqual(sorted(offers("stepscope train --mo")), ["--mode", "--model"])
        self.assertEqual(sorted(offers("stepscope train --mode ")), sorted(MODES))
        self.assertEqual(offers("stepscope compare --mode eager,pl"), ["eager,planned"])
        self.assertEqual(offers("stepscope compare --mode=eager,pl"), ["--mode=eager,planned"])
        self.assertEqual(offers("stepscope compare --fusion on,fold"), ["on,fold_sgd"])
        self.assertEqual(sorted(offers("stepscope lab --shape ")), ["glyphs", "mnist"])
        self.assertEqual(sorted(offers("stepscope explain --format ")),
                         ["dot", "dot-recording", "ir", "text"])
        self.assertEqual(sorted(offers("stepscope report --format ")), ["csv", "html", "md"])
        self.assertEqual(offers("stepscope report mi"), ["mine.step"])
        self.assertEqual(offers("stepscope explain mi"), [])

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
