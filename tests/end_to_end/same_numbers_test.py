"""Terminal, HTML page and JSON carry the same numbers: of every recorded scenario, what a reader sees in the first two is
built here anew from the JSON alone, rounded once."""
import html
import json
import pathlib
import re
import shutil
import subprocess
import unittest

from verbs import VerbTest

SCENARIOS = sorted((pathlib.Path(__file__).resolve().parents[1] / "scenarios").glob("*.trace"))
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def rate(per_second):
    return f"{round(per_second):,}" if per_second >= 999.5 else f"{per_second:.3g}"


def time_text(run):
    """"24.2 steps/s; computes 52%, waits for data 39%"."""
    speed = [rate(run["steps_per_s"]["value"]) + " steps/s"] if run["steps_per_s"] else []
    accounts = [f"{each['account']} {100 * each['share']:.0f}%" for each in run["accounts"] if each["share"] >= 0.01]
    return "; ".join(speed + ([", ".join(accounts)] if accounts else []))


def confidence(finding):
    return f"{100 * finding['confidence']:.0f}%"


def gain(finding):
    factor = finding["predicted_gain"]
    return f"about {factor:.1f}x as fast" if factor and factor >= 1.05 else ""


def terminal(told):
    """What the terminal should show, in words."""
    shown = lambda text: text.replace("\n", "\\n")  # a sentence stays on one line
    parts = [shown(told["sentence"])]
    for each in told["findings"]:
        parts.append(f"{each['severity']} ({confidence(each)} sure): {shown(each['summary'])}")
        parts += ["where", each["where"]] if each["where"] else []
        parts += ["evidence", *each["evidence"]] if each["evidence"] else []
        parts += ["fix", each["fix"]] if each["fix"] else []
        parts += ["gain", gain(each)] if gain(each) else []
        parts += ["more", each["page"]]
    parts += ["time", time_text(told["run"])] if time_text(told["run"]) else []
    return " ".join(parts).split()


class SameNumbers(VerbTest):
    def told(self, trace):
        status = 0 if trace.name.startswith("healthy") else 3
        out = json.loads(self.headway("doctor", trace, "--json", status=status).stdout)
        text = self.headway("doctor", trace, "--html", "report.html", status=status).stdout
        return out, text, (self.folder / "report.html").read_text()

    def test_every_scenario_in_terminal_and_page(self):
        self.assertGreater(len(SCENARIOS), 100)
        gains = rates = 0
        for trace in SCENARIOS:
            with self.subTest(scenario=trace.name):
                told, text, page = self.told(trace)
                self.assertEqual(text.split(), terminal(told))
                plain = html.unescape(re.search(r"<noscript><pre>(.*?)</pre>", page, flags=re.S)[1])
                self.assertEqual(plain.split(), terminal(told), "without scripts the page is the terminal's text")
                data = json.loads(re.search(r'id="data">(.*?)</script>', page, flags=re.S)[1])
                self.assertEqual(data["verdict"]["sentence"], told["sentence"])
                self.assertEqual(data["run"], told["run"])
                facts = dict(data["facts"])
                self.assertEqual(facts.get("time of the training thread", ""), time_text(told["run"]))
                self.assertEqual("time left" in facts, told["eta_s"] is not None)
                self.assertEqual(len(data["findings"]), len(told["findings"]))
                for drawn, each in zip(data["findings"], told["findings"]):
                    self.assertEqual({key: drawn[key] for key in each}, each)
                    self.assertEqual((drawn["confidence_text"], drawn["gain_text"]), (confidence(each), gain(each)))
                    gains += gain(each) != ""
                rates += told["run"]["steps_per_s"] is not None
        self.assertGreater(gains, 10, "scenarios with a gain")
        self.assertGreater(rates, 30, "scenarios with a speed")

    def test_shares_of_the_accounts_are_those_of_the_ledger(self):
        for trace in SCENARIOS:
            told, _, _ = self.told(trace)
            for account in told["run"]["accounts"]:
                lines = [each["share"] for each in told["ledger"] if each["account"] == account["account"]]
                self.assertAlmostEqual(sum(lines), account["share"], 9, trace.name)
                if told["run"]["steps_per_s"]:
                    cost = account["s_per_step"]["value"] * told["run"]["steps_per_s"]["value"]
                    self.assertAlmostEqual(cost, account["share"], 6, f"{trace.name}: a share is its cost per step")

    @unittest.skipUnless(BROWSER, "no chromium here")
    def test_what_the_browser_draws_is_what_the_json_says(self):
        for name in ("serial-map", "cpu-quota", "dataloader-workers"):
            trace = next(each for each in SCENARIOS if each.name == name + ".trace")
            told, _, _ = self.told(trace)
            done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000",
                                   f"--user-data-dir={self.folder}/browser", "--dump-dom",
                                   f"file://{self.folder}/report.html"], capture_output=True, text=True, timeout=120)
            drawn = html.unescape(done.stdout[:done.stdout.index('<script type="application/json"')])
            self.assertIn(time_text(told["run"]), drawn)
            for each in told["findings"]:
                card = drawn[drawn.index(f'id="{each["cause"]}"'):]
                card = card[:card.index("</article>")]
                self.assertIn(f">{gain(each)}<" if gain(each) else each["summary"], card)
                self.assertRegex(card, f"</i></span>{confidence(each)}<")


if __name__ == "__main__":
    unittest.main()
