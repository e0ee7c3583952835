# python: loops
# truth: batch=makes data, step=computes, check=validates, save=checkpoints, report=logs
# Why: the Hugging Face Trainer without workers, so that the collator's own tokenizing is done by the loop itself.
import os
import random
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

import stopwatch

LENGTH, SIGNS = 64, 400
WORDS = "he who digs a pit for others will fall into it himself and the early bird waits long at the well".split()


class Proverbs(Dataset):
    def __len__(self):
        return 200_000

    def __getitem__(self, i):
        return i


class Known(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {"input_ids": self.rows[i], "labels": self.rows[i]}


def speak(i):
    talk = random.Random(i)
    return " ".join(talk.choice(WORDS) for _ in range(110))


def pairs_of(text):
    """Greedy pair merging, as in the first lesson on the subject; each row begins anew."""
    signs = [ord(letter) - 32 for letter in text]
    for merge in range(24):
        merged, i = [], 0
        while i < len(signs):
            if i + 1 < len(signs) and (signs[i] + signs[i + 1]) % 29 == merge:
                merged.append(95 + (signs[i] * 31 + signs[i + 1]) % (SIGNS - 95))
                i += 2
            else:
                merged.append(signs[i])
                i += 1
        signs = merged
    return (signs + [0] * LENGTH)[:LENGTH]


def collate(items):
    if isinstance(items[0], dict):
        return {key: torch.stack([item[key] for item in items]) for key in items[0]}
    with stopwatch.part("batch"):
        rows = torch.tensor([pairs_of(speak(i)) for i in items])
    return {"input_ids": rows, "labels": rows}


class Teacher(Trainer):
    def evaluate(self, *args, **kwargs):
        with stopwatch.part("check"):
            return super().evaluate(*args, **kwargs)

    def _save_checkpoint(self, *args, **kwargs):
        with stopwatch.part("save"):
            return super()._save_checkpoint(*args, **kwargs)


class Clock(TrainerCallback):
    def on_step_begin(self, args, state, control, **kwargs):
        if state.global_step == 0:
            stopwatch.started()
        stopwatch.enter("step")

    def on_step_end(self, args, state, control, **kwargs):
        stopwatch.leave()


class Blackboard(TrainerCallback):
    """A page in which every sign's place among the others can be looked up."""

    def __init__(self, folder):
        self.folder = folder

    def on_log(self, args, state, control, model=None, logs=None, **kwargs):
        with stopwatch.part("report"):
            signs = model.transformer.wte.weight.detach()[:, :48].tolist()
            with open(os.path.join(self.folder, "signs.html"), "w") as page:
                page.write(f"<h1>{state.global_step} {logs}</h1><table>")
                for sign, places in enumerate(signs):
                    page.write(f"<tr><th>{sign}" + "".join(f"<td>{place:.4f}" for place in places) + "\n")


def main():
    torch.manual_seed(5)
    torch.set_num_threads(1)
    folder = tempfile.mkdtemp()
    model = GPT2LMHeadModel(GPT2Config(vocab_size=SIGNS, n_positions=LENGTH, n_embd=96, n_layer=2, n_head=4))
    known = Known([torch.tensor(pairs_of(speak(-i))) for i in range(1, 97)])
    arguments = TrainingArguments(
        folder, per_device_train_batch_size=16, per_device_eval_batch_size=32, max_steps=100_000, learning_rate=3e-4,
        logging_steps=3, evaluation_strategy="steps", eval_steps=16, save_steps=3, save_total_limit=1, report_to=[],
        disable_tqdm=True, dataloader_num_workers=0, use_cpu=True, remove_unused_columns=False)
    Teacher(model, arguments, data_collator=collate, train_dataset=Proverbs(), eval_dataset=known,
            callbacks=[Clock(), Blackboard(folder)]).train()


if __name__ == "__main__":
    main()
