# `make` alone explains the targets. Everything runs in .venv, which `make install` builds.

PYTHON ?= python3
FOURLEAF := .venv/bin/fourleaf
STAMP := .venv/.installed
PIP := .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes
SEEDS ?= 20
MINUTES ?= 1
WORKERS ?= 2
E2E_WORKERS ?= 3
SLOWEST ?= --durations 15 --durations-min 10
MAPPED ?= statefulset/gpu-scheduler-check
BIN ?= bin
DIST ?= dist
DOCKER ?= docker
BUILD ?= $(DOCKER) build
PLATFORM ?= linux/amd64
REGISTRY ?=
TAG ?= $(shell awk -F '"' '/^version = /{print $$2; exit}' pyproject.toml)
HELM ?= helm
NAMESPACE ?= kube-system
WITH ?=
ROOMS := $(addprefix tests/,model solver k8s_bridge webhook agent simulator cli dashboard)
BENCHES := $(sort $(notdir $(basename $(wildcard benchmarks/[a-z]*))))

.DEFAULT_GOAL := help
.PHONY: help install playground demo test lint types contracts unit e2e deep oldest mutants soak faults fuzz bench fix-nodes manifests reference generate sbom site release-check build run-local docker docker-build docker-webhook docker-agent docker-check deploy deploy-aks clean

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z][a-z0-9 -]*:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP) ## Build .venv with the command and the tools, as uv.lock pins them

# uv alone can read the lock. Where it cannot reach the index by itself, pip installs the same
# files, which helps behind proxies and mirrors that only pip is configured for. Each has its hash.
$(STAMP): pyproject.toml uv.lock
	@test -x .venv/bin/python || $(PYTHON) -m venv .venv
	@.venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed: make install PYTHON=python3.11"; exit 1; }
	@test -x .venv/bin/uv || $(PIP) -r deploy/images/build.txt
	@.venv/bin/uv sync --frozen --quiet --python .venv/bin/python 2>.venv/uv.log || { \
		cat .venv/uv.log; \
		! grep -qi 'hash mismatch' .venv/uv.log || exit 1; \
		echo "uv sync failed; installing the locked files with pip"; \
		.venv/bin/uv export --frozen --quiet --no-emit-project -o .venv/requirements.txt && \
		$(PIP) -r .venv/requirements.txt && \
		.venv/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .; }
	@touch $@

playground: $(STAMP) ## A Kubernetes API with 64 GPU nodes that are only played, until Ctrl-C (needs Go)
	@.venv/bin/python -m tests.controlplane up --folder .playground

demo: $(STAMP) ## Watch the scheduler at work on a cluster in memory
	@$(FOURLEAF) demo

test: lint types contracts unit ## All that a change can break at once, in minutes

lint: $(STAMP) ## Style and likely bugs (ruff)
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .

types: $(STAMP) ## Types (mypy --strict)
	@.venv/bin/mypy

contracts: $(STAMP) ## Which room may import which (import-linter)
	@.venv/bin/lint-imports

unit: $(STAMP) ## Tests of every room and a thin path through the real control plane, with coverage
	@.venv/bin/pytest -q -m "not e2e and not deep" -n $(WORKERS) --dist worksteal --cov $(SLOWEST)

