"""Modules that make the golden files, one module for each file, and shared helpers."""
