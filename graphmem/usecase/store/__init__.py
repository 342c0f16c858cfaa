"""Operations on the whole store."""
