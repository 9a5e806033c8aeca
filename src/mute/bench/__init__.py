"""Measuring: how fast a config trains and translates here, and what a run will take."""
