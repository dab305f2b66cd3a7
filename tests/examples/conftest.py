"""The path of the case studies' modules."""

from __future__ import annotations

import sys
from pathlib import Path

CASE_STUDIES = Path(__file__).resolve().parents[2] / "examples" / "case_studies"
if str(CASE_STUDIES) not in sys.path:
    sys.path.insert(0, str(CASE_STUDIES))
