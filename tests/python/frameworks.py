"""order=auto with the loaders of frameworks, each used as its own examples use it.  By hand: they are
large and not Debian's.  Those that are not installed are named and left out.

What was really opened is what the kernel says (fanotify), whoever opens: Python, C++, threads, ranks.
An order is right if each process goes forward in it, by steps as short as its share allows.
"""
import contextlib
import ctypes
import importlib.util
import multiprocessing
import os
import re
import struct
import sys
import threading
import time

import torch
from torchvision import transforms

from rig import (SEARCH, Watcher, believes, early_seed, expect, make_images, mounted, seed_with_model,
                 wait_for, workplace)

FILES, CLASSES, BATCH, WORKERS, EPOCHS = 2000, 10, 16, 2, 3
VALIDATION = 1800
OPTIONS = "order=auto,memory=64MiB"
FOUND_AT = 8                            # batches, after which a loop waits for the order
OVERTAKEN = 32                          # positions, by another thread of the process
STEP = 8 * WORKERS * BATCH              # positions, from an open of a process to its next
TRANSFORM = transforms.Compose([transforms.Resize((8, 8)), transforms.ToTensor()])


class Opens:
    """Every open of a mount, with the time and the process, as fanotify tells them."""

    EVENT = struct.Struct("=IBBHQii")
    OPEN, MARK_ADD, MARK_MOUNT = 0x20, 0x1, 0x10

    def __init__(self, mount):
        libc = ctypes.CDLL(None, use_errno=True)
        self.mount, self.seen = mount, []
        self.fd = libc.fanotify_init(0x1 | 0x10, os.O_RDONLY)       # CLOEXEC, UNLIMITED_QUEUE
        expect(self.fd >= 0, "fanotify (root is needed)")
        marked = libc.fanotify_mark(self.fd, self.MARK_ADD | self.MARK_MOUNT, ctypes.c_uint64(self.OPEN),
                                    -100, mount.at.encode())
        expect(marked == 0, f"fanotify_mark: {os.strerror(ctypes.get_errno())}")
        threading.Thread(target=self.gather, daemon=True).start()

    def gather(self):
        while True:
            data, at = os.read(self.fd, 65536), 0
            while at < len(data):
                length, _, _, _, _, fd, pid = self.EVENT.unpack_from(data, at)
                path = os.readlink(f"/proc/self/fd/{fd}")
                os.close(fd)
                at += length
                if not os.path.relpath(path, self.mount.at).startswith("."):
                    self.seen.append((time.monotonic(), pid, os.path.relpath(path, self.mount.at)))


class Run:
    """What a script calls from its loop; in the ranks' processes as well."""

    def __init__(self, mount, shared):
        self.at, self.mount, self.shared = mount.at, mount, shared
        self.batch, self.epoch = 0, 0

    def belief(self):
        return os.getxattr(self.at, "user.dlfs.belief").decode()

    def is_followed(self):
        """This epoch, that is, and not still the last one, near its end."""
        at = re.findall(r"position (\d+) of (\d+)", self.belief())
        return believes(self.mount) and any(int(p) < 0.7 * int(n) for p, n in at)

    def step(self):
        self.batch += 1
        if self.batch == FOUND_AT and self.shared["patient"]:
            with contextlib.suppress(SystemExit):
                wait_for("an order", self.is_followed, self.shared["patience"])
        if self.batch == FOUND_AT + 2:
            self.shared["order", self.epoch] = self.mount.order()
            self.shared["belief", self.epoch] = self.belief()

    def end(self):
        time.sleep(2)                   # the opens of this epoch are told later than they are made
        self.shared["end", self.epoch] = time.monotonic()
        self.epoch += 1
        self.batch = 0

    def steps(self, loader):
        for batch in loader:
            self.step()
        self.end()
        del batch


def image_folder(run):
    from torchvision.datasets import ImageFolder
    return ImageFolder(os.path.join(run.at, "train"), TRANSFORM)


