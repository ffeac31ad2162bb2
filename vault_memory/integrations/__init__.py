"""What agents need to meet this program: their settings files edited, and put back."""
