from detector.models.submission import Submission
from detector.models.verdict import Verdict

__all__ = ["Submission", "Verdict"]
