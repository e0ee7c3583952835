#!/usr/bin/env python3
"""On a machine with a GPU: what does `headway attach` say of a PyTorch run whose DataLoader has 0, 2
and 16 workers, and of one on synthetic batches?

  check.py HEADWAY FOLDER_OF_IMAGES [--json FILE]
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = Path(__file__).with_name("train_resnet.py")
CASES = (("workers 0", ["--workers", "0"], "dataloader-workers"),
         ("workers 2", ["--workers", "2"], "dataloader-workers"),
         ("workers 16", ["--workers", "16"], None),  # whatever is true here: shown, not judged
         ("synthetic", ["--synthetic"], "healthy"))
WARM_UP_S = 25


def look(headway, folder, options):
    with open("/tmp/headway-gpu-check.log", "w") as log:
        run = subprocess.Popen([sys.executable, str(PROGRAM), folder, *options, "--seconds", "90"],
                               stdout=log, stderr=log)
        try:
            time.sleep(WARM_UP_S)
            out = subprocess.run([headway, "attach", str(run.pid), "--once", "--json"],
                                 capture_output=True, text=True, timeout=120)
        finally:
            run.kill()
            run.wait()
    said = json.loads(out.stdout) if out.stdout.strip() else {"verdict": "none", "findings": []}
    lines = Path("/tmp/headway-gpu-check.log").read_text().splitlines()
    return said, lines[-1] if lines else "", out.stderr[-500:]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headway")
    parser.add_argument("folder")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    results, wrong = {}, 0
    for name, options, expected in CASES:
        said, progress, complaint = look(args.headway, args.folder, options)
        grave = [f["cause"] for f in said["findings"] if f["severity"] != "info"]
        top = grave[0] if grave else "healthy"
        right = expected is None or top == expected
        wrong += not right
        print(f"== {name}: {'ok' if right else 'WRONG'}: {said['verdict']}, {top}; {progress}")
        print("   " + said.get("sentence", ""))
        for finding in said["findings"][:2]:
            print(f"   {finding['cause']} ({finding['severity']}): {finding['summary']}")
            for line in finding["evidence"]:
                print("      " + line)
            print(f"      where {finding['where']}\n      fix   {finding['fix']}")
        if complaint:
            print("   " + complaint)
        results[name] = said
    if args.json:
        args.json.write_text(json.dumps(results, indent=1))
    return wrong


if __name__ == "__main__":
    sys.exit(main())
