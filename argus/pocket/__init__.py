"""The embedded suite: scenes, the datasets written from them, the training recipe and its checkpoints."""
