"""Generates pages from the facts in the index. Its own pages are never a source, and it writes only its own blocks.

index ─ fact_set ─> Fact ─ beliefs ─> HeldOpinion              (with its confidence)
                      │                   │
                 choose_facts             │                    the most informative facts for the tokens
                      │                   │
    fact_lines, entity_page, summaries, opinion_page ─> Draft  (page_drafts decides which pages to draft)
                                                          │    (model_paragraph adds an opening paragraph)
page ─ generated_blocks ─> Block ─┐                       │
what was last written ────────────┴── merge, edit_plan ───┴─> Edit
                                                               │
run_plan collects the Edits, along with people's answers to earlier pages (user_feedback, core_proposals);
job writes them so that they can be undone, and returns a ReflectReport.
"""
