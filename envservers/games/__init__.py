"""Text games: TextCraft, Wordle, Maze."""
