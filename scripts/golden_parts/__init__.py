"""One module for each golden file, and what they share."""
