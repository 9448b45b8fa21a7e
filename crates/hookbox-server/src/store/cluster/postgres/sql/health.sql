WITH message AS (UPDATE hookbox.message SET quarantined = quarantined WHERE false),
receipt AS (UPDATE hookbox.receipt SET seen = seen WHERE false)
UPDATE hookbox.delivery SET fence = fence WHERE false
