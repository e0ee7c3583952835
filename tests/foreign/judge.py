"""A verdict against an expectation."""
import dataclasses
import json
import re

LOUD = ("warning", "high", "critical")  # from here on the user is told that something should be done


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

    @property
    def ok(self):
        return self.top1


def line_of(where, path):
    """The text of the program's line that `where` names (as file.py:12), or ""."""
    match = re.search(re.escape(path.name) + r":(\d+)", where)
    lines = path.read_text().splitlines()
    number = int(match[1]) if match else 0
    return lines[number - 1] if 0 < number <= len(lines) else ""


def judge(case, verdict):
    enough = (*LOUD, "info") if case.saying_is_enough else LOUD
    loud = [finding for finding in verdict.get("findings", []) if finding.get("severity") in enough]
    given = [finding["cause"] for finding in loud]
    right = {case.expected, *case.accepted}
    where = loud[0].get("where", "") if loud else ""
    if case.healthy:
        top1 = top3 = all(cause in case.accepted for cause in given)
        line_named = None
    elif case.crashes:
        # Blaming one of the causes would be wrong; the line may stand anywhere in what was said.
        top1 = top3 = verdict.get("verdict") == "crashed" and not given
        where = json.dumps(verdict)
        line_named = any(word in line_of(where, case.path) for word in case.where) if case.where else None
        where = ""
    else:
        top1 = bool(given) and given[0] in right
        top3 = any(cause in right for cause in given[:3])
        line_named = any(word in line_of(where, case.path) for word in case.where) if case.where else None
    return Result(case=case, given=given, verdict=verdict.get("verdict", "?"),
                  seconds_to_verdict=verdict.get("seconds_to_verdict"), where=where, top1=top1, top3=top3,
                  verdict_agrees=not case.verdicts or verdict.get("verdict") in case.verdicts, line_named=line_named)


def no_verdict(case, problem):
    """Silence is wrong about a fault and, since nothing was said, no answer about health either."""
    return Result(case=case, given=[], verdict="none", seconds_to_verdict=None, where="", top1=False, top3=False,
                  verdict_agrees=False, line_named=None, problem=problem)


def as_json(result):
    case = result.case
    # A crash of the program's own is named by the verdict's word: there is no cause to give.
    given = [result.verdict] if case.crashes and result.top1 else result.given
    return {"name": case.name, "expected": case.expected, "accepted": case.accepted, "given": given,
            "verdict": result.verdict, "verdict_agrees": result.verdict_agrees, "where": result.where,
            "line_named": result.line_named, "seconds_to_verdict": result.seconds_to_verdict, "live": True,
            "problem": result.problem}
