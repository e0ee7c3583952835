# python: loops
# expected: batch-too-small [also accepted: launch-bound]
# verdict: slow
# seconds: 40
# env: OMP_WAIT_POLICY=passive
# where: per_device_train_batch_size / trainer.train()
# Why: per_device_train_batch_size=1 was left from the time the program was tried on a small GPU; a step costs nearly the same for many more samples.
import tempfile
import warnings

warnings.filterwarnings("ignore")
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments

VOCAB, LENGTH, INTENTS = 800, 16, 10


class Utterances(Dataset):
    def __init__(self, count=20000, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, INTENTS, (count,), generator=g)
        self.ids = torch.randint(120, VOCAB, (count, LENGTH), generator=g)
        for column in (2, 5, 9):
            self.ids[:, column] = 10 + self.labels * 10 + torch.randint(0, 10, (count,), generator=g)
        self.ids[:, 0] = 1

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return {
            "input_ids": self.ids[index],
            "attention_mask": torch.ones(LENGTH, dtype=torch.long),
            "labels": self.labels[index],
        }


class Report(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if "loss" in logs:
            seen = state.global_step * args.train_batch_size
            print(f"step {state.global_step} samples {seen} loss {logs['loss']:.4f}", flush=True)


def main():
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=VOCAB,
        hidden_size=96,
        num_hidden_layers=6,
        num_attention_heads=4,
        intermediate_size=192,
        max_position_embeddings=LENGTH,
        num_labels=INTENTS,
    )
    model = BertForSequenceClassification(config)
    with tempfile.TemporaryDirectory() as folder:
        args = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=1,
            learning_rate=3e-4,
            num_train_epochs=50,
            logging_steps=10,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
        )
        trainer = Trainer(model=model, args=args, train_dataset=Utterances(), callbacks=[Report()])
        trainer.train()


if __name__ == "__main__":
    main()
