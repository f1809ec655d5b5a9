"""Training of everything small that the agent ships: classifiers of questions, the calibration of its answers."""
