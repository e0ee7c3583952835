# python: loops
# expected: healthy [also accepted: healthy-compute-bound]
# verdict: healthy
# seconds: 30
# Why: an endless stream made in a Python loop by one worker, an epoch that never ends by itself: but max_steps ends it, the
# Why: worker is far ahead of the model and the loss falls.
"""A language model of three made-up dialects, learned from a stream of their sentences."""
import random
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

SOUNDS, LENGTH, DIALECTS = 90, 72, 3


class Speech(torch.utils.data.IterableDataset):
    """Each dialect is a chain: after a sound come only a few others, with their own odds."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.seed = seed
        self.after = [[(draw.sample(range(DIALECTS, SOUNDS), 5), [draw.random() ** 2 + 0.02 for _ in range(5)])
                       for _ in range(SOUNDS)] for _ in range(DIALECTS)]

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        draw = random.Random(self.seed + (worker.id if worker else 0))
        while True:
            dialect = draw.randrange(DIALECTS)
            sounds = [dialect, draw.randrange(DIALECTS, SOUNDS)]
            while len(sounds) < LENGTH:
                following, odds = self.after[dialect][sounds[-1]]
                sounds.append(draw.choices(following, odds)[0])
            ids = torch.tensor(sounds)
            yield {"input_ids": ids, "labels": ids.clone()}


class Tell(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            rate = float(logs.get("learning_rate", 0))
            print(f"[{state.global_step}/{state.max_steps}] loss={float(logs['loss']):.4f} lr={rate:.2e} "
                  f"sentences={state.global_step * args.per_device_train_batch_size}", flush=True)


def main():
    torch.manual_seed(6)
    config = GPT2Config(vocab_size=SOUNDS, n_positions=LENGTH, n_embd=128, n_layer=3, n_head=4, resid_pdrop=0.05, embd_pdrop=0.05,
                        attn_pdrop=0.05, bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config)
    print("weights:", model.num_parameters())
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="dialects-"), max_steps=30000, per_device_train_batch_size=12, learning_rate=8e-4,
        warmup_steps=100, lr_scheduler_type="cosine", max_grad_norm=1.0, logging_steps=4, save_strategy="no", report_to="none",
        use_cpu=True, disable_tqdm=True, dataloader_num_workers=1, dataloader_pin_memory=False, seed=6)
    trainer = Trainer(model=model, args=arguments, train_dataset=Speech(14), callbacks=[Tell()])
    trainer.train()
    trainer.save_model()


if __name__ == "__main__":
    main()
