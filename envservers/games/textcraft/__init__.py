"""TextCraft: crafting worlds in Minecraft's vocabulary, played by text."""
