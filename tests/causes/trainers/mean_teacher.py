"""A student learns from a teacher, whose weights follow the student's in a background thread.

Run: python mean_teacher.py
"""

import copy
import threading

import torch
from torch import nn
from torch.nn import functional as F


class Follower(threading.Thread):
    """Keeps the teacher an average of the student."""

    def __init__(self, teacher: nn.Module, student: nn.Module) -> None:
        super().__init__()
        self.is_over = threading.Event()
        self.teacher, self.student = teacher, student

    @torch.no_grad()
    def run(self) -> None:
        while not self.is_over.wait(0.001):
            for ours, theirs in zip(
                self.teacher.parameters(), self.student.parameters(), strict=True
            ):
                ours.lerp_(theirs, 0.05)


def main() -> None:
    torch.manual_seed(73)
    student = nn.Sequential(nn.Linear(14, 32), nn.ReLU(), nn.Linear(32, 14))
    teacher = copy.deepcopy(student).requires_grad_(False)
    optimizer = torch.optim.Adam(student.parameters(), lr=5e-3)
    follower = Follower(teacher, student)
    follower.start()
    for step in range(60):
        clean = torch.sin(torch.arange(14) * torch.rand(32, 1))
        noisy = clean + 0.2 * torch.randn(32, 14)
        loss = F.mse_loss(student(noisy), clean) + F.mse_loss(student(noisy), teacher(clean))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    follower.is_over.set()
    follower.join()


if __name__ == "__main__":
    main()
