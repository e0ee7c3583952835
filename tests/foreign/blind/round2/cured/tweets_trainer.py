# python: loops
# expected: learning-rate [also accepted: exploding-gradients, loss-oscillates, nan-loss, loss-frozen]
# verdict: stuck|slow
# env: OMP_WAIT_POLICY=passive
# seconds: 35
# where: learning_rate=
# Why: the learning rate lacks its exponent (0.5 instead of 5e-4): the loss jumps far above chance and then stays at chance level. A typo that a command line does not mind.
import tempfile
import warnings
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments

warnings.filterwarnings("ignore")
VOCAB, LENGTH, MOODS = 3000, 32, 4


class Tweets(Dataset):
    def __init__(self, n=8000):
        rng = np.random.default_rng(95)
        self.y = rng.integers(0, MOODS, n)
        mood_words = 100 + self.y[:, None] * 100 + rng.integers(0, 100, (n, LENGTH))
        other = rng.integers(600, VOCAB, (n, LENGTH))
        self.ids = np.where(rng.random((n, LENGTH)) < 0.25, mood_words, other)
        self.ids[:, 0] = 1

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        ids = torch.from_numpy(self.ids[i])
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": int(self.y[i])}


def main():
    torch.manual_seed(95)
    config = DistilBertConfig(vocab_size=VOCAB, dim=64, hidden_dim=128, n_layers=2, n_heads=4,
                              max_position_embeddings=LENGTH, num_labels=MOODS)
    model = DistilBertForSequenceClassification(config)
    with tempfile.TemporaryDirectory() as folder:
        args = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=32,
            num_train_epochs=40,
            learning_rate=5e-4,
            warmup_steps=20,
            weight_decay=0.01,
            lr_scheduler_type="constant_with_warmup",
            logging_steps=20,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            no_cuda=True)
        trainer = Trainer(model, args, train_dataset=Tweets())
        trainer.train()


if __name__ == "__main__":
    main()
