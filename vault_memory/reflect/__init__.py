"""Generates pages from the facts in the index. Generated pages are never a source; only generated blocks are written.

index ─ fact_set ─> Fact ─ opinions ─> HeldOpinion             (confidence weighs the evidence)
                      │                   │
                 choose_facts             │                    (the most informative facts within a token budget)
                      │                   │
    fact_lines, entity_page, summaries, opinion_page ─> Draft  (page_drafts decides which pages to draft)
                                                          │    (model_paragraph adds an opening paragraph)
page ─ generated_blocks ─> Block ─┐                       │
what was last written ────────────┴── merge, edit_plan ───┴─> Edit
                                                               │
run_plan collects the Edits, along with the user's answers to earlier pages (user_feedback, core_proposals);
job writes them so that they can be undone, and returns a ReflectReport.
"""
