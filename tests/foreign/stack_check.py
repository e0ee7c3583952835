"""What a stack of stack_targets.py may look like. A frame is (function, file name, line), innermost first."""
import ast
import pathlib

SOURCE = pathlib.Path(__file__).resolve().with_name("stack_targets.py")
LINES = SOURCE.read_text().splitlines()
NAME = SOURCE.name


def plain(function):
    """co_name of a qualified name: Worker.short.<locals>.<genexpr> is <genexpr>."""
    return function.rsplit(".", 1)[-1]


def spans():
    """function name -> the lines its code may stand at, from its first decorator or `def` to its last."""
    found = {"<module>": range(1, len(LINES) + 1)}
    for node in ast.walk(ast.parse(SOURCE.read_text())):
        if isinstance(node, ast.FunctionDef):
            found[node.name] = range(node.lineno, node.end_lineno + 1)
            for inner in ast.walk(node):
                if isinstance(inner, ast.GeneratorExp):
                    found["<genexpr>"] = range(inner.lineno, inner.end_lineno + 1)
    return found


SPANS = spans()
# The code that fresh() makes. A module's first instruction has line 0 in newer Pythons.
MADE = {("made", 1), ("made", 2), ("made", 3), ("<module>", 0), ("<module>", 1)}
# Called by C or by another name than their own, so that the caller's line cannot show it.
THREAD_BODIES = {"park", "sway", "outer", "restless"}


def calls(caller_line, callee):
    """Does this line of the target call that function?"""
    text = LINES[caller_line - 1]
    if callee == "made":
        return 'scope["made"]' in text
    if callee in ("<genexpr>", "count_down"):
        return "sum(" in text
    if callee == "<module>":
        return "exec(" in text  # the freshly made code's own module
    return f"{callee}(" in text and not text.lstrip().startswith("def ")


def fault_in(frames):
    """Why this cannot be a stack of the target, or ""."""
    if not frames:
        return "no frames"
    function, file, _ = frames[-1]
    if not (file == "threading.py" and function in ("_bootstrap", "run") or (function, file) == ("<module>", NAME)):
        return f"ends in {function} of {file}"
    for (function, file, line), (caller, caller_file, caller_line) in zip(frames, frames[1:]):
        if file == NAME and line not in SPANS.get(function, ()):
            return f"line {line} is not in {function}"
        if caller_file == NAME and caller_line not in SPANS.get(caller, ()):
            return f"line {caller_line} is not in {caller}"
        if file == NAME and caller_file == "threading.py" and function not in THREAD_BODIES:
            return f"threading does not call {function}"
        if file in (NAME, "<made>") and caller_file == NAME and not calls(caller_line, function):
            return f"{caller}:{caller_line} does not call {function}"
        if file == "<made>" and (function, line) not in MADE:
            return f"<made>:{line} in {function}"
    return ""


def key(thread):
    return tuple(thread["frames"])


def agree(ours, theirs):
    """The same frames in every thread; by thread id where both know it, else as a collection."""
    ours = [thread for thread in ours if thread["frames"]]
    theirs = [thread for thread in theirs if thread["frames"]]
    if all(thread["complete"] for thread in ours) and all(thread["tid"] for thread in theirs):
        return {t["tid"]: key(t) for t in ours} == {t["tid"]: key(t) for t in theirs}
    return sorted(map(key, ours)) == sorted(map(key, theirs)) and all(thread["complete"] for thread in ours)
