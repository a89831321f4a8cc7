"""Sample trainers, their recorded twins, and the notes they lead to."""
