"""Trains Waymark's landmark models and writes the directories that Waymark reads."""
