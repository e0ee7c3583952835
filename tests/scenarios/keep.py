#!/usr/bin/env python3
"""Makes a scenario of a trace that `headway run --trace` or `attach --trace` kept: what no rule asks for is left out,
so that it is small and tells nothing of the machine.

    keep.py SEEN.trace retracing.molecules.outside          writes retracing.molecules.outside.trace here
    keep.py SEEN.trace healthy-molecules.outside            of a program that has nothing to mend
    keep.py --set 'gpus=[{"name": "H200"}]' SEEN.trace ...  with a field of what was seen changed, for what no machine here
                                                            can show; the name should say "edited"
"""
import argparse
import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
STACKS, SAMPLES = 50, 80


def short(path):
    return re.sub(r"^/.*/(site-packages|dist-packages|python3[.\d]*)/", "/lib/", path) if "/lib" in path else path.rsplit("/", 1)[-1]


def without_folders(value):
    """Every file by its name alone, wherever it stands: folders are those of one machine."""
    if isinstance(value, list):
        return [without_folders(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {name: short(each) if name == "file" else without_folders(each) for name, each in value.items()}


def trimmed(frames):
    """The innermost, the user's own, and what the innermost of those called: rules ask for no other."""
    users = [i for i, frame in enumerate(frames) if frame.get("users")]
    kept = {0, *users, *(i - 1 for i in users[:1] if i > 0)}
    return [frame for i, frame in enumerate(frames) if i in kept]


def thin(samples):
    step = max(1, -(-len(samples) // SAMPLES))
    return [sample for i, sample in enumerate(samples) if (len(samples) - 1 - i) % step == 0]


def change(seen, field, value):
    """`cores`, `output.exception`, or `produce.wait`: of all stacks of who makes samples."""
    *parents, name = field.split(".")
    if parents == ["produce"]:
        for stack in seen["stacks"]:
            if stack.get("activity") == "produce":
                stack[name] = value
        return
    for parent in parents:
        seen = seen.setdefault(parent, {})
    seen[name] = value


def kept(lines, changes, ended):
    records = [json.loads(line) for line in lines]
    samples = thin([r for r in records if r["kind"] == "sample"])
    for record in records:
        if record["kind"] == "run":
            record["program"] = " ".join(pathlib.Path(word).name for word in record.get("program", "").split())
        if record["kind"] == "outside":
            seen = record["outside"] if "outside" in record else record
            for field in ("exit", "exit_status", "gone"):  # we stopped it: it would have gone on
                if not ended:
                    seen.pop(field, None)
            for field, value in changes.items():
                change(seen, field, value)
            seen["command"] = " ".join(pathlib.Path(word).name for word in seen.get("command", "").split())
            seen.pop("values", None)
            seen["stacks"] = [{**s, "frames": trimmed(s.get("frames", []))} for s in seen.get("stacks", [])[:STACKS]]
            for process in seen.get("processes", []):
                process["stack"] = trimmed(process.get("stack", []))
    others = [r for r in records if r["kind"] != "sample"]
    first = next(i for i, r in enumerate(records) if r["kind"] == "sample")
    return without_folders(others[:first] + samples + others[first:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=JSON")
    parser.add_argument("--ended", action="store_true", help="it ended by itself; else it is shown as it was before")
    parser.add_argument("seen", type=pathlib.Path)
    parser.add_argument("name")
    options = parser.parse_args()
    changes = {field: json.loads(value) for field, value in (each.split("=", 1) for each in options.set)}
    records = kept(options.seen.read_text().splitlines(), changes, options.ended)
    out = HERE / f"{options.name}.trace"
    out.write_text("".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records))
    print(f"{out.name}: {out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
