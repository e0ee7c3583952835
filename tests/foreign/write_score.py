#!/usr/bin/env python3
"""docs/score.md: a table for each blind round, from what was written down at its first run. The head is written by hand.

    write_score.py            writes the page anew below its head
    write_score.py --check    status 1 if the page is not what would be written
    write_score.py --print    only the tables, to the terminal
"""
import sys

import program as programs
import rounds
import who

PAGE = rounds.ROOT / "docs" / "score.md"
MARK = "<!-- Below: written by tests/foreign/write_score.py. -->"


def percent(part, whole):
    return f"{part} of {whole} ({100 * part / whole:.0f}%)" if whole else "0 of 0"


def rows(record, chosen=lambda case: True):
    """Missed ones are marked; a program that was skipped has given nothing and is missed as well."""
    for case in filter(chosen, record["cases"]):
        given = ", ".join(case["given"]) or ("no verdict" if case["problem"] else "-")
        mark = "" if case["right"] else "**accused**" if case["accused"] else "**miss**"
        expected = case["expected"] + (f" (or {', '.join(case['accepted'])})" if case["accepted"] else "")
        yield f"| {case['name']} | {expected} | {given} | {case['verdict']} | {mark} |"
    for case in record["skipped"]:
        yield f"| {case['name']} | {case['expected']} | skipped: {case['why']} | - | **miss** |"


def counts(record):
    """(faults named right, faults, healthy ones accused, healthy ones) of one round; what was skipped counts."""
    faulty = [case for case in record["cases"] if case["expected"] != "healthy"]
    healthy = [case for case in record["cases"] if case["expected"] == "healthy"]
    skipped_faults = sum(case["expected"] != "healthy" for case in record["skipped"])
    return (sum(case["right"] for case in faulty), len(faulty) + skipped_faults,
            sum(case["accused"] for case in healthy), len(healthy) + len(record["skipped"]) - skipped_faults)


def is_round(record):
    return record["set"].startswith("blind/round")


def others(record):
    """The same programs and code, watched by somebody else than root."""
    found = [rounds.first_run(record["set"], name) for name in who.ALL if name != who.ROOT.name]
    return [other for other in found if other]


def overview(records):
    """A line for each round, and one for all."""
    lines = ["## All rounds", "", "| round | faults named right | healthy programs accused | by others than root |",
             "|---|---|---|---|"]
    for record in records:
        right, faults, accused, healthy = counts(record)
        by_others = "; ".join(f"{other['as']}: {score(other)}" for other in others(record))
        lines.append(f"| {record['set'].removeprefix('blind/round')} | {percent(right, faults)} | {percent(accused, healthy)} "
                     f"| {by_others or '-'} |")
    right, faults, accused, healthy = map(sum, zip(*map(counts, records)))
    lines.append(f"| all | {percent(right, faults)} | {percent(accused, healthy)} | |")
    return "\n".join([*lines, "", ""])


def score(record):
    right, faults, accused, healthy = counts(record)
    return f"{right} of {faults}, {accused} of {healthy} accused"


def by_other(record, other):
    """What somebody else was told, where it is another answer than root's."""
    as_root = {case["name"]: case["given"] for case in record["cases"]}
    differ = list(rows(other, lambda case: as_root.get(case["name"]) != case["given"]))
    return [f"Watched by `{other['as']}`: {score(other)}. Other answers than root's:", "",
            "| program | expected | given | verdict | |", "|---|---|---|---|---|", *differ, ""]


def table(record):
    """One round."""
    skipped = record["skipped"]
    right, faults, accused, healthy = counts(record)
    over = record["ended"][:10] if record["ended"] else "not over"
    return "\n".join([
        f"## {record['set'].removeprefix('blind/')}", "",
        f"Programs of commit `{record['programs_commit'][:12]}`, code of commit `{record['code_commit'][:12]}`, {over}.", "",
        f"- faults named right: {percent(right, faults)}",
        f"- healthy programs accused: {percent(accused, healthy)}",
        f"- without a verdict: {sum(bool(case['problem']) for case in record['cases'])}; skipped: {len(skipped)}", "",
        "| program | expected | given | verdict | |", "|---|---|---|---|---|", *rows(record), "",
        *(line for other in others(record) for line in by_other(record, other))])


def tables(records):
    if not records:
        return "No round has been run yet.\n"
    return overview([record for record in records if is_round(record)]) + "\n".join(map(table, records))


def page(before, records):
    """The page with its head as it is."""
    head, mark, _ = before.partition(MARK)
    if not mark:
        raise SystemExit(f"{PAGE}: the line {MARK} is missing")
    return f"{head}{MARK}\n\n{tables(records)}"


def all_records():
    found = [rounds.first_run(name) for name in programs.all_sets() if programs.round_of(name)]
    return [record for record in found if record]


def main():
    records = all_records()
    if "--print" in sys.argv:
        print(tables(records))
        return 0
    before = PAGE.read_text()
    after = page(before, records)
    if "--check" in sys.argv:
        return 0 if before == after else 1
    PAGE.write_text(after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
