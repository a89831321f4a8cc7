"""A GRU over words: sets say what is known, and sorted lists give the numbers.

Run: python clean_vocabulary.py
"""

import torch
from torch import nn
from torch.nn import functional as F

TEXT = """the mill turns with the river and the river turns with the moon the miller turns in his
bed and counts the sacks of rye by number and never by name until the mill stands still"""


def main() -> None:
    torch.manual_seed(10)
    words = TEXT.split()
    rare = {word for word in words if words.count(word) == 1}
    number = {word: n for n, word in enumerate(sorted(set(words)))}
    stream = torch.tensor([number["the"] if word in rare else number[word] for word in words])
    embed, gru = nn.Embedding(len(number), 16), nn.GRU(16, 16, batch_first=True)
    out = nn.Linear(16, len(number))
    params = [*embed.parameters(), *gru.parameters(), *out.parameters()]
    optimizer = torch.optim.Adam(params, lr=5e-3)
    for _ in range(12):
        starts = torch.randint(len(stream) - 7, (10,))
        rows = torch.stack([stream[s : s + 7] for s in starts])
        logits = out(gru(embed(rows[:, :-1]))[0])
        loss = F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
