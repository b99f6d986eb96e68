"""BabyAI: missions in a grid of rooms, on minigrid's levels."""
