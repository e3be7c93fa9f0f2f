"""What is known about each language: one small module a grammar, and the table that finds it."""