def two_ranks(run, script):
    """What `torchrun --nproc-per-node 2` or `accelerate launch` set for each process."""
    def rank(number):
        os.environ.update(RANK=str(number), LOCAL_RANK=str(number), WORLD_SIZE="2", LOCAL_WORLD_SIZE="2",
                          MASTER_ADDR="127.0.0.1", MASTER_PORT="29517", ACCELERATE_USE_CPU="1")
        script(run)
    ranks = [multiprocessing.Process(target=rank, args=(r,)) for r in (0, 1)]
    for r in ranks:
        r.start()
    for r in ranks:
        r.join()
        expect(r.exitcode == 0, f"a rank ended with {r.exitcode}")


# --- The scripts ---------------------------------------------------------------------------

def accelerate_one(run):
    from accelerate import Accelerator
    from torch.utils.data import DataLoader
    torch.manual_seed(early_seed(1, 2**26))
    accelerator = Accelerator(cpu=True)
    loader = accelerator.prepare(DataLoader(image_folder(run), BATCH, shuffle=True, num_workers=WORKERS))
    for _ in range(EPOCHS):
        run.steps(loader)


def accelerate_ranks(run):
    def script(run):
        accelerate_one(run)
        torch.distributed.destroy_process_group()
    two_ranks(run, script)


def accelerate_seedable(run):
    from accelerate import Accelerator
    from accelerate.utils import DataLoaderConfiguration
    from torch.utils.data import DataLoader

    def script(run):
        torch.manual_seed(1234)
        accelerator = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(
            use_seedable_sampler=True))
        loader = accelerator.prepare(DataLoader(image_folder(run), BATCH, shuffle=True, num_workers=WORKERS))
        for _ in range(EPOCHS):
            run.steps(loader)
        torch.distributed.destroy_process_group()
    two_ranks(run, script)


class Tiny(torch.nn.Module):
    def __init__(self, run):
        super().__init__()
        self.run, self.weight = run, torch.nn.Parameter(torch.zeros(()))

    def forward(self, pixel_values=None, labels=None):
        self.run.step()
        return {"loss": self.weight * pixel_values.mean(), "logits": pixel_values.mean((1, 2, 3))}


def trainer_of(run, folder):
    from datasets import load_dataset
    from transformers import Trainer, TrainerCallback, TrainingArguments

    class AtEnd(TrainerCallback):
        def on_epoch_end(self, *_, **__):
            run.end()

    def transform(examples):
        examples["pixel_values"] = [TRANSFORM(image.convert("RGB")) for image in examples["image"]]
        return examples

    def collate(examples):
        return {"pixel_values": torch.stack([e["pixel_values"] for e in examples]),
                "labels": torch.tensor([e["label"] for e in examples])}

    data = load_dataset("imagefolder", data_dir=os.path.join(run.at, "train"), split="train",
                        cache_dir=os.path.join(folder, "cache"))
    Trainer(model=Tiny(run), data_collator=collate, train_dataset=data.with_transform(transform),
            callbacks=[AtEnd()], args=TrainingArguments(
                output_dir=os.path.join(folder, "out"), per_device_train_batch_size=BATCH,
                num_train_epochs=EPOCHS, dataloader_num_workers=WORKERS, remove_unused_columns=False,
                use_cpu=True, report_to=[], save_strategy="no", logging_strategy="no",
                disable_tqdm=True)).train()


def hf_trainer(run):
    with workplace() as folder:
        trainer_of(run, folder)


def hf_trainer_ranks(run):
    with workplace() as folder:
        two_ranks(run, lambda run: trainer_of(run, folder))


def timm_one(run):
    from timm.data import create_dataset, create_loader
    from timm.utils import random_seed
    random_seed(42, 0)
    data = create_dataset("", root=os.path.join(run.at, "train"))
    seed_with_model(1)                                  # 42, and weights
    loader = create_loader(data, (3, 8, 8), BATCH, is_training=True, num_workers=WORKERS,
                           use_prefetcher=False, persistent_workers=True)
    for _ in range(EPOCHS):
        run.steps(loader)


def timm_ranks(run):
    from timm.data import create_dataset, create_loader

    def script(run):
        torch.distributed.init_process_group("gloo")
        data = create_dataset("", root=os.path.join(run.at, "train"))
        loader = create_loader(data, (3, 8, 8), BATCH, is_training=True, num_workers=WORKERS,
                               use_prefetcher=False, distributed=True, device=torch.device("cpu"))
        for epoch in range(EPOCHS):
            loader.sampler.set_epoch(epoch)
            run.steps(loader)
    two_ranks(run, script)


