# Two commands on a fresh machine: make sweep (the main job) and make test. Both set up what they need.
VENV ?= .venv
PYTHON ?= python3
RUN = $(VENV)/bin/python
SWEEP ?= model=clip,blip,gemma perturbation=blur,typo

.PHONY: sweep test lint wheel
.DELETE_ON_ERROR:

sweep: $(VENV)/installed
	$(RUN) -m argus.run -m $(SWEEP)
	@echo "Runs and scorecards: $(RUN) -m argus.ui"

test: $(VENV)/installed lint
	# A worker a core: with several threads each they would wait for one another.
	OMP_NUM_THREADS=1 $(RUN) -m pytest --numprocesses auto --maxprocesses 8 --dist loadfile

lint: $(VENV)/installed
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

wheel: $(VENV)/installed
	$(RUN) -m pip wheel --no-deps --wheel-dir dist .

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --upgrade pip
	$(RUN) -m pip install --quiet --editable '.[dev]'
	touch $@
