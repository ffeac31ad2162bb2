"""Turns facts into pages. It reads the index, never its own pages, and writes only its own blocks.

How a fact becomes a line of a page:
1. `fact_set` reads it out of the index, and `page_drafts` finds the pages that it belongs on.
2. `choose_facts` chooses it; `entity_page`, `summaries` or `opinion_page` (over `beliefs`) puts it into a draft, as a
   line that `fact_lines` writes.
3. `edit_plan` compares the draft with the block on the page (`generated_blocks`); `merge` keeps what a person made of
   it, by what was written there last (`ledger`).
4. `run_plan` gathers the edits of a run, with what people answered to earlier pages (`user_feedback`, `core_proposals`)
   and what a model adds (`model_paragraph`); `job` writes them, so that they can be undone.
"""
