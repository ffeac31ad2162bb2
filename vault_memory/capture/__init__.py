"""Proposes facts from what the user said in sessions and wrote in daily logs.

How a remark becomes a fact:
1. `sources` reads what has not been captured yet; `own_words` reduces it to what the sender typed themselves.
2. `statements` (sessions) and `log_statements` find lasting statements, using `remember_requests`, `exclusions`,
   `retractions` and the `text/word_classes` of five languages; `model_engine` asks a configured model.
3. `judge` scores each statement (`scores`) and compares it with the notes.
4. `job` writes or proposes it (`captured_proposals`), carries out the user's answers, and keeps the `work_log`.
"""
