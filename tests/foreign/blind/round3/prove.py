"""Proves the programs without the tool: python3 prove.py [NAME ...]  (no name: all; results are merged into proof.json)."""
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.expanduser("~/.cache/headway")
PYTHONS = {"tensorflow": os.path.join(CACHE, "interop-py3.11-de1addc0/bin/python"), "torch": "/usr/bin/python3",
           "plain": "/usr/bin/python3", "loops": os.path.join(CACHE, "loops/bin/python")}
PYSPY = os.path.join(CACHE, "loops/bin/py-spy")
PROGRESS = {"tf_tabular_mlp": r"\bbatch (\d+)", "tf_keyword_spotting": r"\bbatch (\d+)", "jax_click_online": r"samples (\d+)",
            "plain_walker_search": r"generation (\d+)", "plain_swingup_es": r"iteration (\d+)",
            "plain_boosted_trees": r"round (\d+)", "lit_speaker_accumulate": r"\bbatch (\d+)"}
LOSS = re.compile(r"(?:loss|mse|td) ([-+.\deEnaif]+)")
KIND = {}
for kind, names in {
    "slow": "tf_beta_vae tf_tabular_mlp tf_sensor_sequence torch_fewshot_epochs torch_activation_stats torch_gru_forecaster "
            "lit_anomaly_autoencoder hf_ticket_triage hf_event_decoder jax_reaction_transformer jax_click_online "
            "plain_feature_store",
    "stuck": "tf_keyword_spotting torch_tile_cache torch_two_ranks plain_walker_search plain_frame_decoder "
             "plain_actor_learner",
    "numerical": "tf_solubility torch_new_head lit_crop_classifier jax_count_model",
    "memory": "torch_segmentation_scores",
    "crash": "plain_shard_ranker",
}.items():
    for n in names.split():
        KIND[n] = kind


def header(path):
    out = {}
    for line in open(path):
        if not line.startswith("#"):
            break
        m = re.match(r"# (\w+): (.*)", line)
        if m:
            out[m[1]] = m[2].strip()
    return out


def tree(pid):
    kids = {}
    for d in os.listdir("/proc"):
        if d.isdigit():
            try:
                f = open(f"/proc/{d}/stat").read().rsplit(")", 1)[1].split()
                kids.setdefault(int(f[1]), []).append(int(d))
            except OSError:
                pass
    todo, out = [pid], []
    while todo:
        p = todo.pop()
        out.append(p)
        todo += kids.get(p, [])
    return out


def rss(pid):
    total = 0
    for p in tree(pid):
        try:
            total += int(open(f"/proc/{p}/statm").read().split()[1]) * 4096
        except OSError:
            pass
    return total / 2 ** 20


def dump(pid):
    out = {}
    for p in tree(pid):
        r = subprocess.run([PYSPY, "dump", "-p", str(p)], capture_output=True, text=True, timeout=30)
        if r.returncode == 0:
            where = [l.strip() for l in r.stdout.splitlines() if l.startswith("    ")]
            out[p] = where
    return out


class Run:
    def __init__(self, path, h, name):
        self.name, self.lines, self.rss = name, [], []
        self.tmp = tempfile.mkdtemp(prefix="prove_")
        env = dict(os.environ, TMPDIR=self.tmp)
        for kv in h.get("env", "").split():
            k, v = kv.split("=", 1)
            env[k] = v
        cmd = h.get("wrap", "").split() + [PYTHONS[h["python"]], path]
        self.master, slave = pty.openpty()
        self.start = time.time()
        self.p = subprocess.Popen(cmd, stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
                                  cwd=self.tmp, start_new_session=True)
        os.close(slave)
        self.err = []
        for stream, sink in ((self.p.stdout, self.lines), (self.p.stderr, self.err)):
            threading.Thread(target=self._read, args=(stream, sink), daemon=True).start()
        self.rx = re.compile(PROGRESS.get(name, r"\bstep (\d+)"))

    def _read(self, stream, sink):
        for line in stream:
            sink.append((time.time() - self.start, line.rstrip("\n")))

    def events(self):
        lines = self.lines
        if self.name == "plain_spectra_mixture":
            lines = getattr(self, "filed", [])
        total, last, out = 0, 0, []
        for t, text in list(lines):
            m = self.rx.search(text)
            if m:
                v = int(m[1])
                total += v - last if v >= last else v
                last = v
                out.append((t, total))
        return out

    def watch(self, seconds, window=None):
        """Until `seconds` after the start, or `window` seconds after the first progress."""
        while self.p.poll() is None and time.time() - self.start < seconds:
            time.sleep(0.5)
            self.rss.append((round(time.time() - self.start, 1), round(rss(self.p.pid))))
            if self.name == "plain_spectra_mixture":
                self.filed = getattr(self, "filed", [])
                for d in os.listdir(self.tmp):
                    f = os.path.join(self.tmp, d, "train.log")
                    if os.path.exists(f):
                        new = open(f).read().splitlines()[len(self.filed):]
                        self.filed += [(time.time() - self.start, l) for l in new]
            ev = self.events()
            if window and ev and time.time() - self.start - ev[0][0] > window:
                break

    def end(self):
        alive = self.p.poll() is None
        if alive:
            os.killpg(self.p.pid, signal.SIGKILL)
        self.p.wait()
        self.took = time.time() - self.start
        time.sleep(0.3)
        os.close(self.master)
        shutil.rmtree(self.tmp, ignore_errors=True)
        return alive

    def rate(self):
        ev = self.events()
        if len(ev) < 2:
            return 0.0
        end = max(ev[-1][0], ev[0][0] + 1e-9)
        return (ev[-1][1] - ev[0][1]) / (end - ev[0][0])


