"""Train the model of question kinds.  See scripts/train_intent."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from graphrag_dual.cli.output import show_error
from graphrag_dual.errors import GraphRagDualError
from graphrag_dual.evaluation.intent_training import as_weights, read_training, train

_ROOT = Path(__file__).resolve().parent.parent
_WEIGHTS = _ROOT / "graphrag_dual" / "search" / "planning" / "kind_weights.json"


def main() -> int:
    """Train, and write the weights with a cue a line."""
    try:
        questions = read_training(_ROOT.parent / "shared" / "data")
    except GraphRagDualError as error:
        show_error(error, as_json=False)
        return error.exit_code
    weights = as_weights(train(questions))
    lines = (f"  {json.dumps(cue, ensure_ascii=False)}: {list(row)}" for cue, row in weights.items())
    _WEIGHTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(questions)} questions, {len(weights)} cues -> {_WEIGHTS.relative_to(_ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
