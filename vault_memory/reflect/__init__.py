"""Turns facts into pages. It reads the index, never its own pages, and writes only its own blocks.

index ─ fact_set ─> Fact ─ beliefs ─> HeldOpinion              (and how sure they make)
                      │                   │
                 choose_facts             │                    the facts that tell most in few tokens
                      │                   │
    fact_lines, entity_page, summaries, opinion_page ─> Draft  (which pages there are: page_drafts)
                                                          │    (a paragraph at its head: model_paragraph)
page ─ generated_blocks ─> Block ─┐                       │
what was last written ────────────┴── merge, edit_plan ───┴─> Edit
                                                               │
run_plan gathers the Edits, with what people answered to earlier pages (user_feedback, core_proposals);
job writes them, so that they can be undone, and returns a ReflectReport.
"""
