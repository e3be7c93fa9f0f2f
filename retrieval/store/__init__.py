"""Where the records live: embedded SurrealDB, the log of changes, and nothing derived."""
