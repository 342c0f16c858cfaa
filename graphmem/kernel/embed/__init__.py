"""Text to vectors: the light encoder, sentence-transformers, the cache, fingerprints."""
