"""What the user typed: checked once, before anything is loaded, so that a slip costs nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches

from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf

from argus.configuration import conf_dir
from argus.errors import ArgusError, ConfigError

VARYING = ("model", "dataset", "task", "perturbation", "hardware")
"""The groups whose members a sweep runs through."""

UNQUOTABLE = {"__null__": "null", "__empty__": ""}
"""What stands for values that Hydra takes as an override, but not as a choice of one."""


def axes_of(overrides: Sequence[Override]) -> dict[str, list[str]]:
    """Return the values that the user named for each key, in the order named. Raises ConfigError for an interval."""
    axes: dict[str, list[str]] = {}
    for override in overrides:
        key = override.get_key_element()
        if not override.is_sweep_override():
            axes[key] = [override.get_value_element_as_str()]
        elif override.is_discrete_sweep():
            axes[key] = [UNQUOTABLE.get(str(value), str(value)) for value in override.sweep_string_iterator()]
            if not axes[key]:
                raise ConfigError(f"'{override.input_line}' names nothing that there is")
        else:
            raise ConfigError(f"'{override.input_line}' is no list of values: sweep with {key}=a,b or range(…)")
    return axes


def first_of(axes: Mapping[str, Sequence[str]]) -> list[str]:
    """Return overrides with the first value of each key."""
    return [f"{key}={values[0]}" for key, values in axes.items()]


def base_of(axes: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the overrides that hold for a whole sweep: the first value of each key, without knobs of members."""
    return first_of({key: values for key, values in axes.items() if not _is_knob(f"{key}=")})


def deferred(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of a sweep with knobs of members (model.adapter.num_beams=3) left to its cells.

    Hydra composes a base config from whatever is not swept, with the groups' default members: a knob that only the
    swept members have would be refused there. As a choice of one it reaches the sweeper.
    """
    if not {"-m", "--multirun"} & set(arguments):
        return list(arguments)
    return [_as_choice(word) if _is_knob(word) else word for word in arguments]


def _is_knob(word: str) -> bool:
    key, equals, _ = word.partition("=")
    group, dot, _ = key.partition(".")
    return bool(equals and dot) and group in VARYING


def _as_choice(word: str) -> str:
    (override,) = OverridesParser.create().parse_overrides([word])
    key, _, value = word.partition("=")
    stands_for = {meant: sign for sign, meant in UNQUOTABLE.items()}.get(value.strip(), value)
    return word if override.is_sweep_override() else f"{key}=choice({stands_for})"


def as_typed(line: str) -> str:
    """Return an override as the user typed it, should `deferred` have made it a choice of one."""
    key, choice, value = line.partition("=choice(")
    value = value.removesuffix(")")
    return f"{key}={UNQUOTABLE.get(value, value)}" if choice and _is_knob(f"{key}=") else line


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
        except HydraException as error:
            raise ConfigError(str(error)) from error
        for key, values in axes.items():
            if (conf_dir() / key).is_dir():
                _check_members(key, values)
        try:
            compose(config, overrides=first_of(axes))
        except HydraException:
            # A knob of one member (task.member.gallery_size) is fine where any member that may run has it.
            for key, values in axes.items():
                _check_key(config, key, values[0], axes)


def require_known(config: str, *checks: Callable[[Sequence[str]], None]) -> None:
    """Check this process's command line by `check_overrides` and `checks`; exit with status 1 and one line if wrong."""
    try:
        check_overrides(config, sys.argv[1:])
        for check in checks:
            check(sys.argv[1:])
    except ArgusError as error:
        sys.exit(f"error: {error}")


def _check_members(group: str, values: Sequence[str]) -> None:
    known = _members(group)
    for value in values:
        if value not in known and (value != "null" or group in VARYING):
            close = get_close_matches(value, known, n=1)
            meant = f" Did you mean '{close[0]}'?" if close else ""
            raise ConfigError(f"no '{value}' in {group}: choose one of {', '.join(known)}.{meant}")


def _check_key(config: str, key: str, value: str, axes: Mapping[str, Sequence[str]]) -> None:
    others = {name: some for name, some in axes.items() if name != key}
    group = key.split(".")[0].lstrip("+~")
    members = others.get(group) or _members(group) or [""]
    errors = [_error(config, key, value, others, group, member) for member in members]
    if all(errors):
        raise ConfigError(errors[0])


def _error(config: str, key: str, value: str, others: Mapping[str, Sequence[str]], group: str, member: str) -> str:
    """Return what is wrong with an override where `member` of its group is chosen, or ""."""
    chosen = _groups({**others, group: [member]} if member and group != key else others)
    try:
        compose(config, overrides=[*chosen, f"{key}={value}"])
    except HydraException as error:
        return f"{error}{_keys_beside(config, key, chosen)}"
    return ""


def _members(group: str) -> list[str]:
    """Return a group's members; none for a key that is no group."""
    return sorted(path.stem for path in (conf_dir() / group).glob("*.yaml"))


def _groups(axes: Mapping[str, Sequence[str]]) -> list[str]:
    return first_of({name: values for name, values in axes.items() if _is_group(name)})


def _is_group(key: str) -> bool:
    return (conf_dir() / key).is_dir() or key.startswith("hydra/")


def _keys_beside(config: str, key: str, chosen: Sequence[str]) -> str:
    if _is_group(key):
        return ""
    parent, _, name = key.rpartition(".")
    cfg = compose(config, overrides=list(chosen))
    beside = OmegaConf.select(cfg, parent) if parent else cfg
    if not isinstance(beside, DictConfig):
        return ""
    keys = [str(known) for known in beside]
    close = get_close_matches(name, keys, n=1)
    meant = f" Did you mean '{close[0]}'?" if close else ""
    return f"\nKeys {f'of {parent}' if parent else 'at the top'}: {', '.join(keys)}.{meant}"
