INSERT INTO upkeep (job, node, until) VALUES (?1, ?2, ?3)
ON DUPLICATE KEY UPDATE
    node = IF(node = VALUES(node) OR until <= ?4, VALUES(node), node),
    until = IF(node = VALUES(node), VALUES(until), until)
