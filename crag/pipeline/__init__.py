"""The run of a batch: cases with their plans, the stages, faults and hangs that cost one answer."""
