"""What the server answers, a class per domain. A method takes the fields of its request body and returns the result."""
