"""How good and how fast is it, and how can anyone check? One command a question; results/ keeps the rows."""
