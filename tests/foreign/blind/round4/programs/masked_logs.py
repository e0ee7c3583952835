# python: loops
# expected: healthy
# verdict: healthy
# seconds: 40
# env: OMP_WAIT_POLICY=passive
# how: attach
# Why: Looks suspicious because the Trainer evaluates and writes a checkpoint every 60 steps, each of which stops the printed steps for a moment; the rest is steady training.
import tempfile
import warnings

warnings.filterwarnings("ignore")
import torch
from torch.utils.data import Dataset
from transformers import DistilBertConfig, DistilBertForMaskedLM, Trainer, TrainerCallback, TrainingArguments

VOCAB, LENGTH, MASK = 500, 40, 1


class LogLines(Dataset):
    """Log lines from a few hundred templates, 15 % of the tokens masked."""

    def __init__(self, count, seed):
        g = torch.Generator().manual_seed(seed)
        templates = torch.randint(2, VOCAB, (200, LENGTH), generator=torch.Generator().manual_seed(99))
        self.lines = templates[torch.randint(0, 200, (count,), generator=g)]
        slots = torch.randint(0, LENGTH, (count, 4), generator=g)
        self.lines.scatter_(1, slots, torch.randint(2, VOCAB, (count, 4), generator=g))
        self.masks = torch.rand(count, LENGTH, generator=g) < 0.15

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        line, hidden = self.lines[index], self.masks[index]
        return {
            "input_ids": torch.where(hidden, torch.tensor(MASK), line),
            "attention_mask": torch.ones(LENGTH, dtype=torch.long),
            "labels": torch.where(hidden, line, torch.tensor(-100)),
        }


class Report(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        for key in ("loss", "eval_loss"):
            if key in logs:
                print(f"step {state.global_step} {key} {logs[key]:.4f}", flush=True)


def main():
    torch.manual_seed(0)
    config = DistilBertConfig(
        vocab_size=VOCAB, max_position_embeddings=LENGTH, dim=128, n_layers=4, n_heads=4, hidden_dim=256)
    with tempfile.TemporaryDirectory() as folder:
        args = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=32,
            per_device_eval_batch_size=64,
            learning_rate=5e-4,
            evaluation_strategy="steps",
            eval_steps=60,
            save_steps=60,
            save_total_limit=1,
            logging_steps=10,
            max_steps=20000,
            report_to=[],
            disable_tqdm=True,
        )
        trainer = Trainer(
            model=DistilBertForMaskedLM(config),
            args=args,
            train_dataset=LogLines(20000, 0),
            eval_dataset=LogLines(640, 1),
            callbacks=[Report()],
        )
        trainer.train()


if __name__ == "__main__":
    main()
