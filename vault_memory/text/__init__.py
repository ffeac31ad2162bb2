"""What everything may know of words, languages and dates; pure."""
