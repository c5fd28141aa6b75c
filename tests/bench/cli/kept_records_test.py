#!/usr/bin/env python3
"""Every record that the tests of the command have written, against docs/record-schema.json.

kept_records_test.py SOURCE_FOLDER KEPT_RECORDS. Runs behind the tests that keep their records there
(keep_records.h, kept_records.py); removes what is valid and moves the others to bad/ there, so that
each is looked at once. Exits with 77, saying why, without jsonschema (Debian: python3-jsonschema) or without records.
"""
# SPDX-License-Identifier: Apache-2.0
import json
import os
import sys
from pathlib import Path

SKIPPED = 77

wanted = os.environ.pop("STEPSCOPE_PEERS_PYTHON", "")
if wanted:
    os.execv(wanted, [wanted, *sys.argv])
try:
    import jsonschema
except ImportError as missing:
    print(f"skipped: {missing}; it is in Debian's python3-jsonschema")
    sys.exit(SKIPPED)


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


def wrong_with(path, validator):
    try:
        record = json.loads(path.read_text(), parse_constant=no_constant)
    except ValueError as error:
        return [str(error)]
    return [f"{'/'.join(map(str, each.absolute_path))}: {each.message[:300]}"
            for each in validator.iter_errors(record)]


def main():
    root, folder = map(Path, sys.argv[1:3])
    schema = json.loads((root / "docs/record-schema.json").read_text())
    validator = jsonschema.Draft7Validator(schema)
    paths = sorted(folder.glob("*.json"))
    if not paths:
        print(f"skipped: {folder} holds no records: the tests that keep them did not run")
        return SKIPPED
    bad = 0
    for path in paths:
        wrong = wrong_with(path, validator)
        if not wrong:
            path.unlink()
            continue
        bad += 1
        record = path.read_text(errors="replace")
        command = record[record.find('"command"'):][:300].splitlines()[:1]
        (folder / "bad").mkdir(exist_ok=True)
        path = path.replace(folder / "bad" / path.name)
        print(f"{path}: {command}")
        print("\n".join(f"  {each}" for each in wrong[:5]))
    print(f"{len(paths)} records, {bad} not valid")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
