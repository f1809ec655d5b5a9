"""What a submission carries: weights, adapters, and the agent under the name of the 2024 kit (`user_config`)."""
