"""A verdict against an expectation."""
import dataclasses
import json
import re

import program as programs

LOUD = ("warning", "high", "critical")  # from here on the user is told that something should be done
OVER = ("finished", "crashed", "ended")  # what is said of a program that is no more
SETTLING_S = 20  # until then a verdict may change as it likes; from then on, MOST_CHANGES times
MOST_CHANGES = 1
STUCK_NAMED_S, SLOW_NAMED_S = 15, 30


@dataclasses.dataclass
class Result:
    case: object
    given: list  # causes, best first, severity warning or above
    verdict: str
    seconds_to_verdict: float
    where: str
    top1: bool
    top3: bool
    verdict_agrees: bool
    line_named: object  # True, False, or None where no line is asked for
    problem: str = ""  # why there is no verdict
    changes: object = None  # [{at_s, verdict, cause}] as it was said; None: unknown
    named_s: object = None  # when the right name was first said

    @property
    def ok(self):
        return self.top1

    @property
    def accused(self):
        return self.case.healthy and bool(self.given) and not self.top1

    @property
    def late_changes(self):
        return late_changes(self.changes)

    @property
    def named_in_time(self):
        """None where nobody can say: a healthy program, a crash, no list of changes."""
        if self.changes is None or self.case.healthy or self.case.crashes:
            return None
        return self.named_s is not None and self.named_s <= most_seconds(self.case)

    @property
    def unsteady(self):
        return self.late_changes is not None and self.late_changes > MOST_CHANGES


def most_seconds(case):
    return STUCK_NAMED_S if "stuck" in case.verdicts and "slow" not in case.verdicts else SLOW_NAMED_S


def late_changes(changes):
    """How often what is said changed after the first SETTLING_S. That a program has ended is no change of mind."""
    if changes is None:
        return None
    count, before = 0, None
    for change in changes:
        verdict, cause = change["verdict"], change.get("cause") or ""
        now = (before[0] if before and verdict in OVER else verdict, cause)
        count += before is not None and now != before and change["at_s"] > SETTLING_S
        before = now
    return count


def first_named(changes, right):
    """How many seconds it took to say one of these causes: since nothing moves, or else since the watch began. Or None.
    The right name may come first, and that nothing moves a moment later: then it counts from the same last movement."""
    named = next((change for change in changes or [] if change.get("cause") in right), None)
    if named is None:
        return None
    stood = [change["at_s"] - change["still_s"] for change in changes if "still_s" in change and change["cause"] in right]
    return max(0.0, named["at_s"] - stood[0]) if stood else named["at_s"]


def line_of(where, path):
    """The text of the program's line that `where` names (as file.py:12), or ""."""
    match = re.search(re.escape(path.name) + r":(\d+)", where)
    lines = path.read_text().splitlines()
    number = int(match[1]) if match else 0
    return lines[number - 1] if 0 < number <= len(lines) else ""


def judge(case, verdict, also_named=()):
    """`also_named`: causes that are there, too, and of which one may be said before the expected one is."""
    enough = (*LOUD, "info") if case.saying_is_enough else LOUD
    loud = [finding for finding in verdict.get("findings", []) if finding.get("severity") in enough]
    given = [finding["cause"] for finding in loud]
    right = {case.expected, *case.accepted}
    where = loud[0].get("where", "") if loud else ""
    if case.healthy:
        top1 = top3 = all(cause in case.accepted for cause in given)
        line_named = None
    elif case.crashes:
        # Blaming a cause that the header does not accept would be wrong; the line may stand anywhere in what was said.
        top1 = top3 = verdict.get("verdict") == "crashed" and all(cause in case.accepted for cause in given)
        where = json.dumps(verdict)
        line_named = any(word in line_of(where, case.path) for word in case.where) if case.where else None
        where = ""
    else:
        top1 = bool(given) and given[0] in right
        top3 = any(cause in right for cause in given[:3])
        line_named = any(word in line_of(where, case.path) for word in case.where) if case.where else None
    return Result(case=case, given=given, verdict=verdict.get("verdict", "?"),
                  seconds_to_verdict=verdict.get("seconds_to_verdict"), where=where, top1=top1, top3=top3,
                  verdict_agrees=not case.verdicts or verdict.get("verdict") in case.verdicts, line_named=line_named,
                  changes=verdict.get("changes"),
                  named_s=first_named(verdict.get("changes"), {*right, *also_named}))


def no_verdict(case, problem):
    """Silence is wrong about a fault and, since nothing was said, no answer about health either."""
    return Result(case=case, given=[], verdict="none", seconds_to_verdict=None, where="", top1=False, top3=False,
                  verdict_agrees=False, line_named=None, problem=problem)


def as_json(result):
    case = result.case
    # A crash of the program's own is named by the verdict's word: there is no cause to give.
    given = [result.verdict] if case.crashes and result.top1 else result.given
    return {"name": case.name, "set": case.set, "round": programs.round_of(case.set), "expected": case.expected,
            "accepted": case.accepted, "given": given, "right": result.ok, "accused": result.accused,
            "verdict": result.verdict, "verdict_agrees": result.verdict_agrees, "where": result.where,
            "line_named": result.line_named, "seconds_to_verdict": result.seconds_to_verdict,
            "changes": result.changes, "late_changes": result.late_changes, "named_s": result.named_s,
            "named_in_time": result.named_in_time, "live": True, "problem": result.problem}
