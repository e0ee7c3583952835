# python: loops
# expected: input-bound [also accepted: hot-line, dataloader-workers, python-generator, no-prefetch, serial-map]
# verdict: slow
# seconds: 40
# env: OMP_WAIT_POLICY=PASSIVE
# where: self.tokenizer( / trainer.train()
# Why: the collator tokenizes whole tickets with the slow Python tokenizer on the training thread and then keeps 64 tokens of them; the model waits.
import os
import random
import tempfile
import torch
from torch.utils.data import Dataset
from transformers import (BertConfig, BertForSequenceClassification, BertTokenizer,
                          Trainer, TrainerCallback, TrainingArguments)

random.seed(4)
QUEUES = ["billing", "network", "account", "hardware"]
syllables = ["ba", "ne", "ti", "kor", "lu", "ram", "sen", "dol", "vi", "pex", "ma", "ru"]
words = sorted({"".join(random.choices(syllables, k=random.randint(1, 4))) for _ in range(3000)})
folder = tempfile.mkdtemp(prefix="tickets_")
vocab_file = os.path.join(folder, "vocab.txt")
with open(vocab_file, "w") as f:
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + syllables + ["##" + s for s in syllables] + QUEUES
    f.write("\n".join(dict.fromkeys(pieces + words[::4])))


class Tickets(Dataset):
    def __init__(self, n):
        self.rows = []
        for _ in range(n):
            label = random.randrange(len(QUEUES))
            text = random.choices(words, k=random.randint(300, 700))
            text[random.randrange(20)] = QUEUES[label]
            self.rows.append((" ".join(text) + ".", label))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {"text": self.rows[i][0], "label": self.rows[i][1]}


class TextCollator:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def __call__(self, rows):
        enc = self.tokenizer([r["text"] for r in rows], truncation=True, max_length=64,
                             padding="max_length", return_tensors="pt")
        enc["labels"] = torch.tensor([r["label"] for r in rows])
        return enc


class Show(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in logs:
            print(f"step {state.global_step} loss {logs['loss']:.4f}", flush=True)


tokenizer = BertTokenizer(vocab_file)
model = BertForSequenceClassification(BertConfig(
    vocab_size=len(tokenizer), hidden_size=96, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=192, max_position_embeddings=64, num_labels=len(QUEUES)))
args = TrainingArguments(output_dir=os.path.join(folder, "run"), per_device_train_batch_size=16, max_steps=20000,
                         learning_rate=5e-4, logging_steps=2, save_strategy="no", report_to=[],
                         remove_unused_columns=False, disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=Tickets(1500), data_collator=TextCollator(tokenizer),
                  callbacks=[Show()])
trainer.train()
