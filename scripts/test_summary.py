"""test_summary.py DIR: adds up ctest's *.xml and notes.tsv in DIR.

Names what was skipped and what failed, with the last lines it printed, then prints one line alone:
N passed, N failed, N skipped.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def reason_for_skip(case):
    """What the test said: the line behind [  SKIPPED ] or "skipped: ...", else ctest's word."""
    output = case.findtext("system-out") or ""
    said = re.search(r"Skipped\n(.+)", output) or re.search(r"^skipped: (.+)", output, re.M)
    if said:
        return said.group(1).strip()
    return case.find("skipped").get("message", "")


LAST_LINES = 15


def reason_for_failure(case):
    """ctest's word (Failed, Timeout, a signal), then the last lines that the test printed."""
    failure = case.find("failure")
    word = failure.get("message", "") if failure is not None else "not run"
    output = (case.findtext("system-out") or "").rstrip().splitlines()
    return "\n      ".join([word, *output[-LAST_LINES:]])


def outcomes(folder):
    """Yields (passed|failed|skipped, name, reason)."""
    for path in sorted(folder.glob("*.xml")):
        cases = list(ElementTree.parse(path).iter("testcase"))
        if not cases:
            yield "failed", f"{path.stem}: every test", "none was found"
        for case in cases:
            name = f"{path.stem}: {case.get('name')}"
            if case.get("status") == "disabled":
                yield "skipped", name, "disabled in the source"
            elif case.find("skipped") is not None and case.get("status") != "fail":
                yield "skipped", name, reason_for_skip(case)
            elif case.get("status") == "run":
                yield "passed", name, ""
            else:
                yield "failed", name, reason_for_failure(case)
    notes = folder / "notes.tsv"
    if notes.exists():
        for line in notes.read_text().splitlines():
            yield tuple(line.split("\t"))


def main():
    results = list(outcomes(Path(sys.argv[1])))
    counts = {kind: [r for r in results if r[0] == kind] for kind in ("passed", "failed", "skipped")}
    for kind in ("skipped", "failed"):
        if counts[kind]:
            print(f"\n{kind.upper()}")
        for _, name, reason in counts[kind]:
            print(f"  {name}" + (f" -- {reason}" if reason else ""))
    print()
    print(", ".join(f"{len(found)} {kind}" for kind, found in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
