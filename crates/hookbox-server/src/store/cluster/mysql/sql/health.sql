UPDATE door SET revision = revision WHERE id = 0
