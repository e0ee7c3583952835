#!/usr/bin/env python3
"""Draws messages at random from the source, to be shown alone to somebody who does not know the code: can they say what
happened and what to do?

  draw_messages.py [--count 40] [--seed 1] [--list]

Errors with their remedy (throw Error ...), findings of the doctor with their fix, warnings, help texts. What a message fills in
stands as "…"."""
import argparse
import pathlib
import random
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKEN = re.compile(r'''R"(\w*)\((?P<raw>.*?)\)\1"|"(?P<text>(?:[^"\\\n]|\\.)*)"|(?P<comment>//[^\n]*)|'(?:[^'\\]|\\.)+'|(?P<word>[\w.]+|::|->)|(?P<sign>[^\s\w])''',
                   re.S)


def tokens(source):
    """(kind, text, place) of a source, without comments."""
    out = []
    for match in TOKEN.finditer(source):
        if match["comment"] is not None:
            continue
        if match["raw"] is not None or match["text"] is not None:
            text = match["raw"] if match["raw"] is not None else match["text"]
            out.append(("text", text.replace(r"\n", "\n").replace(r"\"", '"').replace(r"\\", "\\"), match.start()))
        else:
            out.append(("sign", match[0], match.start()))
    return out


def group(all_tokens, start):
    """The tokens between the bracket at `start` and its partner, cut at the commas of that level."""
    depth, parts = 0, [[]]
    for token in all_tokens[start:]:
        opens, closes = token[0] == "sign" and token[1] in "([{", token[0] == "sign" and token[1] in ")]}"
        depth -= closes
        if depth == 0 and closes:
            return [part for part in parts if part]
        if depth == 1 and token[:2] == ("sign", ","):
            parts.append([])
        elif depth > 0:
            parts[-1].append(token)
        depth += opens
    return []


def constants():
    """What constants such as kMakeAgain say, of all files."""
    found = {}
    for name in subprocess.check_output(["git", "-C", ROOT, "ls-files", "headway/*.cpp", "headway/*.h", "cli/*.cpp"], text=True).split():
        for match in re.finditer(r'(k[A-Z]\w*)(?:\[\])?\s*=\s*((?:"(?:[^"\\\n]|\\.)*"\s*)+);', (ROOT / name).read_text()):
            found[match[1]] = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', match[2]))
    return found


CONSTANTS = constants()


def told(part):
    """An expression as the text it gives, "…" for what is known only when it runs; of two texts to choose from the first."""
    out, i, skipped_else = [], 0, False
    while i < len(part):
        kind, text, _ = part[i]
        if kind == "text":
            out.append(re.sub(r"\{[^{}]*\}", "…", text).replace("{{", "{").replace("}}", "}"))
        elif text == "format" and i + 1 < len(part) and part[i + 1][1] == "(":
            arguments = group(part, i + 1)
            out.append(told(arguments[0]) if arguments else "…")
            depth = 0
            for i in range(i + 1, len(part)):
                depth += part[i][:2] in (("sign", "("), ("sign", "{"), ("sign", "["))
                depth -= part[i][:2] in (("sign", ")"), ("sign", "}"), ("sign", "]"))
                if depth == 0:
                    break
        elif text == "?":  # what stood before was the condition
            out = []
        elif text == ":" and not skipped_else and any(each[1] == "?" for each in part[:i]):
            break
        elif text == "+" or text in ("fmt", "::", "std", "string", "(", ")"):
            pass
        elif text.rsplit(".")[-1] in CONSTANTS:
            out.append(CONSTANTS[text])
        else:
            out.append("\0")
        i += 1
    return re.sub("\0+", "…", "".join(out))


def messages(path):
    found, source = [], path.read_text()
    all_tokens = tokens(source)
    words = [token[1] if token[0] == "sign" else "" for token in all_tokens]
    for i, word in enumerate(words):
        following = words[i + 1] if i + 1 < len(words) else ""
        text = hint = ""
        if word in ("Error", "SampleError", "resource_error", "out_of_memory", "JsonError") and following == "(" and words[i - 1] == "throw":
            arguments = [told(each) for each in group(all_tokens, i + 1)]
            if word == "SampleError" and len(arguments) > 1:  # begins with where the sample came from
                arguments = ["FILE at byte N: " + arguments[1], *arguments[2:]]
            text, hint = (arguments + ["", ""])[:2]
        elif word == "Finding" and following == "{":
            fields = {"".join(t[1] for t in each[:2]): each for each in group(all_tokens, i + 1)}
            fields = {name: told(each[3:] if each[2][1] == "=" else each[2:]) for name, each in fields.items() if len(each) > 2}
            text, hint = next((v for k, v in fields.items() if k.startswith(".summary")), ""), next((v for k, v in fields.items() if k.startswith(".fix")), "")
        elif word in ("warn", "say", "complain") and following == "(":
            text = (list(map(told, group(all_tokens, i + 1))) + [""])[0]
        elif word in ("add_option", "add_flag") or word.endswith(("->add_option", "->add_flag")):
            arguments = [told(each) for each in group(all_tokens, i + 1)]
            if len(arguments) > 2:
                text = f"(help) {arguments[0]}: {arguments[2]}"
        if len(re.findall(r"[a-z]{2,}", text)) >= 3:
            line = source.count("\n", 0, all_tokens[i][2]) + 1
            found.append((f"{path.relative_to(ROOT)}:{line}", text + (f"\n      ---> {hint}" if hint.strip("… ") else "")))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="with the place of each in the source")
    options = parser.parse_args()
    names = subprocess.check_output(["git", "-C", ROOT, "ls-files", "headway/*.cpp", "headway/*.h", "cli/*.cpp"], text=True).split()
    every = [each for name in names if not name.endswith("_test.cpp") for each in messages(ROOT / name)]
    drawn = random.Random(options.seed).sample(every, min(options.count, len(every)))
    print(f"{len(drawn)} of {len(every)} messages\n")
    for i, (place, text) in enumerate(drawn, 1):
        print(f"{i:3}. {text}" + (f"    [{place}]" if options.list else ""))


if __name__ == "__main__":
    main()