def losses(lines):
    out = []
    for _, t in lines:
        m = LOSS.search(t)
        if m:
            out.append(m[1])
    return out


def one(path, h, name, seconds, window=None):
    r = Run(path, h, name)
    r.watch(seconds, window)
    r.alive = r.end()
    return r


def prove(name):
    path, cured = os.path.join(HERE, "programs", name + ".py"), os.path.join(HERE, "cured", name + ".py")
    h = header(path)
    kind = KIND.get(name, "healthy")
    seconds = int(h["seconds"])
    res = {"name": name, "kind": kind}
    if kind == "slow":
        a, b = [], []
        for turn in range(4):
            if turn >= 2 and max(a) > 0 and max(b) >= 1.3 * max(a):
                break
            a.append(one(path, h, name, seconds, 9).rate())
            b.append(one(cured, h, name, seconds, 7).rate())
        res.update(rate=a, cured_rate=b, ratio=max(b) / max(max(a), 1e-9))
        res["proven"] = max(a) > 0 and res["ratio"] >= 1.3
    elif kind == "stuck":
        r = Run(path, h, name)
        r.watch(seconds - 11)
        d1, e1 = dump(r.p.pid), r.events()
        r.watch(time.time() - r.start + 10)
        d2, e2 = dump(r.p.pid), r.events()
        r.alive = r.end()
        c = one(cured, h, name, seconds - 5)
        ev = c.events()
        res.update(same_place=d1 == d2, place={str(k): v[:6] for k, v in d2.items()}, steps=[len(e1), len(e2)],
                   last_step_at=e2[-1][0] if e2 else None, cured_steps=ev[-1][1] if ev else 0,
                   cured_last_at=ev[-1][0] if ev else None, cured_alive=c.alive, cured_rc=c.p.returncode)
        main1, main2 = d1.get(r.p.pid), d2.get(r.p.pid)
        res["same_main"] = main1 == main2 and bool(main1)
        res["proven"] = bool(r.alive and res["same_main"] and e1 == e2 and ev and (c.alive or c.p.returncode == 0)
                             and (not e2 or ev[-1][0] > e2[-1][0] or not c.alive))
    elif kind == "numerical":
        r, c = one(path, h, name, seconds), one(cured, h, name, seconds)
        lf, lc = losses(r.lines), losses(c.lines)
        pick = lambda l: l[:3] + l[len(l) // 2:len(l) // 2 + 2] + l[-3:]
        res.update(losses=pick(lf), cured_losses=pick(lc), count=[len(lf), len(lc)])
        last, best = float(lf[-1]), float(lc[-1])
        res["proven"] = r.alive and c.alive and best == best and (last != last or best < 0.7 * last)
    elif kind == "memory":
        r, c = one(path, h, name, seconds), one(cured, h, name, seconds)
        at = lambda s: [v for _, v in s][::10]
        res.update(rss_mib=at(r.rss), cured_rss_mib=at(c.rss), peak=max(v for _, v in r.rss), rate=r.rate())
        third = r.rss[len(r.rss) // 3][1]
        cthird = c.rss[len(c.rss) // 3][1]
        res["proven"] = r.rss[-1][1] > 1.4 * third and c.rss[-1][1] < 1.1 * cthird
    elif kind == "crash":
        r, c = one(path, h, name, seconds), one(cured, h, name, seconds)
        ev = r.events()
        res.update(rc=r.p.returncode, ended_at=r.took, steps=ev[-1][1] if ev else 0, error=[t for _, t in r.err][-1:],
                   cured_alive=c.alive, cured_steps=c.events()[-1][1])
        res["proven"] = (not r.alive) and r.p.returncode != 0 and c.alive
    else:
        r = one(path, h, name, min(seconds, 33))
        ev = r.events()
        times = [t for t, _ in ev] + [r.took]
        gaps = [b - a for a, b in zip(times, times[1:])]
        ls = losses(r.filed if hasattr(r, "filed") else r.lines)
        res.update(alive=r.alive, rc=r.p.returncode, first_progress_at=times[0], steps=ev[-1][1] if ev else 0, lines=len(ev),
                   largest_gap=max(gaps) if gaps else None, losses=ls[:2] + ls[-2:], peak=max(v for _, v in r.rss))
        res["proven"] = bool(ev) and (r.alive or r.p.returncode == 0) and max(gaps) < 8 and times[0] < seconds * 0.5
        res["peak_mib"] = res.pop("peak")
    if not res["proven"]:
        res["stderr"] = [t for _, t in r.err][-6:] if kind != "slow" else None
    return res


def main():
    names = sys.argv[1:] or sorted(f[:-3] for f in os.listdir(os.path.join(HERE, "programs")))
    out = os.path.join(HERE, "proof.json")
    for name in names:
        res = prove(name)
        res = {k: (round(v, 3) if isinstance(v, float) else [round(x, 3) if isinstance(x, float) else x for x in v]
                   if isinstance(v, list) else v) for k, v in res.items()}
        every = {r["name"]: r for r in json.load(open(out))} if os.path.exists(out) else {}
        every[name] = res
        json.dump([every[k] for k in sorted(every)], open(out, "w"), indent=1)
        print(json.dumps(res), flush=True)


if __name__ == "__main__":
    main()
