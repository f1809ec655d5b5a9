"""db3's labels for tuning the answering model (section 2.4, steps 1 to 3.2.2)."""
