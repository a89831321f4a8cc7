"""From aligned differences to origins: dependency rules, contamination, the decision tree."""
