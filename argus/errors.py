"""Errors that a user can do something about."""


class ArgusError(Exception):
    """Says what was wrong, with its value, and what to do. Shown without a traceback."""


class ConfigError(ArgusError):
    """A setting that cannot work."""


class DataError(ArgusError):
    """Data or weights that are missing or not laid out as expected."""
