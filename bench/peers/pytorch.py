"""PyTorch's DataLoader with PIL and torchvision: worker processes that stay, a deep prefetch."""

import torch
import torchvision
from PIL import Image
from torchvision import transforms

import measure

_END = [transforms.ToTensor(), transforms.Normalize(measure.MEAN, measure.DEVIATION)]
TRANSFORMS = {
    "t1": [transforms.Resize(256), transforms.CenterCrop(224), *_END],
    "t2": [transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), *_END],
    "t3": [transforms.Resize((64, 64)), transforms.ToTensor()],
}
EPOCH = 1 << 22  # long enough never to end


class Images(torch.utils.data.Dataset):
    def __init__(self, task, files):
        self.files = files
        self.transform = transforms.Compose(TRANSFORMS[task])

    def __len__(self):
        return EPOCH

    def __getitem__(self, index):
        with Image.open(self.files[index % len(self.files)]) as image:
            return self.transform(image.convert("RGB"))


class Scalars(torch.utils.data.Dataset):
    def __init__(self):
        self.values = torch.arange(measure.SCALARS)

    def __len__(self):
        return measure.SCALARS

    def __getitem__(self, index):
        return self.values[index]


def open_images(task, files, threads):
    return iter(torch.utils.data.DataLoader(
        Images(task, files), batch_size=measure.BATCH[task], num_workers=threads,
        prefetch_factor=4, persistent_workers=True))


def close(batches):
    batches._shutdown_workers()


def scalar_variants(threads):
    def epoch(workers):
        return iter(torch.utils.data.DataLoader(
            Scalars(), batch_size=measure.SCALARS_BATCH, num_workers=workers))
    return {"no workers": lambda: epoch(0), f"{threads} workers": lambda: epoch(threads)}


if __name__ == "__main__":
    torch.set_num_threads(1)
    measure.main("pytorch", f"{torch.__version__}, torchvision {torchvision.__version__}",
                 open_images, close, scalar_variants)