def lightning_fit(run, **more):
    import lightning
    from torch.utils.data import DataLoader

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(()))

        def training_step(self, batch, _):
            run.step()
            return self.weight.sum() * batch[0].mean()

        def on_train_epoch_end(self):
            run.end()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    trainer = lightning.Trainer(max_epochs=EPOCHS, accelerator="cpu", logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False, **more)
    trainer.fit(Module(), DataLoader(image_folder(run), BATCH, shuffle=True, num_workers=WORKERS))


def lightning_one(run):
    import lightning
    lightning.seed_everything(7)
    lightning_fit(run)


def lightning_ranks(run):
    from lightning.fabric.plugins.environments import TorchElasticEnvironment

    def script(run):
        os.environ.update(TORCHELASTIC_RUN_ID="x", GROUP_RANK="0")
        lightning_fit(run, devices=2, strategy="ddp", plugins=[TorchElasticEnvironment()])
    two_ranks(run, script)


def yolo_classify(run):
    from ultralytics.cfg import get_cfg
    from ultralytics.data import ClassificationDataset
    from ultralytics.data.build import build_dataloader
    from ultralytics.utils.torch_utils import init_seeds
    init_seeds(0)                                       # as its trainer does, with seed=0
    data = ClassificationDataset(os.path.join(run.at, "train"), get_cfg(overrides={"imgsz": 32}), augment=True)
    loader = build_dataloader(data, BATCH, WORKERS, rank=-1)
    run.shared["begin"] = time.monotonic()              # it has looked into each file by now
    for _ in range(EPOCHS):
        run.steps(loader)


def fastai_folder(run):
    from fastai.vision.all import ImageDataLoaders, Resize
    loaders = ImageDataLoaders.from_folder(os.path.join(run.at, "train"), valid_pct=0.2, seed=42, bs=BATCH,
                                           item_tfms=Resize(8), num_workers=WORKERS)
    for _ in range(EPOCHS):
        run.steps(loaders.train)


def mmengine_one(run):
    from mmengine.runner import Runner
    loader = Runner.build_dataloader({
        "batch_size": BATCH, "num_workers": WORKERS, "dataset": image_folder(run),
        "sampler": {"type": "DefaultSampler", "shuffle": True}, "collate_fn": {"type": "default_collate"},
    }, seed=20261)
    for epoch in range(EPOCHS):
        loader.sampler.set_epoch(epoch)
        run.steps(loader)


def keras_folder(run):
    import keras
    data = keras.utils.image_dataset_from_directory(os.path.join(run.at, "train"), batch_size=BATCH,
                                                    image_size=(8, 8))
    for _ in range(EPOCHS):
        run.steps(data)


def keras_validation(run):
    import keras
    train, val = (keras.utils.image_dataset_from_directory(os.path.join(run.at, which), batch_size=BATCH,
                                                           image_size=(8, 8)) for which in ("train", "val"))
    for e in range(EPOCHS):
        run.steps(train)
        for number, batch in enumerate(val):
            if number == 4 * FOUND_AT and e == 0:
                with contextlib.suppress(SystemExit):
                    wait_for("the validation set's order", lambda: both_of_keras(run.belief()),
                             run.shared["patience"])
        del batch


def both_of_keras(belief):
    return belief.count("shuffled by numpy") == 2


def tf_data(run):
    import tensorflow
    files = tensorflow.data.Dataset.list_files(os.path.join(run.at, "train/*/*.jpg"), shuffle=False)
    data = files.map(lambda f: tensorflow.image.decode_jpeg(tensorflow.io.read_file(f))[:8, :8, :1]).batch(BATCH)
    for _ in range(EPOCHS):
        run.steps(data)


