"""Open the MLflow UI on the store: python -m argus.ui [port=5000]."""

from __future__ import annotations

import os
import sys

import hydra
from omegaconf import DictConfig

from argus.configuration import conf_dir


@hydra.main(version_base=None, config_path=str(conf_dir()), config_name="ui")
def main(cfg: DictConfig) -> None:
    """Replace this process by MLflow's server, so that Ctrl-C and exit codes are its own."""
    from argus.settings import store_of
    from argus.tracking import prepare

    store = store_of(cfg)
    if store.uri.startswith("http"):
        sys.exit(f"the store is a server: open {store.uri}")
    prepare(store)
    print(f"http://{cfg.host}:{cfg.port}", flush=True)
    command = ["mlflow", "ui", "--backend-store-uri", store.uri, "--host", cfg.host, "--port", str(cfg.port)]
    os.execv(sys.executable, [sys.executable, "-m", *command])


if __name__ == "__main__":
    main()
