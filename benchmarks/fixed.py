"""What every side sends and answers: nothing is played, so that only the way there and back is measured."""

ACTION = "a" * 256
REPLY = "r" * 1024
