UPDATE endpoint SET disabled = ?2 WHERE id = ?1
