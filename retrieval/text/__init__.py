"""What a text says: its words (for keyword search) and the things it names (for the graph)."""
