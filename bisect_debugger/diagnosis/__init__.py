"""The frozen result and how it is built from recorded runs."""

from bisect_debugger.diagnosis.build import diagnose, diagnose_pair
from bisect_debugger.diagnosis.model import Diagnosis, Origin, Verdict

__all__ = ["Diagnosis", "Origin", "Verdict", "diagnose", "diagnose_pair"]
