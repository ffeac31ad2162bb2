"""Proposes facts from what the user said in sessions and wrote in daily logs.

How a remark becomes a fact:
1. `sources` reads what has not been captured yet; `text.own_words` reduces it to the sentences its sender typed.
2. `statements` has each sentence judged (`salience`) and relates it to its neighbours; `model_engine` asks a model.
3. `judge` compares each statement with the notes, and with the classic scores where the settings ask for it.
4. `job` writes or proposes it (`proposals_page`), carries out the user's answers, and keeps the `work_log`.
"""
