"""HTML to text within limits, in killable processes."""
