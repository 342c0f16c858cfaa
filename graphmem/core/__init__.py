"""What every feature uses: records, search, what tools print, the vocabulary, evidence."""