# Most of its time is spent waiting for clocks of a real cluster, so more workers than cores pay.
e2e: $(STAMP) ## The whole real control plane, and what is shipped for it
	@mkdir -p .used-rights && rm -f .used-rights/*
	@FOURLEAF_USED_RIGHTS=$(CURDIR)/.used-rights .venv/bin/pytest -q -m e2e -n $(E2E_WORKERS) --dist loadgroup $(SLOWEST)
	@.venv/bin/python -m tests.e2e.used_rights .used-rights

deep: $(STAMP) ## Thousands of instances, 500 seeds, the explorer; then the mutants
	@.venv/bin/pytest -q -m deep -n $(WORKERS) --dist worksteal $(SLOWEST)
	@.venv/bin/python -m tests.mutants

# Old libraries warn of what newer ones under them deprecate, which is theirs to mend.
oldest: $(STAMP) ## Tests of the rooms with the oldest libraries that pyproject.toml allows
	@.venv/bin/uv venv --quiet --clear --python .venv/bin/python .venv-oldest
	@.venv/bin/uv pip compile --quiet --resolution lowest-direct --extra all pyproject.toml -o .venv-oldest/versions.txt
	@.venv/bin/uv pip install --quiet --python .venv-oldest/bin/python -c .venv-oldest/versions.txt --group dev -e .
	@.venv-oldest/bin/pytest -q -n $(WORKERS) --dist worksteal -o filterwarnings=default $(ROOMS)

mutants: $(STAMP) ## Take out one safeguard after the other; a named test has to fail each time
	@.venv/bin/python -m tests.mutants

soak: $(STAMP) ## Seeds of the simulation that the tests do not run: make soak SEEDS=10000
	@.venv/bin/python -m tests.simulation --first 1000 --seeds $(SEEDS) --at-once 2

faults: $(STAMP) ## Every fault on a real control plane, hours: make faults SEEDS=20
	@.venv/bin/python -m tests.faults --seeds $(SEEDS)

fuzz: $(STAMP) ## Hostile bytes for every reader of them: make fuzz MINUTES=30, which is for each
	@.venv/bin/python -m tests.fuzz --minutes $(MINUTES)

bench: $(STAMP) ## Run every benchmark, one after the other
	@for name in $(BENCHES); do .venv/bin/python -m benchmarks.$$name || exit; done

fix-nodes: $(STAMP) ## Put nodes of the cluster at hand into a device map: make fix-nodes MAPPED=sts/web
	@$(FOURLEAF) map fix $(MAPPED) --apply

reference: $(STAMP) ## Write the reference pages (docs/reference), and the first page of the results
	@.venv/bin/python -m docs.reference
	@.venv/bin/python -m benchmarks.first_page

manifests: $(STAMP) ## Write anew what is generated in deploy/
	@.venv/bin/python -m fourleaf.model.crds deploy/crds
	@.venv/bin/python -m fourleaf.webhook deploy/webhook
	@.venv/bin/python -m tests.deploy
	@( echo "# What builds Fourleaf, with hashes. Written by \`make manifests\` from uv.lock."; \
		.venv/bin/uv export --frozen --quiet --no-header --no-annotate --only-group build ) > deploy/images/build.txt

generate: manifests reference ## Both of these

sbom: $(STAMP) ## List what an image is made of, in CycloneDX: dist/fourleaf.cdx.json
	@mkdir -p dist
	@.venv/bin/uv export --frozen --no-dev --extra all --quiet --preview-features sbom-export --format cyclonedx1.5 -o dist/fourleaf.cdx.json >/dev/null

site: $(STAMP) ## The documents as a site, every link checked: dist/site
	@NO_MKDOCS_2_WARNING=1 .venv/bin/uv run --frozen --quiet --isolated --only-group docs mkdocs build --strict --quiet

release-check: $(STAMP) ## Every step of a release that needs no registry, into dist/
	@.ci/release-check

build: $(STAMP) ## The package (dist/), and bin/scheduler and bin/controller, which are `fourleaf run`
	@.venv/bin/hatchling build --target wheel --directory $(DIST)
	@mkdir -p $(BIN)
	@printf '#!/bin/sh\nexec "%s" run "$$@"\n' "$(CURDIR)/$(FOURLEAF)" >$(BIN)/scheduler
	@printf '#!/bin/sh\nexec "%s" run --listen 127.0.0.1:8081 "$$@"\n' "$(CURDIR)/$(FOURLEAF)" >$(BIN)/controller
	@chmod +x $(BIN)/scheduler $(BIN)/controller

run-local: $(STAMP) ## Run the scheduler here, by the usual kubeconfig: make run-local WITH="--context kind"
	@$(FOURLEAF) run $(WITH)

docker: ## Build the image of scheduler and dashboard: make docker PLATFORM=linux/arm64 REGISTRY=ghcr.io/me/
	@$(BUILD) --platform $(PLATFORM) -f deploy/images/Dockerfile --target fourleaf -t $(REGISTRY)fourleaf:$(TAG) .

docker-webhook docker-agent: docker-%: ## Those of webhook and agent, which hold no solver
	@$(BUILD) --platform $(PLATFORM) -f deploy/images/Dockerfile --target fourleaf-$* -t $(REGISTRY)fourleaf-$*:$(TAG) .

docker-check: ## Build the image of the check service
	@$(BUILD) --platform $(PLATFORM) -f deploy/images/Dockerfile --target gpu-scheduler-check -t $(REGISTRY)gpu-scheduler-check:$(TAG) .

docker-build: docker docker-webhook docker-agent docker-check ## Build all four

deploy: ## Install or upgrade everything: make deploy NAMESPACE=fourleaf-system REGISTRY=ghcr.io/me/
	@$(HELM) upgrade --install fourleaf deploy/charts/fourleaf --namespace $(NAMESPACE) --create-namespace \
		--set image.repository=$(REGISTRY)fourleaf,image.tag=$(TAG) \
		--set webhook.image.repository=$(REGISTRY)fourleaf-webhook,agent.image.repository=$(REGISTRY)fourleaf-agent $(WITH)

deploy-aks: deploy ## The same, then the check service with a map of AKS nodes
	@$(HELM) upgrade --install gpu-scheduler-check deploy/charts/gpu-scheduler-check --namespace default \
		-f deploy/charts/gpu-scheduler-check/aks-values.yaml \
		--set image.repository=$(REGISTRY)gpu-scheduler-check,image.tag=$(TAG)

clean: ## Remove .venv and every cache
	@rm -rf .venv .venv-oldest bin build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage*
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
