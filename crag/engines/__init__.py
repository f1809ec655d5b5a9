"""What runs models: language models and encoders, each behind one interface."""
