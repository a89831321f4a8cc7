"""Two runs held against each other: search, alignment, statuses."""
