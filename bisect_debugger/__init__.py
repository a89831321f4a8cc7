"""Find the first divergence between training runs that should be the same."""

__version__ = "0.1.0"
