#!/bin/sh
# Print a device map of the nodes of the cluster at hand: `fourleaf map generate`, with its options.
set -eu
top="$(cd "$(dirname "$0")/.." && pwd)"
[ $# -gt 0 ] || set -- --devices 2 -o annotation
exec "${FOURLEAF:-$top/.venv/bin/fourleaf}" map generate "$@"
