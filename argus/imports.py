"""Which files a module imports, directly or through others, read from the files themselves: nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from argus.configuration import PACKAGE
from argus.errors import ConfigError


def reached(modules: Iterable[str]) -> frozenset[Path]:
    """Return the files of the modules and of all modules of Argus that these import, inside functions too.

    Other packages' imports are not followed; a module of theirs that is named itself counts as its one file.
    Raises ConfigError for a module that does not exist.
    """
    found: set[Path] = set()
    waiting = [_file(module) for module in modules]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += imported(path)
    return frozenset(found)


def _file(module: str) -> Path:
    own = _own(module)
    if own is not None:
        return own
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.origin is None:
        raise ConfigError(f"there is no module '{module}': correct the _target_ that names it")
    return Path(spec.origin)


@lru_cache(maxsize=1024)
def imported(path: Path) -> tuple[Path, ...]:
    """Return the files of Argus that a file of Argus imports."""
    if PACKAGE not in path.parents:
        return ()
    names = _names(ast.parse(path.read_bytes()))
    files = {file for name in names if (file := _own(name)) is not None}
    around = path.parent / "__init__.py"  # a package's own file runs before those in it
    return tuple(sorted(files | ({around} if around.is_file() else set())))


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)  # where what is imported is a module


def _own(module: str) -> Path | None:
    """Return the file of a module of Argus, or None for another name."""
    top, *rest = module.split(".")
    if top != PACKAGE.name:
        return None
    place = PACKAGE.joinpath(*rest)
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)
