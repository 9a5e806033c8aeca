"""What a trained model does: its units, their weights and their order, and what they look at."""
