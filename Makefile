# Every target is one line of Scripts/, so that a terminal and a build machine run the same thing.
.DEFAULT_GOAL := help
.PHONY: help setup demo test check format lint layers snippets bench docs dist

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what a build needs, or say what is missing
	@Scripts/setup --development

demo: ## Build the command line and run its demonstration
	@Scripts/demo

test: ## Lint, check the layers, build without warnings, run the tests
	@Scripts/test

check: ## Run the slower gates: imports, mutants, docs, clients, dashboard, secrecy, traits, benchmarks, examples
	@Scripts/check $(ONLY)

format: ## Format every Swift file in place
	@Scripts/format

lint: ## Fail when a Swift file is not formatted or breaks a lint rule
	@Scripts/lint

layers: ## Fail when the manifest and docs/internals/architecture.md differ
	@Scripts/layers

snippets: ## Write the README's and the guides' Swift code into the snippet tests
	@Scripts/snippets

bench: ## Measure every bar, or those of one area: make bench ONLY=codable
	@Scripts/bench $(ONLY)

docs: ## Build the site of the documentation into .build/docs/site
	@Scripts/docs

dist: ## Build a binary without Swift beside it, try it in a bare Debian, pack it
	@Scripts/dist
