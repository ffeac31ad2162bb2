"""How things are: the state of vault and index, the findings about notes, the figures."""
