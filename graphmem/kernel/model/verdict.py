"""What a comparison of two failures says."""

from typing import Literal

Verdict = Literal["same", "same_rule", "other", "unclear"]
