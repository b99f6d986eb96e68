"""The seeded encyclopedia: a typed graph of facts about invented entities, its passages and its questions."""
