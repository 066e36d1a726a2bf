# Sourced by the other scripts: a virtual environment in .venv with exactly the locked packages.
# shellcheck shell=bash

say() { printf '%s\n' "$*" >&2; }

# The newest Python on PATH that is supported, or the one that PYTHON names.
find_python() {
  local candidate
  for candidate in "${PYTHON:-python3}" python3 python3.13 python3.12 python3.11 python; do
    if command -v "$candidate" > /dev/null &&
      "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
      command -v "$candidate"
      return
    fi
  done
  say "error: Python 3.11 or newer with venv is needed -> install it, or set PYTHON=/path/to/python3"
  return 69
}

# ensure_environment LOCKFILE: install what the lock file names, unless it is there already.
ensure_environment() {
  local lock=$1 stamp python
  stamp=".venv/.installed-$(cat "$lock" pyproject.toml | cksum | cut -d' ' -f1)"
  if [[ -e $stamp ]] && .venv/bin/python -c 'import graphrag_dual' 2> /dev/null; then return; fi
  if ! .venv/bin/python -m pip --version > /dev/null 2>&1; then  # none, half made, or moved from elsewhere
    python=$(find_python)
    rm -rf .venv
    say "creating .venv with $python"
    "$python" -m venv .venv
  fi
  # A development environment holds all that the quickstart needs; it is not thrown away for it.
  if [[ $lock == requirements.lock && -e .venv/.development ]]; then lock=requirements-dev.lock; fi
  say "installing packages from $lock"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r "$lock"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
  if [[ $lock == requirements-dev.lock ]]; then touch .venv/.development; fi
  touch "$stamp"
}
