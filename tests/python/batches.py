"""Batches of an unmodified ImageFolder and DataLoader are equal from the source and the mount:
0, 1 and 4 workers; PIL and torchvision.io.read_image (which maps the file and closes it first).
"""
import torch
from torchvision import transforms
from torchvision.datasets import ImageFolder
from torchvision.io import read_image

from rig import DataLoader, expect, make_images, mounted, workplace

RESIZE = transforms.Resize((8, 8))


def tensor_of(path):
    return RESIZE(read_image(path)).float()


def batches(root, workers, kind):
    torch.manual_seed(3)
    if kind == "PIL":
        data = ImageFolder(root, transform=transforms.Compose([RESIZE, transforms.ToTensor()]))
    else:
        data = ImageFolder(root, loader=tensor_of)
    loader = DataLoader(data, batch_size=16, shuffle=True, num_workers=workers)
    return [batch for _ in range(2) for batch in loader], data.classes


with workplace() as folder:
    make_images(folder, files=300)
    with mounted(folder, "order=torch:seed=3") as mount:
        for kind in ("PIL", "read_image"):
            for workers in (0, 1, 4):
                want, classes = batches(folder, workers, kind)
                got, classes_got = batches(mount.at, workers, kind)
                expect(classes == classes_got, f"classes differ: {classes_got}")
                expect(len(want) == len(got), "another number of batches")
                for (x, y), (xg, yg) in zip(want, got):
                    expect(torch.equal(x, xg) and torch.equal(y, yg), "a batch differs")
                print(f"{kind}, {workers} workers: {len(got)} batches equal")
