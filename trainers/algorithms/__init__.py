"""The mathematics of learning: from rewards to advantages (numpy), from advantages to a loss (torch)."""
