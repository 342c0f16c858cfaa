"""Operations on records, relations and reports."""
