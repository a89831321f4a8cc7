"""Probes: what runs inside the trainer and records it."""
