"""What results say and what they do not: measures, comparisons, ranks, planning. Functions over plain data."""
