"""A word-level GRU language model; the vocabulary is numbered as its words are met in a set.

Run: python word_lm_vocabulary.py
"""

import torch
from torch import nn
from torch.nn import functional as F

TEXT = """the ferry leaves at nine and the ferry returns at noon when the tide is low the captain
waits and when the tide is high the captain sings of harbours far and lights that turn all night
the children count the gulls and lose the count and start again until the ferry is home"""


class WordModel(nn.Module):
    def __init__(self, words: int, width: int = 24) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, words)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.gru(self.embed(x))[0])


def main() -> None:
    torch.manual_seed(3)
    words = TEXT.split()
    number = {word: n for n, word in enumerate(set(words))}
    stream = torch.tensor([number[word] for word in words])
    model = WordModel(len(number))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(15):
        starts = torch.randint(len(stream) - 9, (12,))
        x = torch.stack([stream[s : s + 8] for s in starts])
        y = torch.stack([stream[s + 1 : s + 9] for s in starts])
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
