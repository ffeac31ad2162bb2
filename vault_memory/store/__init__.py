"""The SQLite index, and the only place that speaks SQL: schema, rows, candidates, journal, usage."""
