"""What every dialect and the command line stand on: memories, knowledge, questions, status."""
