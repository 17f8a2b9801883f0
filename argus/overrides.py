"""What the user typed: checked once, before anything is loaded, so that a slip costs nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf

from argus.configuration import conf_dir
from argus.errors import ConfigError


def axes_of(overrides: Sequence[Override]) -> dict[str, list[str]]:
    """Return the values that the user named for each key, in the order named. Raises ConfigError for an interval."""
    axes: dict[str, list[str]] = {}
    for override in overrides:
        key = override.get_key_element()
        if not override.is_sweep_override():
            axes[key] = [override.get_value_element_as_str()]
        elif override.is_discrete_sweep():
            axes[key] = [str(value) for value in override.sweep_string_iterator()]
        else:
            raise ConfigError(f"'{override.input_line}' is no list of values: sweep with {key}=a,b or range(…)")
    return axes


def first_of(axes: Mapping[str, Sequence[str]]) -> list[str]:
    """Return overrides with the first value of each key."""
    return [f"{key}={values[0]}" for key, values in axes.items()]


def check_overrides(config: str, arguments: Sequence[str]) -> None:
    """Raise ConfigError for a key or group member that does not exist, with a list of what does.

    `arguments` are the command line's; switches such as -m are left to Hydra, and so are words it cannot parse.
    """
    # A glob names only what exists, and Hydra alone can expand it.
    typed = [word for word in arguments if "=" in word and not word.startswith("-") and "=glob(" not in word]
    if not typed:
        return
    with initialize_config_dir(str(conf_dir()), version_base=None):
        try:
            axes = axes_of(OverridesParser.create().parse_overrides(typed))
            for key, values in axes.items():
                _check(config, key, values, axes)
        except HydraException as error:
            raise ConfigError(str(error)) from error


def _check(config: str, key: str, values: Sequence[str], axes: Mapping[str, Sequence[str]]) -> None:
    others = {name: some for name, some in axes.items() if name != key}
    if _is_group(key):
        for value in values:
            _require(config, key, f"{key}={value}", others)
        return
    # A knob of one member (task.member.gallery_size) is fine where any member that the command may run has it.
    group = key.split(".")[0].lstrip("+~")
    members = others.get(group) or _members(group) or [""]
    errors = [_error(config, key, values[0], others, group, member) for member in members]
    if all(errors):
        raise ConfigError(errors[0])


def _error(config: str, key: str, value: str, others: Mapping[str, Sequence[str]], group: str, member: str) -> str:
    chosen = {**others, group: [member]} if member else others
    try:
        _require(config, key, f"{key}={value}", chosen)
    except ConfigError as error:
        return str(error)
    return ""


def _require(config: str, key: str, override: str, others: Mapping[str, Sequence[str]]) -> None:
    try:
        compose(config, overrides=[*_groups(others), override])
    except HydraException as error:
        raise ConfigError(f"{error}{_keys_beside(config, key, others)}") from error


def _members(group: str) -> list[str]:
    """Return a group's members, those in use by default first."""
    return sorted(path.stem for path in (conf_dir() / group).glob("*.yaml"))


def _groups(axes: Mapping[str, Sequence[str]]) -> list[str]:
    return first_of({name: values for name, values in axes.items() if _is_group(name)})


def _is_group(key: str) -> bool:
    return (conf_dir() / key).is_dir() or key.startswith("hydra/")


def _keys_beside(config: str, key: str, others: Mapping[str, Sequence[str]]) -> str:
    if _is_group(key):
        return ""
    parent, _, name = key.rpartition(".")
    cfg = compose(config, overrides=_groups(others))
    beside = OmegaConf.select(cfg, parent) if parent else cfg
    if not isinstance(beside, DictConfig):
        return ""
    keys = [str(known) for known in beside]
    close = get_close_matches(name, keys, n=1)
    meant = f" Did you mean '{close[0]}'?" if close else ""
    return f"\nKeys {f'of {parent}' if parent else 'at the top'}: {', '.join(keys)}.{meant}"
