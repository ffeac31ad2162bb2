"""Proposes facts from what was said in sessions and written in logs.

How a remark becomes a fact:
1. `sources` reads what nobody captured yet; `own_words` leaves what somebody typed themselves.
2. `statements` (sessions) and `log_statements` find what lasts, by `requests`, `exclusions`, `retractions` and the
   `text/word_classes` of five languages; `model_engine` asks a configured model.
3. `judge` weighs it (`scores`), and compares it with what the notes say.
4. `job` writes or proposes it (`captured_proposals`), does what was answered there, and keeps the `work_log`.
"""
