"""`make train-demo`: a model of 0.8 million parameters learns mazes on two CPU cores, and the gain is tested."""
