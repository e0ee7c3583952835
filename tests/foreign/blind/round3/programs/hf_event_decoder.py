# python: loops
# expected: garbage-collection [also accepted: slow-callback, hot-line]
# verdict: slow
# seconds: 40
# env: OMP_WAIT_POLICY=PASSIVE
# where: gc.collect()
# Why: a callback "against out of memory" calls gc.collect() after every step; the data set is made of half a million small Python objects, which all
# have to be visited each time.
import gc
import os
import random
import tempfile
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

random.seed(0)
EVENTS = 300


class Sessions(Dataset):
    """Click sessions: a list of events, each a dict with its attributes."""

    def __init__(self, n):
        self.sessions = []
        for user in range(n):
            event = random.randrange(EVENTS)
            session = []
            for _ in range(32):
                event = (event * 5 + random.choice((1, 2, 7))) % EVENTS
                session.append({"id": event, "span": [event, event + 1], "tags": [user % 7]})
            self.sessions.append(session)

    def __len__(self):
        return len(self.sessions)

    def __getitem__(self, i):
        ids = torch.tensor([e["id"] for e in self.sessions[i]])
        return {"input_ids": ids, "labels": ids}


class MemoryGuard(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in logs:
            print(f"step {state.global_step} loss {logs['loss']:.4f}", flush=True)


train = Sessions(5000)
model = GPT2LMHeadModel(GPT2Config(vocab_size=EVENTS, n_positions=32, n_embd=96, n_layer=2, n_head=4))
args = TrainingArguments(output_dir=os.path.join(tempfile.mkdtemp(), "run"), per_device_train_batch_size=32,
                         max_steps=20000, learning_rate=1e-3, logging_steps=2, save_strategy="no",
                         report_to=[], disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=train, callbacks=[MemoryGuard()])
trainer.train()
