SELECT 'message_other', EXISTS (SELECT 1 FROM hookbox.message_other)
UNION ALL SELECT 'settled_other', EXISTS (SELECT 1 FROM hookbox.settled_other)
UNION ALL SELECT 'attempt_other', EXISTS (SELECT 1 FROM hookbox.attempt_other)
