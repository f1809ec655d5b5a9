"""Questions of a person about their own documents."""
