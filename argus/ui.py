"""Open the MLflow UI on the store: python -m argus.ui [port=5000]."""

from __future__ import annotations

import os
import socket
import sys

import hydra
from omegaconf import DictConfig

from argus.configuration import conf_dir
from argus.errors import ArgusError, ConfigError
from argus.overrides import require_known


@hydra.main(version_base=None, config_path=str(conf_dir()), config_name="ui")
def main(cfg: DictConfig) -> None:
    """Replace this process by MLflow's server, so that Ctrl-C and exit codes are its own."""
    from argus.settings import store_of
    from argus.tracking import page_of, prepare

    store = store_of(cfg)
    try:
        if store.uri.startswith("http"):
            raise ConfigError(f"the store is a server: open {store.uri}")
        require_free(cfg.host, cfg.port)
        prepare(store)
    except ArgusError as error:
        sys.exit(f"error: {error}")
    address = f"http://{cfg.host}:{cfg.port}"
    print(f"sweeps and cells: {address}/{page_of(store, store.experiment)}")
    print(f"scorecards:       {address}/{page_of(store, store.scores_experiment)}", flush=True)
    command = ["mlflow", "ui", "--backend-store-uri", store.uri, "--host", cfg.host, "--port", str(cfg.port)]
    os.execv(sys.executable, [sys.executable, "-m", *command])


def require_free(host: str, port: object) -> None:
    """Raise ConfigError for a port that is none, or that another program listens on."""
    if not isinstance(port, int) or not 1 <= port <= 65535:
        raise ConfigError(f"port={port}: give a number from 1 to 65535")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a server just closed does not count
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ConfigError(f"cannot listen on {host}:{port} ({error.strerror}): choose another port=…") from error


if __name__ == "__main__":
    require_known("ui")
    main()
