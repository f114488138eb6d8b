# InkCloak. Two commands matter: `make run` and `make test`. Each installs what it needs into .venv.
# More about them: docs/running.md

PYTHON ?= $(shell command -v python3.11 || command -v python3)
ARGS ?=
REPORT ?=
DEVSTACK = $(PYTHON) -m devstack --with-parent

.PHONY: help run run-demo run-gpu-demo test stop reset logs manage shell lint format messages screens bench-api bench-billing bench-check bench-claim bench-dispatch bench-engine bench-kinds bench-ledger train evaluate fuzz-api soak-billing

help:              ## this list
	@grep -E '^[a-z-]+: .*##' Makefile | sed -E 's/^([a-z-]+):[^#]*## /  make \1\t/' | expand -t 24

run:               ## everything, in the foreground, on http://127.0.0.1:8000 (PORT=… for another port)
	@$(DEVSTACK) run

run-demo:          ## the same, with plans to buy at a Stripe on loopback (docs/stripe-double.md)
	@$(DEVSTACK) run-demo

run-gpu-demo:      ## the same, scored by a real RunPod worker behind a RunPod on loopback (docs/runpod.md)
	@$(DEVSTACK) run-gpu-demo

test:              ## all tests, with servers of their own (ARGS="tests/pod -q" for some)
	@$(DEVSTACK) test $(ARGS)

stop:              ## end what `make run` started in this checkout
	@$(DEVSTACK) stop

reset:             ## delete the development data (needs CONFIRM=1)
	@$(DEVSTACK) reset

logs:              ## follow the logs
	@$(DEVSTACK) logs

manage:            ## ARGS="check_text FILE": Django's commands, with or without a running stack
	@$(DEVSTACK) manage $(ARGS)

shell:             ## a Python shell with the models
	@$(DEVSTACK) manage shell

lint:              ## ruff, mypy, missing migrations
	@$(DEVSTACK) lint

format:            ## let ruff put the code in order
	@$(DEVSTACK) format

messages:          ## collect texts to translate, compile translations (needs GNU gettext)
	@$(DEVSTACK) manage makemessages -l es --no-wrap --no-location -i var -i build
	@$(DEVSTACK) manage compilemessages -l es

screens:           ## a picture of each page, both languages, phone and desktop
	@$(DEVSTACK) rehearse tests.screens --seed $(ARGS)

fuzz-api:          ## made-up requests to every operation, held against the contract (docs/api-fuzzing.md)
	@$(DEVSTACK) rehearse tests.fuzz $(ARGS)

soak-billing:      ## random histories of payment against an oracle, and a flood of events (docs/stripe.md)
	@$(DEVSTACK) test tests/billing/soak/histories.py tests/billing/soak/flood.py -q -s $(ARGS)

bench-api:         ## the API beside a bare view; a key's check; lists of a million; a batch of a thousand texts
	@$(DEVSTACK) python -m benchmarks.api $(ARGS)

bench-billing:     ## what a day costs, policy by policy: dollars, waits, useful seconds (simulated)
	@$(DEVSTACK) python -m benchmarks.billing $(ARGS)

bench-check:       ## how long a warm check takes, model and rest apart
	@$(DEVSTACK) rehearse benchmarks.check $(ARGS)

bench-claim:       ## whether taking a batch costs more from a million queued texts than from ten thousand
	@$(DEVSTACK) python -m benchmarks.claim $(ARGS)

bench-dispatch:    ## 5,000 queued texts through RunPod's SDK worker on loopback, against the ideal
	@$(DEVSTACK) python -m benchmarks.dispatch $(ARGS)

bench-engine:      ## the CPU engine through the whole product, beside the bare engine and beside Infinity
	@$(DEVSTACK) rehearse benchmarks.engine $(ARGS)

bench-kinds:       ## which engine should run the encoder on a CPU (ARGS="--openvino PYTHON": OpenVINO too)
	@$(DEVSTACK) python -m benchmarks.engine_kinds $(ARGS)

bench-ledger:      ## budget decisions and the cost pages over ten million ledger lines, against a hundred thousand
	@$(DEVSTACK) python -m benchmarks.ledger $(ARGS)

train:             ## ARGS="--recipe …": train the model
	@$(DEVSTACK) python -m gpujobs.pod.train $(ARGS)

evaluate:          ## the shipped model's report (ARGS="FILE.jsonl --json": measure it on a file)
	@$(DEVSTACK) $(if $(ARGS),manage evaluate $(ARGS),python -m gpujobs.pod.reporting.report $(REPORT))
