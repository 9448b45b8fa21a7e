DELETE FROM hookbox.delivery WHERE message_id >= $1::uuid AND message_id < $2::uuid
