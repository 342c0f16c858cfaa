"""Search over the catalog: lexical and semantic evidence, and how they are fused; all of it derived."""
