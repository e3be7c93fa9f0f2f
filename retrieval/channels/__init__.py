"""Three independent ways to find a memory: by meaning, by words, by connections. None knows another."""