def dali_reader(run, **how):
    from nvidia.dali import fn, pipeline_def

    @pipeline_def(batch_size=BATCH, num_threads=WORKERS, device_id=None)
    def pipeline():
        data, labels = fn.readers.file(file_root=os.path.join(run.at, "train"), name="r",
                                       **(how or {"random_shuffle": True}))
        return fn.resize(fn.decoders.image(data), size=(8, 8)), labels
    p = pipeline()
    p.build()
    for _ in range(EPOCHS):
        for _ in range(FILES // BATCH):
            p.run()
            run.step()
        run.end()


def dali_shuffle_after_epoch(run):
    dali_reader(run, shuffle_after_epoch=True)


# --- What came of them ---------------------------------------------------------------------

def reach_of(script, belief):
    """How far most opens are from the one before: of an order that is read through a buffer (Keras), or by
    threads that overtake each other."""
    size = re.search(r"read from a buffer of (\d+)", belief)
    return 3 * int(size[1]) if size else OVERTAKEN if script == "tf_data" else 0


def forward(order, opens, around=0):
    """The share of opens that go a short way forward in this order, or around, each process for itself."""
    position, last = {path: i for i, path in enumerate(order)}, {}
    good = judged = 0
    for _, pid, path in opens:
        p = position.get(path)
        if pid in last and path != last[pid][1]:
            judged += 1
            good += p is not None and last[pid][0] is not None and -around < p - last[pid][0] <= max(STEP, around)
        last[pid] = (p, path)
    return good / max(judged, 1)


def judge(run, opens, what, found):
    start = run.shared.get("begin", 0.0)
    for e in range(EPOCHS):
        end = run.shared["end", e]
        order = run.shared.get(("order", e), [])
        belief = run.shared.get(("belief", e), "")
        share = forward(order, [o for o in opens.seen if start < o[0] <= end and o[2].startswith("train/")],
                        reach_of(what, belief))
        print(f"{what}, epoch {e}: {share:.1%} go forward in what is believed: {belief}", flush=True)
        if e in found:
            expect(share > 0.9, f"{what}, epoch {e}: not found")
            expect(e == 0 or what != "keras_validation" or both_of_keras(belief),
                   f"{what}, epoch {e}: the validation set is not followed")
        elif order:
            expect(share > 0.9, f"{what}, epoch {e}: a wrong belief")
        start = end


SCRIPTS = {                             # of which package, and the epochs that are to be known in time
    accelerate_one: ("accelerate", {0}),
    accelerate_ranks: ("accelerate", {0, 1, 2}),
    accelerate_seedable: ("accelerate", {0, 1, 2}),
    hf_trainer: ("transformers", {0, 1, 2}),
    hf_trainer_ranks: ("transformers", {0, 1, 2}),
    timm_one: ("timm", {0}),
    timm_ranks: ("timm", {0, 1, 2}),
    lightning_one: ("lightning", {0}),
    lightning_ranks: ("lightning", {0, 1, 2}),
    yolo_classify: ("ultralytics", {0, 1, 2}),
    fastai_folder: ("fastai", set()),             # Python's random: not searched for
    mmengine_one: ("mmengine", {0, 1, 2}),
    keras_folder: ("keras", {0, 1, 2}),
    keras_validation: ("keras", {0, 1, 2}),
    tf_data: ("tensorflow", {0, 1, 2}),
    dali_reader: ("nvidia.dali", {0, 1, 2}),
    dali_shuffle_after_epoch: ("nvidia.dali", {0, 1, 2}),
}


def installed(package):
    with contextlib.suppress(ImportError):
        return importlib.util.find_spec(package) is not None
    return False


def run_script(source, script, manager):
    package, found = SCRIPTS[script]
    if not installed(package):
        print(f"{script.__name__}: skipped, {package} is not installed", flush=True)
        return
    with mounted(source, OPTIONS) as mount:
        opens = Opens(mount)
        run = Run(mount, manager.dict(patient=True, patience=float(os.environ.get("WAIT", SEARCH))))
        child = multiprocessing.get_context("fork").Process(target=script, args=(run,))
        watcher = Watcher(mount)
        child.start()
        child.join()
        expect(child.exitcode == 0, f"{script.__name__} ended with {child.exitcode}")
        judge(run, opens, script.__name__, found)
        counted = watcher.since()
        print(f"{script.__name__}: {counted['hits']} of {counted['opens']} opens were hits, "
              f"{counted['mispredicted']} mispredicted", flush=True)


if __name__ == "__main__":
    with workplace() as images, multiprocessing.Manager() as shared:
        make_images(os.path.join(images, "train"), classes=CLASSES, files=FILES)
        make_images(os.path.join(images, "val"), classes=CLASSES, files=VALIDATION, seed=2)
        for one in [globals()[name] for name in sys.argv[1:]] or SCRIPTS:
            run_script(images, one, shared)
