"""A recursive net over small trees; the children of a node are a frozen set of names.

Run: python held_tree_lstm.py
"""

import torch
from torch import nn
from torch.nn import functional as F

Tree = dict[str, frozenset[str]]


class TreeNet(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.leaf = nn.Parameter(torch.randn(width) * 0.1)
        self.join = nn.GRUCell(width, width)
        self.out = nn.Linear(width, 1)

    def state(self, tree: Tree, node: str) -> torch.Tensor:
        state = self.leaf[None] * len(node)
        for child in tree.get(node, frozenset()):
            state = self.join(self.state(tree, child), state)
        return state

    def forward(self, trees: list[Tree]) -> torch.Tensor:
        return self.out(torch.cat([self.state(tree, "root") for tree in trees]))[:, 0]


def grown(number: int) -> Tree:
    names = [f"branch-{'x' * (k % 4)}{k}" for k in range(3 + number % 3)]
    tree: Tree = {"root": frozenset(names)}
    tree[names[0]] = frozenset(f"twig{k}" for k in range(1 + number % 2))
    return tree


def main() -> None:
    torch.manual_seed(251)
    net = TreeNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for step in range(10):
        trees = [grown(step * 4 + k) for k in range(4)]
        sizes = torch.tensor([float(sum(map(len, tree.values()))) for tree in trees])
        loss = F.mse_loss(net(trees), sizes / 5)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
