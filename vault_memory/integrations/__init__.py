"""What agents need to meet this program: their hooks answered, their settings files edited."""
