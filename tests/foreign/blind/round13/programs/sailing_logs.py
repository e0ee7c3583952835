# python: loops
# expected: learning-rate [also accepted: loss-frozen]
# verdict: slow
# seconds: 30
# where: ExponentialLR(optimizer, gamma=0.9)
# Why: the schedule is meant to decay once per epoch, but the Trainer steps it with every batch: after a hundred
# steps the learning rate is a thirty thousandth of what was asked for, and the loss stays where it is.
import math
import os
import random
import sys
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

sys.stdout.reconfigure(line_buffering=True)
random.seed(5)
torch.manual_seed(5)

WINDS = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"]
SAILS = ["full main", "one reef", "two reefs", "storm jib", "genoa", "spinnaker"]
SEAS = ["calm", "slight", "moderate", "rough", "very rough"]
NOTES = ["all well", "engine checked", "passed a buoy to port", "rain showers", "good visibility", "changed watch"]


def entry():
    hour = random.randrange(24)
    force = min(9, max(0, round(random.gauss(4, 2))))
    sail = SAILS[4] if force < 3 else SAILS[0] if force < 5 else SAILS[1] if force < 7 else SAILS[3]
    course = random.randrange(0, 360, 5)
    return (
        f"{hour:02d}00 course {course:03d} wind {random.choice(WINDS)} {force} sea {SEAS[min(4, force // 2)]}, "
        f"{sail}, {random.choice(NOTES)}. "
    )


text = "".join(entry() for _ in range(12000))
letters = sorted(set(text))
index = {c: i for i, c in enumerate(letters)}
stream = torch.tensor([index[c] for c in text])
CONTEXT = 48


class Windows(torch.utils.data.Dataset):
    def __len__(self):
        return len(stream) // 24 - CONTEXT

    def __getitem__(self, i):
        piece = stream[i * 24 : i * 24 + CONTEXT]
        return {"input_ids": piece, "labels": piece}


config = GPT2Config(
    vocab_size=len(letters),
    n_positions=CONTEXT,
    n_embd=80,
    n_layer=2,
    n_head=4,
    resid_pdrop=0.0,
    embd_pdrop=0.0,
    attn_pdrop=0.0,
    bos_token_id=0,
    eos_token_id=0,
)
model = GPT2LMHeadModel(config)
print(f"{len(text)} characters, {model.num_parameters()} parameters, uniform loss {math.log(len(letters)):.2f}")

optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)

training = TrainingArguments(
    output_dir=os.path.join(tempfile.gettempdir(), "sailing_logs"),
    per_device_train_batch_size=16,
    num_train_epochs=12,
    logging_steps=10,
    save_strategy="no",
    report_to=[],
    seed=5,
)
Trainer(
    model=model,
    args=training,
    train_dataset=Windows(),
    optimizers=(optimizer, scheduler),
).train()
