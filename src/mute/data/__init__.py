"""From raw text to batches of ids."""
