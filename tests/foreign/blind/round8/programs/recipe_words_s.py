# python: loops
# expected: per-pixel-python [also accepted: hot-line, input-bound]
# verdict: slow
# seconds: 30
# where: for col in range / token = int( / labels[row, col] / ids[row, col] / random.random() / special_ids
# Why: The collator visits every token of the batch in two Python loops and indexes tensors one value at a time; the small model waits.
import random
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForMaskedLM, Trainer, TrainingArguments, set_seed

PAD, CLS, SEP, MASK = 0, 1, 2, 3
VOCAB = 200


class Recipes(Dataset):
    """Lines of recipes as token ids: each line is a walk through a table of followers."""

    def __init__(self, n=4000, low=70, high=126):
        rng = random.Random(2)
        followers = {w: [rng.randrange(4, VOCAB) for _ in range(4)] for w in range(4, VOCAB)}
        self.lines = []
        for _ in range(n):
            w = rng.randrange(4, VOCAB)
            line = [CLS]
            for _ in range(rng.randint(low, high)):
                line.append(w)
                w = rng.choice(followers[w])
            self.lines.append(line + [SEP])

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, i):
        return {"input_ids": self.lines[i]}


class MaskWords:
    def __init__(self, share=0.15, length=128):
        self.share, self.length = share, length

    def __call__(self, rows):
        ids = torch.full((len(rows), self.length), PAD)
        for i, r in enumerate(rows):
            ids[i, :len(r["input_ids"])] = torch.tensor(r["input_ids"])
        attention = (ids != PAD).long()
        labels = ids.clone()
        special_ids = [PAD, CLS, SEP]
        for row in range(ids.shape[0]):
            for col in range(ids.shape[1]):
                token = int(ids[row, col])
                if token in special_ids or random.random() >= self.share:
                    labels[row, col] = -100
                    continue
                dice = random.random()
                if dice < 0.8:
                    ids[row, col] = MASK
                elif dice < 0.9:
                    ids[row, col] = random.randrange(4, VOCAB)
        return {"input_ids": ids, "attention_mask": attention, "labels": labels}


def main():
    set_seed(0)
    config = BertConfig(vocab_size=VOCAB, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                        intermediate_size=64, max_position_embeddings=128)
    args = TrainingArguments(output_dir=tempfile.mkdtemp(), max_steps=100000, per_device_train_batch_size=32,
                             learning_rate=1e-3, lr_scheduler_type="constant", logging_steps=20,
                             save_strategy="no", report_to=[], no_cuda=True, dataloader_num_workers=0)
    Trainer(model=BertForMaskedLM(config), args=args, train_dataset=Recipes(), data_collator=MaskWords()).train()


if __name__ == "__main__":
    main()
