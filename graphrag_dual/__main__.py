"""``python -m graphrag_dual``."""

from graphrag_dual.cli import main

main()
