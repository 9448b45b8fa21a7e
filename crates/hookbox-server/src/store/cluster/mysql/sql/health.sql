UPDATE message, receipt, delivery
SET message.quarantined = message.quarantined, receipt.seen = receipt.seen, delivery.fence = delivery.fence
WHERE false
