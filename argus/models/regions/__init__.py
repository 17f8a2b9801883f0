"""Where a model that reads regions instead of pixels gets them from."""
