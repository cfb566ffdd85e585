"""Modules that make the golden files, one each, and shared helpers."""
