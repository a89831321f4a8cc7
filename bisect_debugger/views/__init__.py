"""Views: what a person is shown, as frozen data and plain text, made without a terminal."""
