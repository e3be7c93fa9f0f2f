"""Ranking of code: what a question names, and in which order chunks answer it."""
