"""Argus measures vision-language models: capability, consistency, robustness, efficiency, and one overall score."""

__version__ = "0.1.0"
