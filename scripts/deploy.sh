#!/bin/sh
# Install or upgrade everything: `make deploy`, with its variables, from any folder.
set -eu
cd "$(dirname "$0")/.."
exec make deploy "$@"
